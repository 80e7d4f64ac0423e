package scaling

import (
	"slices"

	"github.com/swcaffe/swcaffe/topology"
)

// Job is the training that every node does.
type Job struct {
	// Compute returns the time of an iteration over a batch on one node.
	Compute func(batch int) (Compute, error)
	// ImageBytes is the number of bytes that a node reads for an image.
	ImageBytes float64
}

// Compute is the time of one node's iteration without communication.
type Compute struct {
	// Low and High are factors: the true time probably lies between Low and High times this one. 0: not known.
	Low, High float64
	Forward   topology.VTime
	Update    topology.VTime
	// Layers are the parts of the backward pass, in the order in which they run.
	Layers []Layer
}

// Layer is one layer's part of the backward pass. At its end, this many bytes of gradients are complete.
type Layer struct {
	Backward      topology.VTime
	GradientBytes int64
}

// times returns the computation slowed down by a factor.
func (c Compute) times(by float64) Compute {
	t := topology.VTime(by)
	c.Forward, c.Update, c.Layers = t*c.Forward, t*c.Update, slices.Clone(c.Layers)
	for i := range c.Layers {
		c.Layers[i].Backward *= t
	}
	return c
}

// Backward returns the time of the whole backward pass.
func (c Compute) Backward() topology.VTime {
	var t topology.VTime
	for _, l := range c.Layers {
		t += l.Backward
	}
	return t
}

// Total returns the time of the iteration.
func (c Compute) Total() topology.VTime { return c.Forward + c.Backward() + c.Update }

// WeightBytes returns the size of all gradients, which is that of all weights.
func (c Compute) WeightBytes() int64 {
	var n int64
	for _, l := range c.Layers {
		n += l.GradientBytes
	}
	return n
}

package scaling

import "github.com/swcaffe/swcaffe/topology"

// Job is what every node trains.
type Job struct {
	// Compute returns what an iteration over a batch takes on one node.
	Compute func(batch int) (Compute, error)
	// ImageBytes is what a node reads for an image.
	ImageBytes float64
}

// Compute is one node's iteration without the others.
type Compute struct {
	Forward topology.VTime
	Update  topology.VTime
	// Layers are the parts of the backward pass, in the order in which it runs.
	Layers []Layer
}

// Layer is one layer's part of the backward pass: when it is over, the gradients of that many bytes are complete.
type Layer struct {
	Backward      topology.VTime
	GradientBytes int64
}

// Backward is the time of the whole backward pass.
func (c Compute) Backward() topology.VTime {
	var t topology.VTime
	for _, l := range c.Layers {
		t += l.Backward
	}
	return t
}

// Total is the time of the iteration.
func (c Compute) Total() topology.VTime { return c.Forward + c.Backward() + c.Update }

// WeightBytes is the size of all gradients, which is that of all weights.
func (c Compute) WeightBytes() int64 {
	var n int64
	for _, l := range c.Layers {
		n += l.GradientBytes
	}
	return n
}

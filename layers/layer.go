// Package layers defines what a layer is: the interface of every Caffe layer type, and the registry that finds a type by its name. The
// layers themselves are in sub-packages, grouped as in Caffe's documentation: data, vision, detect, recurrent, common, norm, neuron, utility and
// loss. Package part has building blocks that several of them use, package all imports them all, and package layertest tests every type.
//
// The central type is Layer. It sets up, reshapes, and runs forward and backward. Every layer has two paths. The MPE path is a plain
// single-threaded reference. The CPE path runs tiled kernels (package cpe/kernel) on a machine. A layer is built with a Device, which
// selects the path and supplies the machine and the random generator; there is no process-wide mode. A layer type embeds Base, registers
// itself in its own file, and knows nothing of nets or solvers. Its number of bottoms and tops, and whether it may run in place or is a
// loss, are data in its registry entry (Type).
//
// A net plans its run (package net/schedule). For each layer the plan reads one value, Traits: the abilities that allow the plan to save
// memory and time. It then passes its decision to the layer in one call, Arrange with an Arranged. Base implements both for layers without
// such abilities. A Fusion replaces two layers by one that needs fewer passes over memory; fusions are registered by name.
//
// A few abilities are separate interfaces, because other callers use them. The net calls Joiner and PartedBackward in every pass. Whoever
// builds a net or counts its work calls GradSelector. Solvers and commands call the others, in layer.go and share.go.
package layers

import (
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Layer is one node of a net. Bottoms are its inputs, tops its outputs.
//
// SetUp runs once, after the registry has checked the number of blobs. It reads the parameters and creates the weights. Reshape runs before
// the first Forward and whenever bottoms may have changed shape. It shapes the tops and prepares kernels, and allocates nothing if no shape
// changed. Forward computes the tops' data from the bottoms'. Backward overwrites the diff of each bottom i with propagateDown[i], and adds
// to the diffs of the parameters. In a layer that runs in place, Backward must not read bottom data that Forward overwrote.
type Layer interface {
	SetUp(bottom, top []*blob.Blob) error
	Reshape(bottom, top []*blob.Blob) error
	Forward(bottom, top []*blob.Blob) error
	Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error
	Params() []*blob.Blob
}

// Strategist is implemented by convolution layers, which choose an algorithm for each direction on the CPE path.
type Strategist interface {
	// Strategy is the family of the algorithm of a direction.
	Strategy(d shape.Direction) shape.Strategy
	// RunnerUp is the best algorithm that was not chosen.
	RunnerUp(d shape.Direction) op.RunnerUp
	// Refuses returns why the algorithm of a name cannot compute a direction, nil if it can.
	Refuses(d shape.Direction, algorithm string) error
	// Computes reports whether an algorithm computes a direction in layers of this type, for some shapes.
	Computes(d shape.Direction, algorithm *conv.Algorithm) bool
}

// Algorithmic is implemented by layers whose CPE kernels choose among several algorithms. Algorithm returns the one used for a direction,
// or "" if the direction is not computed. joint means that Backward computes the gradients of the weights and of all bottoms; some kernels
// compute these together.
type Algorithmic interface {
	Algorithm(d shape.Direction, joint bool) shape.Algorithm
}

// Follower is a layer that can compute the layer before it as well, in a net for inference: a piece at a time of what it reads.
type Follower interface {
	// Follow returns a layer that computes both, which are arranged, or nil. Its Arrange ends that, and it then computes one after the other.
	Follow(before Layer) Layer
}

// Explainer is implemented by Algorithmic layers that can say why. Explain weighs all algorithms for each operation that computes a direction,
// in the order in which they run. It is empty if the direction is not computed.
type Explainer interface {
	Explain(d shape.Direction) ([]*op.Explanation, error)
}

// RunningStatistics is implemented by layers with weights that are running statistics of the batches. Forward updates them, the solver does
// not. They are sums, so they may be averaged over workers.
type RunningStatistics interface {
	Statistics() []*blob.Blob
}

// WeightPreparer is implemented by layers whose Forward, in phase TRAIN, first changes their weights. Where core groups share the weights, it is done
// once for all of them, by PrepareWeights before their passes, and Forward leaves the weights alone.
type WeightPreparer interface {
	PrepareWeights() error
}

// GradSelector is implemented by layers with parameters (through Base). The net tells the layer which parameter gradients it needs, so that
// the layer can skip the others. The choice depends on lr_mult, not on a plan.
type GradSelector interface {
	SetParamGrad(i int, need bool)
}

// Closer is implemented by layers that hold files or goroutines.
type Closer interface {
	Close() error
}

// ItemNamer is implemented by layers that read items with names. ItemName returns that of item k of the last batch, from 0: the path of
// an image's file, or the key in a database without the number that convert_imageset puts before it; "" if there is none.
type ItemNamer interface{ ItemName(k int) string }

// DataWaiter is implemented by layers that read data ahead. DataWait returns how long Forward has waited for batches. ObserveData has a
// function called, by several goroutines, after every piece of the work ahead: "read", or "decode" of one of several workers. nil ends that.
// DataAhead returns the size of the memory for the batches ahead, in float32 values.
type DataWaiter interface {
	DataWait() time.Duration
	DataAhead() float64
	ObserveData(f func(work string, worker int, begun time.Time))
}

// Package layers is the contract of layers: what each type of Caffe's implements, and the registry that finds a type by its name. The layers
// themselves stand in rooms below, grouped as Caffe's documentation groups them: data, vision, recurrent, common, norm, neuron, utility and
// loss. Package part has what several of them are built from, package all imports all rooms, and layertest holds the tests of every type.
//
// The central type is Layer, which sets up, reshapes, and runs forward and backward, on two paths: the MPE path, a plain single-threaded
// reference, and the CPE path, tiled kernels (package cpe/kernel) on the device's machine. A layer is built with a Device, which says which
// path to take and gives the machine and the random generator; there is no process-wide mode. It registers itself in its own file, knows
// nothing of nets or solvers, and embeds Base. Arity, in-place ability and loss-ness are data in the registry entry (Type).
//
// A net that plans its run (package net/schedule) asks every layer for its Traits, one value that says what the layer can do beside its own
// work, and tells it what was decided by one call, Arrange with an Arranged. Base implements both for layers that promise nothing. Two layers
// that can be computed together in fewer passes over memory are a Fusion, which is registered by its name.
//
// A few abilities are interfaces of their own, since somebody else than the planner asks for them: Joiner and PartedBackward the runner of a
// net, at every pass; GradSelector whoever builds a net or counts its work; the others, in layer.go and share.go, solvers and commands.
package layers

import (
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Layer is one node of a net. Bottoms are its inputs, tops its outputs.
//
// SetUp runs once, after the registry has checked the number of blobs: it reads the parameters and makes the
// weights. Reshape runs before the first Forward and whenever bottoms may have changed shape: it gives the tops
// their shapes and prepares kernels; it allocates nothing when no shape changed. Forward computes the tops' data
// from the bottoms'. Backward computes the diffs of those bottoms i with propagateDown[i], overwriting them, and adds
// to the diffs of the parameters; a layer that may run in place must not read bottom data that its Forward
// overwrote.
type Layer interface {
	SetUp(bottom, top []*blob.Blob) error
	Reshape(bottom, top []*blob.Blob) error
	Forward(bottom, top []*blob.Blob) error
	Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error
	Params() []*blob.Blob
}

// Strategist is implemented by layers that choose between ways to compute: Strategy is the one taken for a direction on the
// CPE path, RunnerUp the one that was not.
type Strategist interface {
	Strategy(d shape.Direction) shape.Strategy
	RunnerUp(d shape.Direction) conv.RunnerUp
}

// Algorithmic is implemented by layers whose kernels compute a direction with one of several algorithms on the CPE path. Algorithm is the
// one that a direction is computed with, "" if it is not; joint says that Backward is asked for the gradients of weights and of all bottoms, which
// some kernels compute at once.
type Algorithmic interface {
	Algorithm(d shape.Direction, joint bool) shape.Algorithm
}

// RunningStatistics is implemented by layers some of whose weights are statistics of the batches, which Forward moves and the
// solver does not: sums that may be averaged over workers.
type RunningStatistics interface {
	Statistics() []*blob.Blob
}

// GradSelector is implemented by layers with parameters (through Base): the net says which parameters' gradients are wanted, so that the
// others need not be computed. That depends on lr_mult, not on a plan.
type GradSelector interface {
	SetParamGrad(i int, need bool)
}

// Closer is implemented by layers that hold files or goroutines.
type Closer interface {
	Close() error
}

// DataWaiter is implemented by layers that read data ahead: DataWait returns the time for which Forward had to wait
// because no batch was ready.
type DataWaiter interface {
	DataWait() time.Duration
}

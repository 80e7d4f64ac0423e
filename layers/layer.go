// Package layers holds every layer type of Caffe, each with two paths: the MPE path, a plain single-threaded
// reference, and the CPE path, tiled kernels (package cpe/kernel) on the device's machine.
//
// A layer lives in one file named after its type (big ones in several: conv.go, conv_mpe.go; functions of single values in few:
// neurons.go, power.go, sigmoid.go; Bias with Scale, Deconvolution with Convolution, Flatten and Reshape in views.go), registers
// itself there, and knows nothing of nets or solvers. It is built with a Device, which says which path to take and
// gives the machine and the random generator; there is no process-wide mode. Arity, in-place ability and loss-ness
// are data in the registry entry (Type), so that the interface stays at five methods.
//
// What only some layers can do is a small side interface, which the net, or the solver, asserts at the place of use. They stand together
// by what they are about:
//
//	memory.go     which values Backward reads, and what else a layer takes memory for
//	fuse.go       computing other layers as well
//	gradients.go  which gradients are wanted, and which may share a place
//	blocking.go   images in blocks of channels
//	share.go      streams of items, and workers' shares of them
//	layer.go      the rest: strategies, statistics, closing; data_batch.go has DataWaiter
package layers

import (
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

// Closer is implemented by layers that hold files or goroutines.
type Closer interface {
	Close() error
}

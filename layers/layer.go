// Package layers holds every layer type of Caffe, each with two paths: the MPE path, a plain single-threaded
// reference, and the CPE path, tiled kernels (package cpe/kernel) on the device's machine.
//
// A layer lives in one file named after its type (big ones in several: conv.go, conv_mpe.go; functions of single values in few:
// neurons.go, power.go, sigmoid.go; Bias with Scale, Deconvolution with Convolution, Flatten and Reshape in views.go), registers
// itself there, and knows nothing of nets or solvers. It is built with a Device, which says which path to take and
// gives the machine and the random generator; there is no process-wide mode. Arity, in-place ability and loss-ness
// are data in the registry entry (Type), so that the interface stays at five methods. What only some layers can do
// is a small side interface (Positioner, Sharer, ...) that the net asserts at the place of use.
package layers

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
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

// GradSelector is implemented by layers with parameters (through Base): the net says which parameter gradients the
// solver will use, so that the others need not be computed.
type GradSelector interface {
	SetParamGrad(i int, need bool)
}

// BackwardReader is implemented by layers whose Backward does without the values of bottoms, or of tops, as their parameters
// stand. It is taken to read those of both where the layer does not say.
type BackwardReader interface {
	BackwardReads() (bottoms, tops bool)
}

// BottomReader is implemented by layers whose Backward reads the values of some bottoms and not of others, where BackwardReads says
// that it reads them.
type BottomReader interface {
	BackwardReadsBottom(i int) bool
}

// TopFreer is implemented by layers whose Backward may read the top's values, but can do with those of another blob that is the bottom.
// FreeTop says that a layer behind overwrites the top's.
type TopFreer interface{ FreeTop() }

// Rememberer is implemented by layers whose Forward leaves values for their Backward in blobs of their own, which have their shapes
// after Reshape. Forward writes them whole.
type Rememberer interface {
	Remembers() []*blob.Blob
}

// GradTracer is implemented by layers whose Forward writes the gradient of bottom i: what it leaves there stays until Backward, of this
// layer or of the one below, if it has none.
type GradTracer interface {
	TracesGrad(i int) bool
}

// PartedBackward is implemented by layers whose Backward may be BackwardParams and then BackwardBottoms: the gradients of the parameters,
// and those of the bottoms, for which the bottoms' values are not read any more. InParts reports whether that is better, at the shapes of
// the last Reshape, than Backward, which takes less time then.
type PartedBackward interface {
	InParts() bool
	BackwardParams(top, bottom []*blob.Blob) error
	BackwardBottoms(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error
}

// Scratcher is implemented by layers whose kernels take scratch that all core groups see (cpe.Machine.Common): Scratch returns how
// many values Forward takes at most, as the layer stands after Reshape, and Backward: where it has parts, each of them, otherwise as bottoms.
type Scratcher interface {
	Scratch() (forward, params, bottoms int)
}

// Fuser is implemented by layers that can compute the layer that reads their only top as well, in fewer passes over memory. Fuse
// returns a layer that is both, from the bottoms of this one to the tops of next, nil if there is none for the two as they
// are. It may be told by Reshape to make tops of shapes that the two have seen, and others; what it does not write is what
// stands between them. Its results are those of the two, up to rounding where it says so. The two keep their weights.
type Fuser interface {
	Fuse(next Layer) Layer
}

// ParamsTrainer is implemented by layers that Fuse has made of which Backward may compute the gradients of parameters alone: where those of
// bottoms are wanted, the two then stay apart.
type ParamsTrainer interface {
	GradsOfParamsAlone() bool
}

// Rectifier is implemented by layers whose Forward can do as well what a ReLU layer's does that runs in place behind them.
type Rectifier interface {
	// TakeReLU says whose Forward is done from now on, if that can be: what it returns takes it back; nil if it cannot be.
	TakeReLU(relu Layer) (back func())
}

// GradRectifier is implemented by layers whose Backward can do as well what a ReLU layer's does that runs in place before them. The
// values that it reads for that are there, since the ReLU layer is taken to read them after it.
type GradRectifier interface {
	// TakeReLUGrad says whose Backward is done from now on, that of bottom i: as TakeReLU.
	TakeReLUGrad(i int, relu Layer) (back func())
}

// GradAdder is implemented by layers that can add the gradient of their bottoms to what is there, instead of overwriting it, as they
// stand after Reshape.
type GradAdder interface {
	CanAddGrad() bool
	AddGrad(on bool)
}

// GradPasser is implemented by layers that can give some bottoms one and the same gradient: if these bottoms' diffs share their storage
// with the top's, Backward writes it there.
type GradPasser interface {
	PassesGrad(bottom int) bool
}

// GradReplacer is implemented by layers that can write their bottom's gradient where the top's stands, which they read before: both are
// then in caches, and the place of one does.
type GradReplacer interface {
	ReplacesGrad() bool
}

// GradSummer is implemented by layers whose bottom's gradient is the sum of the tops': if the tops' diffs share their storage with the
// bottom's, the readers of the tops have added it up there, and Backward does nothing.
type GradSummer interface {
	SumsGrads() bool
}

// Strategist is implemented by layers that choose between ways to compute: Strategy is the one taken for a direction on the
// CPE path, RunnerUp the one that was not.
type Strategist interface {
	Strategy(d kernel.Direction) kernel.Strategy
	RunnerUp(d kernel.Direction) kernel.RunnerUp
}

// Positioner is implemented by layers that read a stream of items. The position is the number of items that Forward
// has handed out; a snapshot stores it, and a resumed run continues behind it.
type Positioner interface {
	Position() uint64
	SetPosition(items uint64) error
}

// RunningStatistics is implemented by layers some of whose weights are statistics of the batches, which Forward moves and the
// solver does not: sums that may be averaged over workers.
type RunningStatistics interface {
	Statistics() []*blob.Blob
}

// Sharer is implemented by layers that hand out a worker's share of a stream: the part of every round that it is.
type Sharer interface {
	Window() Window
}

// Closer is implemented by layers that hold files, goroutines or kernels' scratch.
type Closer interface {
	Close() error
}

package layers

import "github.com/swcaffe/swcaffe/blob"

// What the plan of a net's memory asks of layers (net/lifetimes.go): which values Backward reads, what Forward leaves for it, and what kernels
// take besides. What is not said is taken to be read. A net stores other values wherever these are not needed, so that a layer that reads more
// than it says computes wrong gradients; layertest.CheckReads finds it.

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

// Layers that implement them; where a method did not fit, only memory would be lost, and nobody would see it.
var (
	_ TopFreer       = (*neuronLayer)(nil)
	_ GradTracer     = (*hingeLoss)(nil)
	_ PartedBackward = (*convolution)(nil)

	_ Scratcher = (*convolution)(nil)
	_ Scratcher = (*convPool)(nil)
	_ Scratcher = (*innerProduct)(nil)
	_ Scratcher = (*lrnPool)(nil)
	_ Scratcher = (*pooling)(nil)
)

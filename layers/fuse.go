package layers

import "github.com/swcaffe/swcaffe/blob"

// What a net asks of layers that can compute what other layers do as well (net/fuse.go, net/rectify.go).

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

// Finisher is implemented by layers whose Forward can do as well what that of the layer that reads their only top does, which gives its own the
// same place in memory: for nets that never go backward.
type Finisher interface {
	// TakeForward says whose Forward is done from now on, where it can be, and what that reads besides: as TakeReLU.
	TakeForward(next Layer, others []*blob.Blob) (back func())
}

// GradRectifier is implemented by layers whose Backward can do as well what a ReLU layer's does that runs in place before them. The
// values that it reads for that are there, since the ReLU layer is taken to read them after it.
type GradRectifier interface {
	// TakeReLUGrad says whose Backward is done from now on, that of bottom i: as TakeReLU.
	TakeReLUGrad(i int, relu Layer) (back func())
}

// Layers that implement them; where a method did not fit, only time would be lost, and nobody would see it.
var (
	_ Fuser = (*batchNorm)(nil)
	_ Fuser = (*convPool)(nil)
	_ Fuser = (*convolution)(nil)
	_ Fuser = (*eltwise)(nil)
	_ Fuser = (*lrnAcross)(nil)
	_ Fuser = (*lrnPool)(nil)
	_ Fuser = (*neuronLayer)(nil)
	_ Fuser = (*normChain)(nil)
	_ Fuser = (*normSum)(nil)
	_ Fuser = (*pooling)(nil)

	_ ParamsTrainer = (*convPool)(nil)

	_ Rectifier = (*convolution)(nil)

	_ Finisher = (*convolution)(nil)

	_ GradRectifier = (*concat)(nil)
	_ GradRectifier = (*convolution)(nil)
	_ GradRectifier = (*lrnAcross)(nil)
	_ GradRectifier = (*lrnPool)(nil)
)

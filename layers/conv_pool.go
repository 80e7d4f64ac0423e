package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
)

// convPool is a convolution of images of few channels, maximum pooling behind it and, if there is one, a ReLU layer between them or behind,
// computed together: what the convolution makes, and its gradient, exist a band at a time (kernel.ConvPool). Bits are those of the
// layers one by one. Bottoms get no gradient.
type convPool struct {
	Base
	conv *convolution
	pool *pooling // its mask is of use only without kernel

	kernel *kernel.ConvPool // nil if shapes have come since for which there is none: then the layers run one by one
	mask   *blob.Blob
	of     struct { // what the kernel was made for
		conv *kernel.Conv
		pool *kernel.Pool
	}
	between [1]*blob.Blob // has a shape, and values without kernel
}

// Fuse implements Fuser for maximum pooling, which may rectify.
func (l *convolution) Fuse(next Layer) Layer {
	pool, ok := next.(*pooling)
	if !ok || l.mpe() || l.transposed || pool.places || l.conv == nil || len(l.topShape) != 4 {
		return nil
	}
	both := &convPool{Base: Base{Param: l.Param, Device: l.Device}, conv: l, pool: pool}
	if both.prepare() != nil || both.kernel == nil {
		return nil
	}
	both.pool = &pooling{Base: pool.Base, window: pool.window, floor: pool.floor}
	both.between[0] = l.Device.NewBlob(l.topShape...)
	return both
}

// Fuse implements Fuser for a ReLU layer.
func (l *convPool) Fuse(next Layer) Layer {
	if both := l.pool.Fuse(next); both != nil {
		return &convPool{Base: l.Base, conv: l.conv, pool: both.(*pooling), between: l.between}
	}
	return nil
}

// GradsOfParamsAlone implements ParamsTrainer.
func (l *convPool) GradsOfParamsAlone() {}

func (l *convPool) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *convPool) Reshape(bottom, top []*blob.Blob) error {
	if err := l.conv.Reshape(bottom, l.between[:]); err != nil {
		return err
	}
	if err := l.pool.Reshape(l.between[:], top); err != nil {
		return err
	}
	if l.of.conv == l.conv.conv && l.of.pool == l.pool.pool {
		return nil
	}
	return l.prepare()
}

// prepare makes the kernel and the mask for the shapes and the layout of the two layers.
func (l *convPool) prepare() (err error) {
	l.of.conv, l.of.pool, l.kernel, l.mask = l.conv.conv, l.pool.pool, nil, nil
	if !l.conv.conv.Pools() {
		return nil
	}
	l.kernel, err = kernel.NewConvPool(l.Device.Machine, l.conv.shape, l.pool.shape)
	if l.kernel != nil {
		l.mask = l.Device.NewBlob(l.kernel.MaskWords())
	}
	return err
}

// Scratch implements Scratcher.
func (l *convPool) Scratch() (forward, params, bottoms int) {
	if l.kernel != nil {
		return l.kernel.Scratch(kernel.Forward), 0, l.kernel.Scratch(kernel.WeightGradient)
	}
	forward, params, _ = l.conv.Scratch()
	poolForward, _, poolBackward := l.pool.Scratch()
	return max(forward, poolForward), 0, max(params, poolBackward)
}

// Blocking implements Blocker.
func (l *convPool) Blocking() Blocking {
	return Blocking{Tops: l.pool.Blocking().Tops, Gains: l.kernel != nil && l.kernel.Blocks()}
}

// SetBlocked implements Blocker.
func (l *convPool) SetBlocked(bottoms, tops bool) error {
	if bottoms {
		return l.Blocking().check(bottoms, tops)
	}
	if err := l.pool.SetBlocked(false, tops); err != nil || l.of.pool == l.pool.pool {
		return err
	}
	return l.prepare()
}

// Turns implements Turner.
func (l *convPool) Turns() (times, values int) {
	if l.kernel != nil {
		return l.kernel.Turns()
	}
	times, values = l.conv.Turns()
	poolTimes, poolValues := l.pool.Turns()
	return times + poolTimes, values + poolValues
}

// Remembers implements Rememberer.
func (l *convPool) Remembers() []*blob.Blob {
	if l.kernel == nil {
		return l.pool.Remembers()
	}
	return []*blob.Blob{l.mask}
}

func (l *convPool) Forward(bottom, top []*blob.Blob) error {
	if l.kernel == nil {
		if err := l.conv.Forward(bottom, l.between[:]); err != nil {
			return err
		}
		return l.pool.Forward(l.between[:], top)
	}
	var bias []float32
	if l.conv.bias {
		bias = l.conv.params[1].Data()
	}
	return l.kernel.Forward(bottom[0].Data(), l.conv.params[0].Data(), bias, top[0].Data(), kernel.Indices(l.mask.Data()))
}

// BackwardReads implements BackwardReader.
func (l *convPool) BackwardReads() (bottoms, tops bool) {
	return l.conv.paramGrad(0) || l.conv.paramGrad(1), false
}

func (l *convPool) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[0] {
		return fmt.Errorf("the gradient of a bottom is asked for of layers that are computed together without it")
	}
	reads, _ := l.BackwardReads()
	switch {
	case !reads:
		return nil
	case l.kernel == nil:
		if err := l.pool.Backward(top, []bool{true}, l.between[:]); err != nil {
			return err
		}
		return l.conv.Backward(l.between[:], propagateDown, bottom)
	}
	var dw, db []float32
	add := false
	if l.conv.paramGrad(0) {
		dw, add = l.conv.params[0].Gradient()
	}
	if l.conv.paramGrad(1) {
		db = l.conv.params[1].Diff()
	}
	return l.kernel.WeightGrad(bottom[0].Data(), top[0].Diff(), kernel.Indices(l.mask.Data()), dw, db, add)
}

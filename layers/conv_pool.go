package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"

	"github.com/swcaffe/swcaffe/cpe/kernel/pool"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// convPool is a convolution, maximum pooling behind it and, if there is one, a ReLU layer between them or behind, computed together: what the
// convolution makes, and its gradient, exist a piece at a time (conv.Pooled). Bits are those of the layers one by one, but for gradients
// of parameters that add up in another order: those of takenWeights, and of biases whose weights are not trained.
type convPool struct {
	Base
	conv *convolution
	pool *pooling // its mask is of use only without kernel

	kernel *conv.Pooled // nil if shapes have come since for which there is none: then the layers run one by one
	mask   *blob.Blob
	of     struct { // what the kernel was made for
		conv *conv.Conv
		pool *pool.Kernel
	}
	between [1]*blob.Blob // has a shape, and values without kernel
	alone   bool          // gradients are those of parameters alone
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
	both.between[0], both.alone = l.Device.NewBlob(l.topShape...), !both.kernel.PassesGrads()
	return both
}

// Fuse implements Fuser for a ReLU layer.
func (l *convPool) Fuse(next Layer) Layer {
	if both := l.pool.Fuse(next); both != nil {
		return &convPool{Base: l.Base, conv: l.conv, pool: both.(*pooling), between: l.between, alone: l.alone}
	}
	return nil
}

// GradsOfParamsAlone implements ParamsTrainer.
func (l *convPool) GradsOfParamsAlone() bool { return l.alone }

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
	l.of.conv, l.of.pool, l.mask = l.conv.conv, l.pool.pool, nil
	l.kernel, err = l.conv.conv.Pooled(l.pool.shape)
	if l.kernel != nil {
		l.mask = l.Device.NewBlob(l.kernel.MaskWords())
	}
	return err
}

// Algorithm implements Algorithmic. Where shapes have come for which there is no common kernel it is the convolution's.
func (l *convPool) Algorithm(d shape.Direction, joint bool) shape.Algorithm {
	switch {
	case l.kernel == nil:
		return l.conv.Algorithm(d, joint)
	case d == shape.InputGradient && !l.kernel.PassesGrads():
		return ""
	case joint && d != shape.Forward:
		return l.kernel.GradsAlgorithm()
	}
	return l.kernel.Algorithm(d)
}

// Scratch implements Scratcher.
func (l *convPool) Scratch() (forward, params, bottoms int) {
	if l.kernel != nil {
		forward, bottoms = l.kernel.Scratch()
		return forward, 0, bottoms
	}
	forward, params, bottoms = l.conv.Scratch()
	poolForward, _, poolBackward := l.pool.Scratch()
	return max(forward, poolForward), 0, max(params, bottoms, poolBackward)
}

// Blocking implements Blocker.
func (l *convPool) Blocking() Blocking {
	b := Blocking{Tops: l.pool.Blocking().Tops}
	if l.kernel != nil {
		in, out := l.kernel.Blocks()
		b.Bottoms, b.Gains = in, in || out
	}
	return b
}

// SetBlocked implements Blocker.
func (l *convPool) SetBlocked(bottoms, tops bool) error {
	if l.conv.blocked[0] == bottoms && l.pool.shape.OutBlocks == tops {
		return nil
	}
	if err := l.Blocking().check(bottoms, tops); err != nil {
		return err
	}
	if err := l.conv.SetBlocked(bottoms, false); err != nil {
		return err
	}
	if err := l.pool.SetBlocked(false, tops); err != nil {
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
	return l.kernel.Forward(bottom[0].Data(), l.conv.params[0].Data(), bias, top[0].Data(), pool.Indices(l.mask.Data()))
}

// BackwardReads implements BackwardReader.
func (l *convPool) BackwardReads() (bottoms, tops bool) {
	return l.conv.ParamGrad(0) || l.conv.ParamGrad(1), false
}

func (l *convPool) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if l.alone && propagateDown[0] {
		return fmt.Errorf("the gradient of a bottom is asked for of layers that are computed together without it")
	}
	reads, _ := l.BackwardReads()
	switch {
	case !reads && !propagateDown[0]:
		return nil
	case l.kernel == nil:
		if err := l.pool.Backward(top, []bool{true}, l.between[:]); err != nil {
			return err
		}
		return l.conv.Backward(l.between[:], propagateDown, bottom)
	}
	g := conv.Arrays{X: bottom[0].Data(), W: l.conv.params[0].Data(), DY: top[0].Diff()}
	if l.conv.ParamGrad(0) {
		g.DW, g.Add = l.conv.params[0].Gradient()
	}
	if l.conv.ParamGrad(1) {
		g.DB = l.conv.params[1].Diff()
	}
	if propagateDown[0] {
		g.DX = bottom[0].Diff()
	}
	return l.kernel.Grads(&g, pool.Indices(l.mask.Data()))
}

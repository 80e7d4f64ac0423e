package layers

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/norm"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// lrnPool is local response normalisation across channels, maximum pooling behind it and, if there is one, a ReLU layer behind that, computed
// together: what is pooled, and its gradient, exist a band at a time (norm.Pooled).
type lrnPool struct {
	Base
	lrn  *lrnAcross
	pool *pooling // its mask is of use only without kernel

	kernel  *norm.Pooled // nil if shapes have come since for which there is none: then the layers run one by one
	mask    *blob.Blob
	of      pool.Shape    // what the kernel was made for
	between [1]*blob.Blob // has a shape, and values without kernel
}

// Fuse implements Fuser for maximum pooling, which may rectify.
func (l *lrnAcross) Fuse(next Layer) Layer {
	pool, ok := next.(*pooling)
	if !ok || l.mpe() || pool.places || pool.pool == nil {
		return nil
	}
	s := pool.shape
	both := &lrnPool{Base: Base{Param: l.Param, Device: l.Device}, lrn: l}
	both.pool = &pooling{Base: pool.Base, window: pool.window, floor: pool.floor}
	both.between[0] = l.Device.NewBlob(s.N, s.C, s.H, s.W)
	if both.prepare(s) != nil || both.kernel == nil {
		return nil
	}
	return both
}

// Fuse implements Fuser for a ReLU layer.
func (l *lrnPool) Fuse(next Layer) Layer {
	if both := l.pool.Fuse(next); both != nil {
		return &lrnPool{Base: l.Base, lrn: l.lrn, pool: both.(*pooling), between: l.between}
	}
	return nil
}

// TakeReLUGrad implements GradRectifier.
func (l *lrnPool) TakeReLUGrad(i int, before Layer) (back func()) {
	return l.lrn.TakeReLUGrad(i, before)
}

func (l *lrnPool) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *lrnPool) Reshape(bottom, top []*blob.Blob) error {
	if err := l.lrn.Reshape(bottom, l.between[:]); err != nil {
		return err
	}
	if err := l.pool.Reshape(l.between[:], top); err != nil {
		return err
	}
	if l.of == l.pool.shape {
		return nil
	}
	return l.prepare(l.pool.shape)
}

// prepare makes the kernel and the mask for the shape and the layout of what is pooled.
func (l *lrnPool) prepare(s pool.Shape) (err error) {
	l.of, l.mask = s, nil
	if l.kernel, err = norm.NewPooled(l.Device.Machine, l.lrn.near(), l.of); l.kernel != nil {
		l.mask = l.Device.NewBlob(l.kernel.MaskWords())
	}
	return err
}

// Scratch implements Scratcher.
func (l *lrnPool) Scratch() (forward, params, bottoms int) {
	if l.kernel == nil {
		return l.pool.Scratch()
	}
	forward, bottoms = l.kernel.Scratch()
	return forward, 0, bottoms
}

// Blocking implements Blocker.
func (l *lrnPool) Blocking() Blocking {
	return Blocking{Bottoms: l.kernel != nil, Tops: l.kernel != nil}
}

// SetBlocked implements Blocker.
func (l *lrnPool) SetBlocked(bottoms, tops bool) error {
	if err := l.Blocking().check(bottoms, tops); err != nil {
		return err
	}
	if err := l.lrn.SetBlocked(bottoms, bottoms); err != nil {
		return err
	}
	if err := l.pool.SetBlocked(bottoms, tops); err != nil || l.of == l.pool.shape {
		return err
	}
	return l.prepare(l.pool.shape)
}

// Turns implements Turner.
func (l *lrnPool) Turns() (times, values int) {
	if l.kernel == nil {
		return l.pool.Turns()
	}
	return l.kernel.Turns()
}

// Remembers implements Rememberer.
func (l *lrnPool) Remembers() []*blob.Blob {
	if l.kernel == nil {
		return l.pool.Remembers()
	}
	return []*blob.Blob{l.mask}
}

// Algorithm implements Algorithmic.
func (l *lrnPool) Algorithm(d shape.Direction, joint bool) shape.Algorithm {
	switch {
	case l.kernel == nil:
		return l.pool.Algorithm(d, joint)
	case d == shape.WeightGradient:
		return ""
	}
	return l.kernel.Algorithm()
}

func (l *lrnPool) Forward(bottom, top []*blob.Blob) error {
	if l.kernel == nil {
		if err := l.lrn.Forward(bottom, l.between[:]); err != nil {
			return err
		}
		return l.pool.Forward(l.between[:], top)
	}
	return l.kernel.Forward(bottom[0].Data(), top[0].Data(), pool.Indices(l.mask.Data()))
}

// BackwardReads implements BackwardReader.
func (l *lrnPool) BackwardReads() (bottoms, tops bool) { return true, false }

func (l *lrnPool) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	switch {
	case !propagateDown[0]:
		return nil
	case l.kernel == nil:
		if err := l.pool.Backward(top, propagateDown, l.between[:]); err != nil {
			return err
		}
		return l.lrn.Backward(l.between[:], propagateDown, bottom)
	}
	return l.kernel.Backward(bottom[0].Data(), top[0].Diff(), pool.Indices(l.mask.Data()), bottom[0].Diff(), l.lrn.relu != nil)
}

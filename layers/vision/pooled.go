package vision

import (
	"errors"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// pooled is maximum pooling fused with the layer before it, a Convolution or an LRN layer across channels. A ReLU layer between the two or
// after the pooling may be included. The blob between them and its gradient exist only in parts. Results equal those of the separate layers
// bit for bit, except some sums of gradients (see convPooled).
type pooled struct {
	layers.Base
	first poolable
	pool  *pooling // its mask is used only if kernel is nil

	kernel pooledKernel // nil if none exists for the present shapes; the two layers then run one after the other
	mask   *blob.Blob
	of     struct { // identifies the shapes and layouts the kernel was made for
		first any
		pool  *pool.Kernel
	}
	between    [1]*blob.Blob // between the two layers; holds values only if kernel is nil
	onlyParams bool          // bottom gradients are not computed
}

// poolable is a layer that can be fused with the pooling after it.
type poolable interface {
	layers.Layer
	layers.Planned
	// poolKernel returns the fused kernel, or nil if there is none for the shape.
	poolKernel(s pool.Shape) (pooledKernel, error)
	// madeFor returns a value that changes if and only if the layer's shape changes.
	madeFor() any
	// poolLayout returns the layout of the layer's top for a bottom of layout in.
	poolLayout(in layers.Layout) layers.Layout
	// arrangedIn reports whether bottoms have channels in blocks.
	arrangedIn() bool
	// poolsWithReLUGrad reports whether the fused kernel offers Joins.ReLUGrad.
	poolsWithReLUGrad() bool
	// trains reports whether Backward computes weight gradients.
	trains() bool
}

// pooledKernel computes a layer and the pooling after it.
type pooledKernel interface {
	MaskWords() int
	Scratch() (forward, backward int)
	Turns() (times, values int)
	// blocking returns the supported layouts of bottom and top. canPool means that the pooling layer can write channels in blocks.
	blocking(canPool bool) layers.Blocking
	// passesGrads reports whether the kernel computes bottom gradients.
	passesGrads() bool
	// algorithm returns the result of layers.Algorithmic.
	algorithm(d shape.Direction, joint bool) shape.Algorithm
	forward(x, y []float32, mask []int32) error
	backward(top, bottom *blob.Blob, mask []int32, propagate bool) error
}

// fusePooled combines a layer with the maximum pooling after it.
func fusePooled(base *layers.Base, first poolable, second layers.Layer) layers.Layer {
	behind, ok := second.(*pooling)
	if !ok || base.MPE() || behind.places || behind.pool == nil {
		return nil
	}
	both := &pooled{Base: layers.Base{Param: base.Param, Device: base.Device}, first: first, pool: behind}
	if both.prepare() != nil || both.kernel == nil {
		return nil
	}
	s := behind.shape
	both.pool = &pooling{Base: behind.Base, window: behind.window, floor: behind.floor}
	both.between[0], both.onlyParams = base.Device.NewBlob(s.N, s.C, s.H, s.W), !both.kernel.passesGrads()
	return both
}

// withReLU adds a ReLU layer after the pooling, under poolReLU's conditions. Reshape makes the kernel.
func (l *pooled) withReLU(relu layers.Layer) layers.Layer {
	rectified, ok := poolReLU(l.pool, relu).(*pooling)
	if !ok {
		return nil
	}
	all := *l
	all.pool = rectified
	return &all
}

func (l *pooled) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *pooled) Reshape(bottom, top []*blob.Blob) error {
	if err := l.first.Reshape(bottom, l.between[:]); err != nil {
		return err
	}
	if err := l.pool.Reshape(l.between[:], top); err != nil {
		return err
	}
	if l.of.first == l.first.madeFor() && l.of.pool == l.pool.pool {
		return nil
	}
	return l.prepare()
}

// prepare makes the kernel and the mask for the present shapes and layouts of the two layers.
func (l *pooled) prepare() (err error) {
	l.of.first, l.of.pool, l.mask = l.first.madeFor(), l.pool.pool, nil
	if l.kernel, err = l.first.poolKernel(l.pool.shape); l.kernel != nil {
		l.mask = l.Device.NewBlob(l.kernel.MaskWords())
	}
	return err
}

// Algorithm implements Algorithmic. Without a fused kernel it returns the first layer's algorithm, or the pooling's if the first layer has
// none.
func (l *pooled) Algorithm(d shape.Direction, joint bool) shape.Algorithm {
	if l.kernel != nil {
		return l.kernel.algorithm(d, joint)
	}
	if first, ok := l.first.(layers.Algorithmic); ok {
		return first.Algorithm(d, joint)
	}
	return l.pool.Algorithm(d, joint)
}

// Traits implements Planned.
func (l *pooled) Traits() layers.Traits {
	first, pooling := l.first.Traits(), l.pool.Traits()
	unread := first.Unread.Bottoms.Has(0) && !l.first.trains()
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(unread), Tops: true}, Joins: layers.Joins{ReLUGrad: l.first.poolsWithReLUGrad(), OnlyParams: l.onlyParams}}
	if l.kernel == nil {
		t.Layout.Tops = l.first.poolLayout(layers.Blocks(true)) == layers.Layout{} && pooling.Layout.Tops
		t.Keeps = pooling.Keeps
		t.Scratch.Forward = max(first.Scratch.Forward, pooling.Scratch.Forward)
		t.Scratch.Bottoms = max(first.Scratch.Params, first.Scratch.Bottoms, pooling.Scratch.Bottoms)
		t.Turns = layers.Turns{Times: first.Turns.Times + pooling.Turns.Times, Values: first.Turns.Values + pooling.Turns.Values}
		return t
	}
	t.Layout, t.Keeps = l.kernel.blocking(pooling.Layout.Tops), []*blob.Blob{l.mask}
	t.Scratch.Forward, t.Scratch.Bottoms = l.kernel.Scratch()
	t.Turns.Times, t.Turns.Values = l.kernel.Turns()
	return t
}

// Arrange implements Planned.
func (l *pooled) Arrange(a layers.Arranged) error {
	between, was, before := l.first.poolLayout(a.In), l.first.arrangedIn(), l.pool.pool
	if err := l.first.Arrange(layers.Arranged{In: a.In, Out: between, ReLUGrad: a.ReLUGrad, Inference: a.Inference}); err != nil {
		return err
	}
	if err := l.pool.Arrange(layers.Arranged{In: between, Out: a.Out}); err != nil {
		return err
	}
	if was == a.In.Blocks && before == l.pool.pool {
		return nil
	}
	return l.prepare()
}

func (l *pooled) Forward(bottom, top []*blob.Blob) error {
	if l.kernel != nil {
		return l.kernel.forward(bottom[0].Data(), top[0].Data(), pool.Indices(l.mask.Data()))
	}
	if err := l.first.Forward(bottom, l.between[:]); err != nil {
		return err
	}
	return l.pool.Forward(l.between[:], top)
}

func (l *pooled) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	switch {
	case l.onlyParams && propagateDown[0]:
		return errors.New("this fused layer computes parameter gradients only, but the gradient of bottom[0] is requested")
	case !l.first.trains() && !propagateDown[0]:
		return nil
	case l.kernel != nil:
		return l.kernel.backward(top[0], bottom[0], pool.Indices(l.mask.Data()), propagateDown[0])
	}
	if err := l.pool.Backward(top, []bool{true}, l.between[:]); err != nil {
		return err
	}
	return l.first.Backward(l.between[:], propagateDown, bottom)
}

package norm

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// normSum computes BatchNorm, Scale, an Eltwise sum with another bottom and an optional ReLU together. For bottoms x and s, y = relu(gamma
// * xn + beta + s), bit for bit as the separate layers. The output of Scale is never stored. Backward first computes g, the gradient of s:
// dy where y > 0, else the negative slope times dy. It then computes the gradients of Scale and BatchNorm from g. With channels in blocks
// Forward keeps the signs of y, one bit each, so that Backward need not read y.
type normSum struct {
	normChain
	terms     layers.Layer
	rectifies bool
	ratio     float32       // ReLU's negative slope
	signs     *blob.Blob    // signs of y (vnorm.Signs), which Backward reads instead of y if channels are in blocks
	bits      []uint16      // the contents of signs, or nil if Forward keeps none
	thin      shape.Thin    // the strides at which readers need y; ones or 0 mean all pixels
	strided   []int         // offsets in a block's plane of the pixels at multiples of these strides
	between   *blob.Blob    // the blob between Scale and the sum; its gradient is that of s
	pair      [2]*blob.Blob // the sum's bottoms: s and between
	first     [2]bool       // the propagateDown of the sum alone: the first of pair only
}

func init() {
	layers.RegisterFusion(layers.Fusion{Name: "norm-sum", Fuse: fuseNormSum})
	layers.RegisterFusion(layers.Fusion{Name: "norm-sum-relu", Fuse: fuseNormSumReLU})
}

// fuseNormSum combines a normChain with a sum of two bottoms without coefficients.
func fuseNormSum(first, second layers.Layer) layers.Layer {
	l, ok := first.(*normChain)
	if !ok || l.rectified || layers.TraitsOf(second).Is.Sum != 2 {
		return nil
	}
	return newNormSum(l, second)
}

func newNormSum(l *normChain, s layers.Layer) *normSum {
	n := &normSum{normChain: normChain{Base: l.Base, norm: l.norm, scale: l.scale}, terms: s, between: l.Device.NewBlob(), signs: l.Device.NewBlob(0)}
	n.sum, n.pair[1], n.first[0] = n, n.between, true
	return n
}

// fuseNormSumReLU combines a normSum with a ReLU layer whose gradient depends on the sign of y.
func fuseNormSumReLU(first, second layers.Layer) layers.Layer {
	l, ok := first.(*normSum)
	relu := layers.TraitsOf(second).Is.ReLU
	if !ok || relu == nil || !relu.BySign || l.rectifies {
		return nil
	}
	n := newNormSum(&l.normChain, l.terms)
	n.rectifies, n.ratio = true, relu.Slope
	return n
}

func (l *normSum) Reshape(bottom, top []*blob.Blob) error {
	if !part.SameShape(bottom[0], bottom[1]) {
		return fmt.Errorf("all bottoms must have the same shape: %s is added to %s", bottom[0].ShapeString(), bottom[1].ShapeString())
	}
	if err := l.normChain.Reshape(bottom[:1], top); err != nil {
		return err
	}
	l.between.ReshapeLike(bottom[1])
	l.signs.Reshape((bottom[1].Count()/shape.BlockLanes + 1) / 2)
	if h, w := bottom[1].Legacy(2), bottom[1].Legacy(3); h != l.thin.H || w != l.thin.W {
		l.thin.H, l.thin.W = h, w
		l.findStrided()
	}
	l.pair[0] = bottom[1]
	return l.terms.Reshape(l.pair[:], top)
}

// add adds the other bottom to normalised values.
func (l *normChain) add(t *stream.Tile, at, n int) {
	y := t.Out[0][at : at+n]
	vec.Add(y, y, t.In[l.gradient()][at:at+n])
	if l.sum.rectifies {
		vec.ReLU(y, y, l.sum.ratio)
	}
}

// masks reports whether Backward also computes g, the masked gradient of a rectified sum.
func (l *normChain) masks() bool { return l.sum != nil && l.sum.rectifies }

// mask returns dy, or for a rectified sum computes and returns g.
func (l *normChain) mask(t *stream.Tile, at, n int) []float32 {
	dy := t.In[l.gradient()][at : at+n]
	if !l.masks() {
		return dy
	}
	g, y := t.Out[len(t.Out)-1][at:at+n], t.In[len(t.In)-1][at:at+n]
	vec.ReLUGrad(g, dy, y, l.sum.ratio)
	return g
}

// masked returns dy, or for a rectified sum the g that mask has computed.
func (l *normChain) masked(t *stream.Tile, at, n int) []float32 {
	if len(t.Out) > 1 {
		return t.Out[1][at : at+n]
	}
	return t.In[l.gradient()][at : at+n]
}

// remembersSigns reports whether Forward keeps the signs of y for Backward.
func (l *normSum) remembersSigns() bool { return l.rectifies && l.blocked() }

// holdSigns fetches the signs before kernels run in parallel.
func (l *normSum) holdSigns() {
	if l.bits = nil; l.remembersSigns() {
		l.bits = vnorm.Signs(l.signs.Data())
	}
}

// signsAt returns the signs of a tile's pixels, starting at value at, or nil if none are kept.
func (l *normSum) signsAt(t *stream.Tile, at int) []uint16 {
	if l.bits == nil {
		return nil
	}
	return l.bits[(t.O0*t.OStride+t.M0*t.MStride+t.I0+at)/shape.BlockLanes:]
}

// withSum appends y to the inputs of Backward's kernels, unless the signs of y are kept.
func (l *normSum) withSum(ins [][]float32, y []float32) [][]float32 {
	if l.holdSigns(); l.bits != nil {
		return ins
	}
	return append(ins, y)
}

// Traits implements Planned. Backward reads x, and also y if there is a ReLU and no signs are kept. The gradient of s is the gradient of
// the sum.
func (l *normSum) Traits() layers.Traits {
	t := l.normChain.Traits()
	t.Unread = layers.Unread{Bottoms: layers.SomeBottoms(1), Tops: !l.rectifies || l.remembersSigns()}
	t.Grads = layers.Grads{Passes: layers.SomeBottoms(1)}
	t.Thin.Makes = l.makesThin()
	if l.remembersSigns() {
		t.Keeps = []*blob.Blob{l.signs}
	}
	return t
}

// Arrange implements Planned.
func (l *normSum) Arrange(a layers.Arranged) error {
	if err := l.normChain.Arrange(a); err != nil {
		return err
	}
	l.thin.StrideH, l.thin.StrideW = a.Out.Thin[0], a.Out.Thin[1]
	l.findStrided()
	return nil
}

func (l *normSum) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if l.rectifies {
		return l.gradients(bottom[0], top[0].Diff(), top[0].Data(), bottom[1].Diff(), propagateDown[0])
	}
	l.between.ShareDiff(bottom[1])
	if err := l.terms.Backward(top, l.first[:], l.pair[:]); err != nil {
		return err
	}
	return l.normChain.Backward(l.pair[1:], propagateDown[:1], bottom[:1])
}

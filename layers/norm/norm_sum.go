package norm

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// normSum is BatchNorm and Scale, the Eltwise layer that adds their result to another bottom, and the ReLU behind that, if there is one:
// of bottoms x and s, y = relu(gamma * xn + beta + s), with the values of the layers bit by bit. What BatchNorm and Scale make does
// not go to memory. Backward is that of the sum, which leaves g, dy where y > 0, as the gradient of s, and then theirs. In blocks of channels
// Forward leaves the signs of y for it, a bit each, so that it need not read y.
type normSum struct {
	normChain
	terms     layers.Layer
	rectifies bool
	ratio     float32       // ReLU's slope below zero
	signs     *blob.Blob    // those of y (vnorm.Signs), which Backward reads in the place of y where blobs lie in blocks
	bits      []uint16      // what is there, nil if nothing is kept
	thin      shape.Thin    // what is read of y, if its strides are not ones or 0
	met       []int         // where it stands in a plane of a block
	between   *blob.Blob    // for what BatchNorm and Scale make: a gradient that is that of s
	pair      [2]*blob.Blob // s and that
	first     [2]bool       // of these the first
}

func init() {
	layers.RegisterFusion(layers.Fusion{Name: "norm-sum", Fuse: fuseNormSum})
	layers.RegisterFusion(layers.Fusion{Name: "norm-sum-relu", Fuse: fuseNormSumReLU})
}

// fuseNormSum is for a sum of two without coefficients.
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

// fuseNormSumReLU is for a ReLU layer of which the sign of the result tells the gradient.
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
		l.findMet()
	}
	l.pair[0] = bottom[1]
	return l.terms.Reshape(l.pair[:], top)
}

// add adds the other bottom to values that have been normalised.
func (l *normChain) add(t *stream.Tile, at, n int) {
	y := t.Out[0][at : at+n]
	vec.Add(y, y, t.In[l.gradient()][at:at+n])
	if l.sum.rectifies {
		vec.ReLU(y, y, l.sum.ratio)
	}
}

// masks reports whether the gradient of a rectified sum is made on the way.
func (l *normChain) masks() bool { return l.sum != nil && l.sum.rectifies }

// mask returns values of dy, or those of g, which it makes.
func (l *normChain) mask(t *stream.Tile, at, n int) []float32 {
	dy := t.In[l.gradient()][at : at+n]
	if !l.masks() {
		return dy
	}
	g, y := t.Out[len(t.Out)-1][at:at+n], t.In[len(t.In)-1][at:at+n]
	vec.ReLUGrad(g, dy, y, l.sum.ratio)
	return g
}

// masked returns values of dy, or those of g, which have been made.
func (l *normChain) masked(t *stream.Tile, at, n int) []float32 {
	if len(t.Out) > 1 {
		return t.Out[1][at : at+n]
	}
	return t.In[l.gradient()][at : at+n]
}

// remembersSigns reports whether Forward leaves the signs of y for Backward.
func (l *normSum) remembersSigns() bool { return l.rectifies && l.blocked() }

// holdSigns looks up the signs, before kernels that run side by side do.
func (l *normSum) holdSigns() {
	if l.bits = nil; l.remembersSigns() {
		l.bits = vnorm.Signs(l.signs.Data())
	}
}

// signsAt returns the signs of a tile's pixels from value at on, nil if none are kept.
func (l *normSum) signsAt(t *stream.Tile, at int) []uint16 {
	if l.bits == nil {
		return nil
	}
	return l.bits[(t.O0*t.OStride+t.M0*t.MStride+t.I0+at)/shape.BlockLanes:]
}

// withSum appends y to what Backward's kernels read, unless they have its signs.
func (l *normSum) withSum(ins [][]float32, y []float32) [][]float32 {
	if l.holdSigns(); l.bits != nil {
		return ins
	}
	return append(ins, y)
}

// Traits implements Planned: Backward reads x, and the sign of y where there is a ReLU and Forward leaves no signs; s has the gradient of the
// sum.
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
	l.findMet()
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

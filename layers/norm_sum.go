package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// normSum is BatchNorm and Scale, the Eltwise layer that adds their result to another bottom, and the ReLU behind that, if there is one:
// of bottoms x and s, y = relu(gamma * xn + beta + s), with the values of the layers bit by bit. What BatchNorm and Scale make does
// not go to memory. Backward is that of the sum, which leaves g, dy where y > 0, as the gradient of s, and then theirs.
type normSum struct {
	normChain
	terms   *eltwise
	relu    *rectifiedSum // the sum's ReLU, or nil
	between *blob.Blob    // for what BatchNorm and Scale make: a gradient that is that of s
	pair    [2]*blob.Blob // s and that
	first   [2]bool       // of these the first
}

// sumPiece is how many values are normalised at once before others are added, while they are in L1.
const sumPiece = 1024

// fuseSum is Fuse for a sum of two.
func (l *normChain) fuseSum(s *eltwise) Layer {
	if l.rectified || len(s.coeff) != 2 || !s.plain() {
		return nil
	}
	return newNormSum(l, s, nil)
}

func newNormSum(l *normChain, s *eltwise, relu *rectifiedSum) *normSum {
	n := &normSum{normChain: normChain{Base: l.Base, norm: l.norm, scale: l.scale}, terms: s, relu: relu, between: l.Device.NewBlob()}
	n.sum, n.pair[1], n.first[0] = n, n.between, true
	return n
}

// Fuse implements Fuser for a ReLU layer.
func (l *normSum) Fuse(next Layer) Layer {
	r, ok := l.terms.Fuse(next).(*rectifiedSum)
	if !ok || l.relu != nil {
		return nil
	}
	return newNormSum(&l.normChain, l.terms, r)
}

func (l *normSum) Reshape(bottom, top []*blob.Blob) error {
	if !sameShape(bottom[0], bottom[1]) {
		return fmt.Errorf("all bottoms must have the same shape: %s is added to %s", bottom[0].ShapeString(), bottom[1].ShapeString())
	}
	if err := l.normChain.Reshape(bottom[:1], top); err != nil {
		return err
	}
	l.between.ReshapeLike(bottom[1])
	l.pair[0] = bottom[1]
	return l.adder().Reshape(l.pair[:], top)
}

// adder is the layer that adds up.
func (l *normSum) adder() Layer {
	if l.relu != nil {
		return l.relu
	}
	return l.terms
}

// add adds the other bottom to values that have been normalised.
func (l *normChain) add(t *kernel.Tile, at, n int) {
	y := t.Out[0][at : at+n]
	simd.Add(y, y, t.In[l.gradient()][at:at+n])
	if r := l.sum.relu; r != nil {
		simd.ReLU(y, y, r.slope)
	}
}

// BackwardReads implements BackwardReader: x, and the sign of y where there is a ReLU.
func (l *normSum) BackwardReads() (bottoms, tops bool) { return true, l.relu != nil }

// BackwardReadsBottom implements BottomReader.
func (l *normSum) BackwardReadsBottom(i int) bool { return i == 0 }

// PassesGrad implements GradPasser: s has the gradient of the sum.
func (l *normSum) PassesGrad(bottom int) bool { return bottom == 1 }

func (l *normSum) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	l.between.ShareDiff(bottom[1])
	if err := l.adder().Backward(top, l.first[:], l.pair[:]); err != nil {
		return err
	}
	return l.normChain.Backward(l.pair[1:], propagateDown[:1], bottom[:1])
}

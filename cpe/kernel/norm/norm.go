package norm

import (
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
)

// LRN is local response normalisation of blocks of channels: with n = Size and the window of n channels around c,
//
//	s(c) = K + Alpha/n * sum of x^2, y = x * s^-Beta
//	dx(c) = dy(c)*s(c)^-Beta - 2*Alpha*Beta/n * x(c) * sum over the window of dy*y/s
type LRN struct {
	Size           int
	Alpha, Beta, K float32
}

// Forward writes s and y of a block.
func (n *LRN) Forward(s, y []float32, x vnorm.NearChannels) {
	n.scales(s, x)
	vec.MulPow(y, x.X, s, -n.Beta)
}

func (n *LRN) scales(s []float32, x vnorm.NearChannels) {
	vnorm.NearSquares(s, x, n.Size, n.Alpha/float32(n.Size), n.K)
}

// Own writes s, the first term of dx and the ratio dy*y/s of a block.
func (n *LRN) Own(s, dx, ratio, dy []float32, x vnorm.NearChannels) {
	n.scales(s, x)
	vnorm.PowRatio(dx, ratio, dy, x.X, s, -n.Beta)
}

// Others adds the second term of a block's dx, whose neighbours' ratios are there. With relu dx becomes the gradient of the input of a
// ReLU layer whose result x is.
func (n *LRN) Others(dx, x []float32, ratio vnorm.NearChannels, relu bool) {
	vnorm.MulAddNear(dx, x, ratio, n.Size, -2*n.Alpha*n.Beta/float32(n.Size))
	if relu {
		vec.ReLUGrad(dx, dx, x, 0)
	}
}

// BlockRows are rows of values, each of a block of channels, and a row of zeros beyond the first and the last.
type BlockRows struct {
	Data, Zeros []float32
	Stride      int
	Count, Slot int // of blocks, and of the rows that are there: block m is row m%Slot
}

// Around returns block m and its neighbours.
func (r *BlockRows) Around(m int) vnorm.NearChannels {
	return vnorm.NearChannels{Below: r.Row(m - 1), X: r.Row(m), Above: r.Row(m + 1)}
}

// Row returns block m.
func (r *BlockRows) Row(m int) []float32 {
	if m < 0 || m >= r.Count {
		return r.Zeros
	}
	return r.Data[m%r.Slot*r.Stride:][:len(r.Zeros)]
}

// Package norm computes local response normalisation across channels (Krizhevsky et al. 2012) for images in blocks of channels.
//
// [LRN] normalises one block of channels and computes its gradient. [Pooled] normalises and pools the results by maximum, band by band, so
// that the results are never in memory.
package norm

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
)

// LRN normalises across channels. With n = Size and the window of n channels around channel c,
//
//	s(c) = K + Alpha/n * sum of x^2 over the window
//	y(c) = x(c) * s(c)^-Beta
//	dx(c) = dy(c)*s(c)^-Beta - 2*Alpha*Beta/n * x(c) * sum of dy*y/s over the window
type LRN struct {
	Size           int
	Alpha, Beta, K float32
}

// Forward writes s and y of a block of channels.
func (n *LRN) Forward(s, y []float32, x vnorm.NearChannels) {
	n.scales(s, x)
	vec.MulPow(y, x.X, s, -n.Beta)
}

func (n *LRN) scales(s []float32, x vnorm.NearChannels) {
	vnorm.NearSquares(s, x, n.Size, n.Alpha/float32(n.Size), n.K)
}

// Own writes the terms of a block's gradient that depend on this block alone: s, the first term of dx, and the ratio dy*y/s.
func (n *LRN) Own(s, dx, ratio, dy []float32, x vnorm.NearChannels) {
	n.scales(s, x)
	vnorm.PowRatio(dx, ratio, dy, x.X, s, -n.Beta)
}

// Others adds the second term of a block's dx, from the ratios of the block and its neighbours. With relu, x is the result of a ReLU layer, and
// dx becomes the gradient of that layer's input.
func (n *LRN) Others(dx, x []float32, ratio vnorm.NearChannels, relu bool) {
	vnorm.MulAddNear(dx, x, ratio, n.Size, -2*n.Alpha*n.Beta/float32(n.Size))
	if relu {
		vec.ReLUGrad(dx, dx, x, 0)
	}
}

// BlockRows are rows of values, one for each block of channels. Row m is in slot m%Slot. The rows before the first and after the last block are
// zeros.
type BlockRows struct {
	Data, Zeros []float32
	Stride      int
	Count, Slot int // numbers of blocks and of slots
}

// Around returns row m and its neighbours.
func (r *BlockRows) Around(m int) vnorm.NearChannels {
	return vnorm.NearChannels{Below: r.Row(m - 1), X: r.Row(m), Above: r.Row(m + 1)}
}

// Row returns row m, zeros beyond the ends.
func (r *BlockRows) Row(m int) []float32 {
	if m < 0 || m >= r.Count {
		return r.Zeros
	}
	return r.Data[m%r.Slot*r.Stride:][:len(r.Zeros)]
}

package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// skinnyRows is the most rows of the small operand of a skinny product.
const skinnyRows = 2

// skinny reports whether a product on the host has one matrix that is far larger than the others, and is best computed by going
// through that once as it lies in memory, unpacked: the weights of an inner product of few images, or their gradient.
func (s *Shape) skinny(spec *cpe.Spec) bool {
	if !spec.Native() {
		return false
	}
	if s.TransA {
		return !s.TransB && s.K > 0 && s.K <= skinnyRows
	}
	return s.M <= skinnyRows
}

// skinnyTile is the number of columns of C that a core adds to at a time, which stay in L1, and skinnyUnit what their number is a
// multiple of: a cache line.
const (
	skinnyTile = 4096
	skinnyUnit = 16
)

// claimed is about how many values of the large matrix a core takes on at most before it comes back for more.
const claimed = 1 << 18

// rowsClaimed is how many rows of so many values that is.
func rowsClaimed(values int) int { return max(1, claimed/max(1, values)) }

// runSkinny computes a core group's part of a skinny product: rows of C where A is transposed, else columns. Where these go with rows of the
// large matrix, cores take some as they get ready: memory does not serve all at the same pace. Sums run over K in one order.
func (g *Blocked) runSkinny(cg *cpe.CoreGroup) {
	s := &g.shape
	switch {
	case s.M == 0:
	case s.TransA:
		most := rowsClaimed(s.N)
		for lo, hi := cg.Claim(s.M, most); lo < hi; lo, hi = cg.Claim(s.M, most) {
			g.outerRows(lo, hi)
		}
	case s.TransB:
		most := rowsClaimed(s.K * vgemm.DotTile)
		for lo, hi := cg.Claim(tiling.Blocks(s.N, vgemm.DotTile), most); lo < hi; lo, hi = cg.Claim(tiling.Blocks(s.N, vgemm.DotTile), most) {
			g.dotRows(lo*vgemm.DotTile, min(s.N, hi*vgemm.DotTile))
		}
	default:
		lo, hi := tiling.Share(cg, s.N, skinnyUnit)
		for tile := tiling.Even(hi-lo, skinnyTile, skinnyUnit); lo < hi; lo += tile {
			g.mixRows(lo, min(hi, lo+tile))
		}
	}
}

// outerRows makes rows [lo, hi) of C of as many columns of A.
func (g *Blocked) outerRows(lo, hi int) {
	s, c := &g.shape, g.c[lo*g.shape.N:hi*g.shape.N]
	if g.bias != nil {
		for i := 0; i < len(c); i += s.N {
			copy(c[i:], g.bias[:s.N])
		}
	}
	vgemm.OuterRows(c, s.N, hi-lo, g.a[lo:], s.M, g.b, s.N, s.K, s.N, g.bias != nil || g.adds())
}

// mixRows makes columns [lo, hi) of C of those of B.
func (g *Blocked) mixRows(lo, hi int) {
	s := &g.shape
	for i := range s.M {
		switch c := g.c[i*s.N+lo : i*s.N+hi]; {
		case g.bias != nil:
			copy(c, g.bias[lo:])
		case !g.adds():
			clear(c)
		}
	}
	if s.K > 0 {
		vgemm.MixRows(g.c[lo:], s.N, g.a, s.K, s.M, g.b[lo:], s.N, s.K, hi-lo)
	}
}

// dotRows makes columns [lo, hi) of C from rows of the transposed B.
func (g *Blocked) dotRows(lo, hi int) {
	s := &g.shape
	var sums [skinnyRows * vgemm.DotTile]float32
	for ; lo < hi; lo += vgemm.DotTile {
		n := min(vgemm.DotTile, hi-lo)
		vgemm.DotRows(sums[:], g.a, s.K, s.M, g.b[lo*s.K:], s.K, n, s.K)
		for i := range s.M {
			for j, sum := range sums[i*n : (i+1)*n] {
				switch at := i*s.N + lo + j; {
				case g.bias != nil:
					g.c[at] = sum + g.bias[lo+j]
				case g.adds():
					g.c[at] += sum
				default:
					g.c[at] = sum
				}
			}
		}
	}
}

package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// skinnyRows is the most rows of the small operand of a skinny product.
const skinnyRows = 2

// skinny reports whether a product on the host has one matrix that is far larger than the others, and is best computed by going
// through that once as it lies in memory, unpacked: the weights of an inner product of few images, or their gradient.
func (s *GemmShape) skinny(spec *cpe.Spec) bool {
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
func (g *Gemm) runSkinny(cg *cpe.CoreGroup) {
	s := &g.shape
	switch {
	case s.TransA:
		most := rowsClaimed(s.N)
		for lo, hi := cg.Claim(s.M, most); lo < hi; lo, hi = cg.Claim(s.M, most) {
			for i := lo; i < hi; i++ {
				g.addRows(g.c[i*s.N:(i+1)*s.N], g.a[i:], s.M, 0)
			}
		}
	case s.TransB:
		most := rowsClaimed(s.K)
		for lo, hi := cg.Claim(s.N, most); lo < hi; lo, hi = cg.Claim(s.N, most) {
			for j := lo; j < hi; j++ {
				g.dotRow(j, g.b[j*s.K:(j+1)*s.K])
			}
		}
	default:
		lo, hi := cg.Share(blocks(s.N, skinnyUnit))
		lo, hi = lo*skinnyUnit, min(s.N, hi*skinnyUnit)
		for tile := even(hi-lo, skinnyTile, skinnyUnit); lo < hi; lo += tile {
			last := min(hi, lo+tile)
			for i := range s.M {
				g.addRows(g.c[i*s.N+lo:i*s.N+last], g.a[i*s.K:], 1, lo)
			}
		}
	}
}

// addRows makes a piece of a row of C, from column first on: the sum of B's rows times coefficients that are step apart.
func (g *Gemm) addRows(c, coefficients []float32, step, first int) {
	s, k := &g.shape, 0
	switch {
	case g.bias != nil:
		copy(c, g.bias[first:])
	case g.adds():
	case s.K == 0:
		clear(c)
	default:
		simd.Scale(c, g.b[first:][:len(c)], coefficients[0])
		k = 1
	}
	for ; k < s.K; k++ {
		simd.Axpy(c, g.b[k*s.N+first:][:len(c)], coefficients[k*step])
	}
}

// dotRow makes a column of C from a row of the transposed B.
func (g *Gemm) dotRow(j int, b []float32) {
	s := &g.shape
	for i := range s.M {
		sum := simd.Dot(g.a[i*s.K:(i+1)*s.K], b)
		switch at := i*s.N + j; {
		case g.bias != nil:
			g.c[at] = float32(sum) + g.bias[j]
		case g.adds():
			g.c[at] += float32(sum)
		default:
			g.c[at] = float32(sum)
		}
	}
}

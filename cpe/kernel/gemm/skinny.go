package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// skinnyRows is the largest number of rows of the small operand of a skinny product.
const skinnyRows = 2

// skinny reports whether Skinny computes a product: one matrix is far larger than the others, so that it is best read once, in place and
// unpacked. This is the weights of an inner product of few images, or their gradient.
func (s *Shape) skinny(*cpe.Spec) bool {
	if s.TransA {
		return !s.TransB && s.K > 0 && s.K <= skinnyRows
	}
	return s.M <= skinnyRows
}

// dotRows is the largest number of rows of A of Dots. dotDepth is the K of a block: that of DotTile rows of B stays in L1 for all rows of A.
const dotRows, dotDepth = 8, 2048

// dots reports whether Dots computes a product: Skinny's, for more rows of A.
func (s *Shape) dots(*cpe.Spec) bool {
	return vgemm.HasDots() && !s.TransA && s.TransB && !s.Accumulate && s.M <= dotRows && s.values()
}

// newDots plans Dots.
func newDots(m *cpe.Machine, s Shape) (*Blocked, error) {
	g, err := newSkinny(m, s)
	if err == nil {
		g.algorithm = Dots
	}
	return g, err
}

// newSkinny plans Skinny. Core groups claim rows of the large matrix, or share the columns of C.
func newSkinny(m *cpe.Machine, s Shape) (*Blocked, error) {
	g, err := planBlocked(m, s, s, Skinny)
	if err != nil {
		return nil, err
	}
	g.each = (*Blocked).runSkinny
	g.split.Groups = m.GroupsFor(s.M*s.N+s.N*s.K+s.M*s.K, tiling.HostTile)
	return g, nil
}

// skinnyTile is the number of columns of C that a core sums at a time; they stay in L1. skinnyUnit is the unit of such numbers: a cache line.
const (
	skinnyTile = 4096
	skinnyUnit = 16
)

// claimed is approximately the number of values of the large matrix that a core claims at a time.
const claimed = 1 << 18

// rowsClaimed is the corresponding number of rows of so many values.
func rowsClaimed(values int) int { return max(1, claimed/max(1, values)) }

// runSkinny computes a core group's part of a skinny product: rows of C if A is transposed, else columns. If these correspond to rows of the
// large matrix, cores claim them dynamically, because memory does not serve all cores at the same speed. Sums are in the order of K.
func (g *Blocked) runSkinny(cg *cpe.CoreGroup) error {
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
			g.dotColumns(lo*vgemm.DotTile, min(s.N, hi*vgemm.DotTile))
		}
	default:
		lo, hi := tiling.Share(cg, s.N, skinnyUnit)
		for tile := tiling.Even(hi-lo, skinnyTile, skinnyUnit); lo < hi; lo += tile {
			g.mixRows(lo, min(hi, lo+tile))
		}
	}
	return nil
}

// outerRows computes rows [lo, hi) of C from columns [lo, hi) of A, for a transposed A.
func (g *Blocked) outerRows(lo, hi int) {
	s, c := &g.shape, g.c[lo*g.shape.N:hi*g.shape.N]
	if g.bias != nil {
		for i := 0; i < len(c); i += s.N {
			copy(c[i:], g.bias[:s.N])
		}
	}
	vgemm.OuterRows(c, s.N, hi-lo, g.a[lo:], s.M, g.b, s.N, s.K, s.N, g.bias != nil || g.adds())
}

// mixRows computes columns [lo, hi) of C as sums of B's rows.
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

// dotColumns computes columns [lo, hi) of C as dot products with rows [lo, hi) of the transposed B.
func (g *Blocked) dotColumns(lo, hi int) {
	s := &g.shape
	var sums [dotRows * vgemm.DotTile]float32
	for ; lo < hi; lo += vgemm.DotTile {
		n := min(vgemm.DotTile, hi-lo)
		g.dots(sums[:s.M*n], lo, n)
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

// dots sets sums to the dot products of all rows of A with n rows of the transposed B, from row lo on. More rows of A than the kernel takes share blocks
// of B's rows.
func (g *Blocked) dots(sums []float32, lo, n int) {
	s := &g.shape
	if s.M <= skinnyRows {
		vgemm.DotRows(sums, g.a, s.K, s.M, g.b[lo*s.K:], s.K, n, s.K)
		return
	}
	var part [skinnyRows * vgemm.DotTile]float32
	clear(sums)
	for at := 0; at < s.K; at += dotDepth {
		deep := min(dotDepth, s.K-at)
		for i := 0; i < s.M; i += skinnyRows {
			m := min(skinnyRows, s.M-i)
			vgemm.DotRows(part[:m*n], g.a[i*s.K+at:], s.K, m, g.b[lo*s.K+at:], s.K, n, deep)
			for j, v := range part[:m*n] {
				sums[i*n+j] += v
			}
		}
	}
}

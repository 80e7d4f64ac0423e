package kernel

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// GemmShape describes C(MxN) = op(A)(MxK) * op(B)(KxN), where op transposes if the flag is set: A is then stored KxM, B
// NxK. With Accumulate the product is added to C.
type GemmShape struct {
	M, N, K        int
	TransA, TransB bool
	Accumulate     bool
}

// String prints the shape.
func (s GemmShape) String() string {
	t := map[bool]string{true: "'", false: ""}
	return fmt.Sprintf("%dx%dx%d A%s B%s", s.M, s.N, s.K, t[s.TransA], t[s.TransB])
}

// The three block indices of a product, in the order in which a plan nests its loops.
const (
	loopM = iota
	loopN
	loopK
)

// GemmPlan is the blocking of a product for one core group. A block of A, B or C is fetched when the loops move to
// another one than is held.
//
// On a mesh the loops nest M, N, K: a block of C stays in LDM while blocks of A and B pass (C-stationary, the first
// choice of Zheng 2019, fig. 4.5, whose required bandwidth is (1/BM + 1/BN)*DS*T/2). On the host they nest N, K, M as in
// BLIS (Van Zee and van de Geijn 2015): a packed block of B stays in the shared cache, blocks of A in L2, and C is
// updated in memory.
type GemmPlan struct {
	BM, BN, BK int
	Order      [3]int
	LDM        int // bytes of one CPE's LDM
}

// String prints the plan on a line.
func (p GemmPlan) String() string {
	names := [3]string{"M", "N", "K"}
	return fmt.Sprintf("blocks %dx%dx%d, loops %s%s%s, LDM %d bytes", p.BM, p.BN, p.BK, names[p.Order[0]], names[p.Order[1]], names[p.Order[2]], p.LDM)
}

// PlanGemm chooses the blocking.
func PlanGemm(spec *cpe.Spec, native bool, s GemmShape) (GemmPlan, error) {
	if native {
		return planHostGemm(spec, s), nil
	}
	return planMeshGemm(spec, s)
}

// planHostGemm sizes A's block for half the L2 cache and B's for half of L3, with K blocks whose B panel fits L1.
func planHostGemm(spec *cpe.Spec, s GemmShape) GemmPlan {
	mr, nr := simd.Micro()
	l1, l3 := spec.L1Bytes, spec.L3Bytes
	if l1 == 0 {
		l1 = 32 << 10
	}
	if l3 == 0 {
		l3 = 4 * spec.LDMBytes
	}
	p := GemmPlan{Order: [3]int{loopN, loopK, loopM}}
	p.BK = max(64, min(384, l1*3/4/(4*nr)))
	if s.K <= p.BK*5/4 {
		p.BK = max(1, s.K)
	} else {
		blocks := (s.K + p.BK - 1) / p.BK
		p.BK = (s.K + blocks - 1) / blocks
	}
	p.BM = roundUp(min(s.M, max(mr, spec.LDMBytes/2/4/p.BK)), mr)
	p.BN = roundUp(min(s.N, max(nr, l3/2/4/p.BK), 4096), nr)
	p.LDM = 4 * p.BM * p.BK
	return p
}

func roundUp(n, unit int) int { return max(1, (n+unit-1)/unit) * unit }

// planMeshGemm searches square-ish blocks, multiples of the mesh, for the least traffic to memory that fits LDM with
// double-buffered A and B.
func planMeshGemm(spec *cpe.Spec, s GemmShape) (GemmPlan, error) {
	p := GemmPlan{Order: [3]int{loopM, loopN, loopK}}
	best := 0.0
	least := 0
	for _, bm := range blockSizes(s.M, spec.Rows) {
		for _, bn := range blockSizes(s.N, spec.Cols) {
			for _, bk := range blockSizes(s.K, spec.Cols) {
				ldm := meshLDM(spec, bm, bn, bk)
				if least == 0 || ldm < least {
					least = ldm
				}
				if ldm > spec.LDMBytes {
					continue
				}
				// Blocks of A and B are fetched MNK/BN and MNK/BM times; short K blocks cost a latency each.
				cost := 1/float64(bm) + 1/float64(bn) + 0.25/float64(bk)
				if best == 0 || cost < best {
					best, p.BM, p.BN, p.BK, p.LDM = cost, bm, bn, bk, ldm
				}
			}
		}
	}
	if best == 0 {
		return p, &cpe.LDMError{Kernel: "gemm " + s.String(), Asked: least, Have: spec.LDMBytes}
	}
	return p, nil
}

// blockSizes are the candidates for one extent: the mesh's width times powers of two, up to the extent.
func blockSizes(n, mesh int) []int {
	var sizes []int
	for b := mesh; ; b *= 2 {
		sizes = append(sizes, b)
		if b >= n || b >= 1024 {
			return sizes
		}
	}
}

// meshLDM is what a CPE needs for its parts of a block of C and two blocks of A and B each.
func meshLDM(spec *cpe.Spec, bm, bn, bk int) int {
	part := func(n, of int) int { return (n + of - 1) / of }
	m, n := part(bm, spec.Rows), part(bn, spec.Cols)
	return 4 * (m*n + 2*m*part(bk, spec.Cols) + 2*part(bk, spec.Rows)*n)
}

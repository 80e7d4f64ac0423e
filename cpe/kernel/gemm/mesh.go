package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// byDMA reports whether Mesh computes a product: blocks of its operands come by DMA.
func (s *Shape) byDMA(spec *cpe.Spec) bool { return spec.HasDMA() }

// newMesh plans Mesh: the CPEs of each core group multiply blocks on their mesh, and core groups share C.
func newMesh(m *cpe.Machine, s Shape) (*Blocked, error) {
	spec, share := m.Spec(), s
	if spec.Software.DataParallel {
		share.M = tiling.Blocks(s.M, spec.CoreGroups)
	}
	return planBlocked(m, s, share, Mesh)
}

// longestBlocks is the number of values of BK that planning tries for each BM and BN.
const longestBlocks = 3

// NewMeshPlan searches the blocking of least modelled time. For every BM and BN it tries the longest BK that fit LDM: they need the same
// transfers as shorter ones, in fewer requests.
func NewMeshPlan(spec *cpe.Spec, s Shape) (Plan, error) {
	best, bestTime := Plan{}, 0.0
	times := tileTimes{spec, map[tileOf]float64{}}
	rows, cols := spec.Rows*max(1, spec.Pipe.BlockRows), spec.Cols*max(1, spec.Pipe.BlockCols)
	bns, bks := evenSizes(s.N, cols, spec.Cols), evenSizes(s.K, meshSteps(spec), meshSteps(spec))
	for _, bm := range evenSizes(s.M, rows, spec.Rows) {
		for _, bn := range bns {
			tries := 0
			for _, bk := range bks {
				p := meshPlan(spec, s, bm, bn, bk)
				if p.LDM > spec.LDMBytes {
					continue
				}
				if t := times.meshNs(s, p); bestTime == 0 || t < bestTime {
					best, bestTime = p, t
				}
				if tries++; tries == longestBlocks {
					break
				}
			}
		}
	}
	if bestTime == 0 {
		least := meshPlan(spec, s, spec.Rows, spec.Cols, meshSteps(spec))
		if least.LDM > spec.LDMBytes {
			return best, &cpe.LDMError{Kernel: "gemm " + s.String(), Asked: least.LDM, Have: spec.LDMBytes}
		}
		return least, nil
	}
	return best, nil
}

// meshSteps is the number of parts of a block's K.
func meshSteps(spec *cpe.Spec) int { return max(spec.Rows, spec.Cols) }

// meshPlan is the plan with blocks of the given size.
func meshPlan(spec *cpe.Spec, s Shape, bm, bn, bk int) Plan {
	mr, nr := vgemm.Tile()
	p := Plan{
		BM: bm, BN: bn, BK: bk, Order: [3]int{loopM, loopN, loopK}, Steps: meshSteps(spec),
		MR: mr, NR: nr, Double: s.doubleBuffers(spec), Chained: s.chains(spec), Share: Sharing{Rows: spec.Rows, Cols: 4 * spec.Cols},
	}
	tiles := newTiles(spec, p)
	p.LDM = tiles.bytes(spec, p)
	return p
}

// evenSizes returns the candidate block sizes for an extent of n, largest first: n in 1, 2, 3, ... equal blocks that are multiples of unit,
// or n rounded up to mesh if it is smaller than that.
func evenSizes(n, unit, mesh int) []int {
	if n <= unit {
		return []int{tiling.Even(n, unit, mesh)}
	}
	var sizes []int
	for count, most := 1, tiling.Blocks(n, unit); ; count = min(most, count+1+count/4) {
		size := tiling.Even(n, tiling.Blocks(n, count), unit)
		if len(sizes) == 0 || size < sizes[len(sizes)-1] {
			sizes = append(sizes, size)
		}
		if count >= most {
			return sizes
		}
	}
}

// MeshNs is the modelled time of a product on one core group, in nanoseconds. Partial blocks count as whole ones.
func MeshNs(spec *cpe.Spec, s Shape, p Plan) float64 {
	times := tileTimes{spec: spec}
	return times.meshNs(s, p)
}

// tileTimes are the times of tiles on a machine. It keeps those that were asked for if known is a map.
type tileTimes struct {
	spec  *cpe.Spec
	known map[tileOf]float64
}

// tileOf is a tile of rows x cols values that is loaded or, with put, stored.
type tileOf struct {
	rows, cols int
	put        bool
}

// of returns the time of a tile.
func (t *tileTimes) of(tile tileOf) float64 {
	ns, ok := t.known[tile]
	if !ok {
		ns = tileNs(t.spec, tile.rows, tile.cols, tile.put)
		if t.known != nil {
			t.known[tile] = ns
		}
	}
	return ns
}

// meshNs is MeshNs on the machine.
func (t *tileTimes) meshNs(s Shape, p Plan) float64 {
	spec := t.spec
	m, n, k := tiling.Blocks(p.BM, spec.Rows), tiling.Blocks(p.BN, spec.Cols), tiling.Blocks(p.BK, p.Steps)
	nm, nn, nk := tiling.Blocks(s.M, p.BM), tiling.Blocks(s.N, p.BN), max(1, tiling.Blocks(s.K, p.BK))
	visits := float64(nm * nn * nk)
	multiply := float64(p.Steps-1)*spec.MultiplyNs(m, n, k, false) + spec.MultiplyNs(m, n, k, true)
	if spec.HasRMA() {
		multiply = max(multiply, float64(p.Steps)*spec.ExchangeNs(m*k, k*n))
	}
	fetch := func(rows, cols int, trans bool) float64 {
		if trans {
			rows, cols = cols, rows
		}
		return t.of(tileOf{rows, cols, false})
	}
	a, b := visits, visits
	if nk == 1 {
		a = float64(nm)
		if nn == 1 {
			b = 1
		}
	}
	transfers := a*fetch(m, k, s.TransA) + b*fetch(k, n, s.TransB)
	c := t.of(tileOf{m, n, true})
	if s.Accumulate {
		c += t.of(tileOf{m, n, false})
	}
	switch {
	case p.Chained:
		steady := max(transfers+float64(nm*nn)*c, visits*multiply)
		if s.Scattered { // one of many products, which overlap as their blocks do
			return steady
		}
		return steady + transfers/visits + multiply + c
	case p.Double:
		each := transfers / visits
		return float64(nm*nn) * (each + float64(nk-1)*max(each, multiply) + multiply + c)
	}
	return transfers + visits*multiply + float64(nm*nn)*c
}

// tileNs is the time for all CPEs to transfer rows x cols values of a larger matrix to LDM or back, and to convert them.
func tileNs(spec *cpe.Spec, rows, cols int, put bool) float64 {
	stream, wait := spec.DMA.TransferNs(spec.CPEs(), spec.Bytes(cols), float64(rows), put)
	return max(stream, (stream+wait)/float64(min(2, spec.DMA.MaxPending))) + spec.ConvertNs(rows*cols)
}

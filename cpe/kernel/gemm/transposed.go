package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

const (
	// pageValues is the number of values on a memory page. Hardware prefetchers do not cross pages.
	pageValues = 1024
	// pageRows is the largest number of rows of a tile whose rows start at the same offset in a page. Their cache lines fall into one set of
	// L1, which holds 8.
	pageRows = 8
)

// transposes reports whether Transposed computes a product: B is transposed.
func (s *Shape) transposes(*cpe.Spec) bool {
	return vgemm.HasStrided() && !s.TransA && s.TransB && !s.Accumulate && s.values()
}

// transposed computes the transpose of C, for a product of few rows with the transpose of a large matrix, in two stages:
//
//	C (M x N) = (B * A')', B (N x K), A (M x K)
//
// The first stage packs A. In the second, a core group multiplies its rows of B by it, tile by tile for a few blocks of K, and transposes the
// sums. Every element is summed over K in the same order as in Blocked.
type transposed struct {
	machine *cpe.Machine
	shape   Shape
	depth   int       // K of a block
	run     int       // K of one pass over a tile: several blocks
	tile    int       // rows of B in a tile
	width   int       // rows of A, rounded up to whole panels
	panels  []float32 // packed A, block by block of K
	sums    []float32 // N x width
	scratch cpe.Scratch
	workers []transposedWorker
	pack    packRows
	operands
}

// transposedWorker is the state of one core group.
type transposedWorker struct {
	rows Operand
	edge []float32
}

func newTransposed(m *cpe.Machine, s Shape) (Kernel, error) {
	spec := m.Spec()
	mr, nr := vgemm.Tile()
	t := &transposed{machine: m, shape: s, depth: tiling.Even(s.K, hostDepth, 1), width: tiling.Blocks(s.M, nr) * nr, workers: make([]transposedWorker, spec.CoreGroups)}
	t.run, t.tile = tiling.Blocks(pageValues, t.depth)*t.depth, mr
	if s.K%pageValues == 0 {
		t.tile = min(mr, pageRows)
	}
	t.scratch.Common = t.width * (s.K + s.N)
	for i := range t.workers {
		t.workers[i].edge = pages.Make[float32](mr * t.depth)
	}
	t.pack.transposed = t
	return t, nil
}

// Algorithm returns Transposed.
func (t *transposed) Algorithm() shape.Algorithm { return Transposed }

// Scratch counts the packed A and the sums.
func (t *transposed) Scratch() int { return t.machine.Needs(t.scratch) }

// Run computes the product; see Kernel.
func (t *transposed) Run(a, b, bias, c []float32) error {
	t.operands = operands{a, b, bias, c}
	t.machine.TakeScratch(t.scratch)
	memory := t.machine.Common(t.scratch.Common)
	t.panels, t.sums = memory[:t.width*t.shape.K], memory[t.width*t.shape.K:]
	if err := t.machine.Run(&t.pack, 0); err != nil {
		return err
	}
	return t.machine.Run(t, 0)
}

// Name names the product.
func (t *transposed) Name() string { return "transposed gemm " + t.shape.String() }

// RunGroup computes a core group's columns of C.
func (t *transposed) RunGroup(g *cpe.CoreGroup) error {
	lo, hi := tiling.Share(g, t.shape.N, t.tile)
	if lo >= hi {
		return nil
	}
	if t.bias != nil {
		for row := lo; row < hi; row++ {
			vec.Fill(t.sums[row*t.width:(row+1)*t.width], t.bias[row])
		}
	}
	w := &t.workers[g.Index()]
	w.rows.Set(cpe.Plain(t.b, t.shape.K), false)
	for k := 0; k < t.shape.K; k += t.run {
		for row := lo; row < hi; row += t.tile {
			t.multiply(w, row, min(t.tile, hi-row), k, min(t.shape.K, k+t.run))
		}
	}
	vec.Transpose(t.c[lo:], t.sums[lo*t.width:], t.shape.N, t.width, hi-lo, t.shape.M)
	return nil
}

// multiply adds the products of m rows of B with A, for values [k, end) of K, to their sums.
func (t *transposed) multiply(w *transposedWorker, row, m, k, end int) {
	_, nr := vgemm.Tile()
	for ; k < end; k += t.depth {
		deep := min(t.depth, end-k)
		left, down, along := w.rows.Strided(w.edge, row, m, k, deep)
		for col := 0; col < t.shape.M; col += nr {
			panel, n := t.panels[k*t.width+col*deep:], min(nr, t.shape.M-col)
			vgemm.StridedPanel(m, n, deep, left, down, along, panel, nr, t.sums[row*t.width+col:], t.width, k > 0 || t.bias != nil)
		}
	}
}

// packRows is the stage that packs A.
type packRows struct{ *transposed }

// Name names the stage.
func (p *packRows) Name() string { return p.transposed.Name() + ", packing" }

// RunGroup packs a core group's share of the blocks of K.
func (p *packRows) RunGroup(g *cpe.CoreGroup) error {
	_, nr := vgemm.Tile()
	rows := Operand{Matrix: cpe.Plain(p.a, p.shape.K)}
	lo, hi := tiling.Share(g, p.shape.K, p.depth)
	for k := lo; k < hi; k += p.depth {
		rows.Gather(p.panels[k*p.width:], cpe.Layout{Panel: nr, ByRows: true}, 0, k, p.shape.M, min(p.depth, p.shape.K-k))
	}
	return nil
}

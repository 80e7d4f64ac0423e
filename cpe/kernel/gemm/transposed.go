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
	split   Split     // of the transpose of C
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
	t.split = Split{byRows: true, unit: t.tile}.inPieces(&spec, s.N, s.M, nr, 1)
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

// RunGroup computes a core group's parts of C.
func (t *transposed) RunGroup(g *cpe.CoreGroup) error {
	job := Job{M1: t.shape.N, N1: t.shape.M}
	return t.split.Share(g, &job, func() error {
		t.compute(&t.workers[g.Index()], &job)
		return nil
	})
}

// compute computes the part of the transpose of C that a job describes.
func (t *transposed) compute(w *transposedWorker, job *Job) {
	if t.bias != nil {
		for row := job.M0; row < job.M1; row++ {
			vec.Fill(t.sums[row*t.width+job.N0:row*t.width+job.N1], t.bias[row])
		}
	}
	w.rows.Set(cpe.Plain(t.b, t.shape.K), false)
	for k := 0; k < t.shape.K; k += t.run {
		for row := job.M0; row < job.M1; row += t.tile {
			t.multiply(w, tiling.Span{At: row, N: min(t.tile, job.M1-row)}, tiling.Span{At: job.N0, N: job.N1 - job.N0}, k, min(t.shape.K, k+t.run))
		}
	}
	vec.Transpose(t.c[job.N0*t.shape.N+job.M0:], t.sums[job.M0*t.width+job.N0:], t.shape.N, t.width, job.M1-job.M0, job.N1-job.N0)
}

// multiply adds the products of some rows of B with some rows of A, for values [k, end) of K, to their sums.
func (t *transposed) multiply(w *transposedWorker, rows, cols tiling.Span, k, end int) {
	_, nr := vgemm.Tile()
	for ; k < end; k += t.depth {
		deep := min(t.depth, end-k)
		left, down, along := w.rows.Strided(w.edge, rows.At, rows.N, k, deep)
		for col := cols.At; col < cols.End(); col += nr {
			panel, n := t.panels[k*t.width+col*deep:], min(nr, cols.End()-col)
			vgemm.StridedPanel(rows.N, n, deep, left, down, along, panel, nr, t.sums[rows.At*t.width+col:], t.width, k > 0 || t.bias != nil)
		}
	}
}

// packRows is the stage that packs A.
type packRows struct{ *transposed }

// Name names the stage.
func (p *packRows) Name() string { return p.transposed.Name() + ", packing" }

// RunGroup packs a core group's share of the panels of all blocks of K.
func (p *packRows) RunGroup(g *cpe.CoreGroup) error {
	_, nr := vgemm.Tile()
	rows := Operand{Matrix: cpe.Plain(p.a, p.shape.K)}
	panels := p.width / nr
	lo, hi := g.Share(tiling.Blocks(p.shape.K, p.depth) * panels)
	for lo < hi {
		k, first := lo/panels*p.depth, lo%panels
		n, deep := min(panels-first, hi-lo), min(p.depth, p.shape.K-k)
		rows.Gather(p.panels[k*p.width+first*nr*deep:], cpe.Layout{Panel: nr, ByRows: true}, first*nr, k, min(n*nr, p.shape.M-first*nr), deep)
		lo += n
	}
	return nil
}

package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// newSubGrids cuts the outputs of a convolution into tiles. In a dilated convolution, outputs whose coordinates have the same remainders
// modulo the dilations depend only on inputs with one pair of remainders. Each such sub-grid of pixels is an undilated convolution. Sub-grids
// that share image lines form one patch, since images are read and written by lines. In such a patch the columns of a tile are dilateW pixels
// apart, and its lines dilateH.
func newSubGrids(spec *cpe.Spec, f vwinograd.Form, s *shape.Conv, out []int) tileGrid {
	h, w := s.Dilation[0], s.Dilation[1]
	g := newTileGrid(f, s.N*h, tiling.Blocks(out[0], h), tiling.Blocks(out[1], w), fitsCore(spec, f, w))
	g.dilateH, g.dilateW = h, w
	return g
}

// line returns the first line of a patch's outputs.
func (g *tileGrid) line(p patch) int { return p.row*g.form.Tile*g.dilateH + p.phase }

// lineRuns describes the tiles of one row of a patch as count runs of n tiles. Runs start apart pixels from each other; within a run tiles
// are next pixels apart.
type lineRuns struct{ count, n, apart, next int }

// runs chooses the longer runs: along the columns of a sub-grid, or across the sub-grids at one column.
func (g *tileGrid) runs(p patch) lineRuns {
	wide := g.form.Tile * g.dilateW
	if g.dilateW < p.cols {
		return lineRuns{g.dilateW, p.cols, 1, wide}
	}
	return lineRuns{p.cols, g.dilateW, wide, 1}
}

// insideEvery is inside for positions that are step apart.
func insideEvery(step, first, n, size int) (lo, hi int) {
	if step == 1 { // avoid slow integer divisions
		return tiling.Inside(first, n, size)
	}
	lo = min(n, max(0, tiling.Blocks(-first, step)))
	return lo, max(lo, min(n, tiling.Blocks(size-first, step)))
}

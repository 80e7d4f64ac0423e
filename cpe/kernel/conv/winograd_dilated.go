package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// newSubGrids cuts the outputs of a convolution into tiles. Outputs whose places have one remainder by the dilations see only inputs of one
// remainder, too: of each such sub-grid of pixels they are an undilated convolution. Sub-grids that have their lines in common are one patch,
// since images are read and written by lines: a tile's columns stand dilateW pixels apart there, and its lines dilateH.
func newSubGrids(spec *cpe.Spec, f vwinograd.Form, s *shape.Conv, out []int) tileGrid {
	h, w := s.Dilation[0], s.Dilation[1]
	g := newTileGrid(f, s.N*h, tiling.Blocks(out[0], h), tiling.Blocks(out[1], w), fitsCore(spec, f, w))
	g.dilateH, g.dilateW = h, w
	return g
}

// line is the first line of a patch's outputs.
func (g *tileGrid) line(p patch) int { return p.row*g.form.Tile*g.dilateH + p.phase }

// lineRuns are the tiles of a row of a patch: runs of n that begin apart pixels one from another, each tile next pixels from the one before.
type lineRuns struct{ count, n, apart, next int }

// runs takes runs as long as can be: of the columns of a sub-grid, or of the sub-grids at a column.
func (g *tileGrid) runs(p patch) lineRuns {
	wide := g.form.Tile * g.dilateW
	if g.dilateW < p.cols {
		return lineRuns{g.dilateW, p.cols, 1, wide}
	}
	return lineRuns{p.cols, g.dilateW, wide, 1}
}

// insideEvery is inside for positions that are a step apart.
func insideEvery(step, first, n, size int) (lo, hi int) {
	if step == 1 { // dividing takes as long as some vectors
		return inside(first, n, size)
	}
	lo = min(n, max(0, tiling.Blocks(-first, step)))
	return lo, max(lo, min(n, tiling.Blocks(size-first, step)))
}

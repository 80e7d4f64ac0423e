package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// leastRun is the smallest number of tiles to which runs are cut to occupy more CPEs: DMA needs blocks of 256 bytes (swCaffe, section III-A).
const leastRun = 64

// pointRows lays out points: at each point a matrix of rows x cols.
type pointRows struct{ points, rows, cols int }

// size is the number of values.
func (p *pointRows) size() int { return p.points * p.rows * p.cols }

// at returns n columns of a row, from col on, at all points.
func (p *pointRows) at(data []float32, row, col, n int) cpe.Block {
	return cpe.Block{Data: tiling.From(data, row*p.cols+col), Planes: p.points, PlaneStride: p.rows * p.cols, Rows: 1, RowStride: n, Cols: n}
}

// matrix returns the matrix of a point from a row on.
func (p *pointRows) matrix(data []float32, point, row int) cpe.Matrix {
	return cpe.Plain(tiling.From(data, (point*p.rows+row)*p.cols), p.cols)
}

// tileRuns cuts the tiles of all images into runs that one CPE transforms together: all tiles of some images, or a patch of one.
type tileRuns struct {
	tileGrid
	together int // images in a run
}

// tileRun is the same patch of each of some images. Runs of equal extents cost the same.
type tileRun struct {
	patch
	images, kind int
}

// newTileRuns cuts images into runs of at most most tiles that fit LDM.
func newTileRuns(f vwinograd.Form, images, h, w, most int, fits func(images, rows, cols int) bool) tileRuns {
	g := tileRuns{newTileGrid(f, images, h, w, func(rows, cols int) bool { return rows*cols <= most && fits(1, rows, cols) }), 1}
	if g.bands*g.stripes == 1 {
		g.together = tiling.Even(images, max(1, tiling.Largest(images, func(n int) bool { return n*g.rows*g.cols <= most && fits(n, g.rows, g.cols) })), 1)
	}
	return g
}

// count returns the number of runs.
func (g *tileRuns) count() int { return tiling.Blocks(g.patches(), g.together) }

// run returns run i. Behind the last run, first is the number of all tiles.
func (g *tileRuns) run(i int) tileRun {
	r := tileRun{patch: g.patch(min(i*g.together, g.patches())), images: 1}
	if g.together > 1 {
		r.images = min(g.together, g.images-r.image)
	}
	r.kind = r.images*g.bands*g.stripes + i%(g.bands*g.stripes)
	return r
}

// tiles returns the number of the run's tiles.
func (r *tileRun) tiles() int { return r.images * r.rows * r.cols }

// between returns the number of tiles of runs [first, last).
func (g *tileRuns) between(first, last int) int { return g.run(last).first - g.run(first).first }

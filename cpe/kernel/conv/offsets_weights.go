package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// offsetsWeightsAlgorithm is the algorithm offsets-weights.
var offsetsWeightsAlgorithm = Algorithm{
	Name: "offsets-weights", Doc: "the weight gradient in vectors of output channels", Family: shape.Implicit,
	Directions: []shape.Direction{shape.WeightGradient}, Supports: byVectors, Cost: offsetCost, Works: resultsInBlocks,
	Can: only(SetWeights | SumBiases), Kernel: staged(func(t *task) error { return newOffsetWeights(t, nil) }),
	Special: true,
}

// offsetWeights is the weight gradient for the shapes of offsetConv:
//
//	dW' (C*offsets x Out) += X'ᵀ (C*offsets x pixels) * dY' (pixels x Out)
//
// It reads images as offsetConv does; the offsets of one kernel row are neighbours in memory. A tile is some kernel rows times 32 output
// channels. Both operands are read in place; DY is first converted to blocks of channels if it is stored by planes.
//
// The gradient of the biases, if asked for, is one more row of sums: the product with an image of ones. Core groups share a fixed number of
// partial sums. If there are more kernel offsets than pixels, they share tiles instead.
type offsetWeights struct {
	*task
	padded    paddedBand
	y         pointImages
	rows      int // result rows in a band
	bands     int // bands in an image
	tiles     []offsetTile
	depth     int       // kernel offsets of all channels
	one       []float32 // the image of ones: a single 1, read with step 0
	unshifted []int
	chunks    int
	byTiles   bool
	pooled    *pooledGrads // computes DY from the gradient of the pooled results, if not nil
	workers   []offsetSumWorker
}

// offsetSumWorker is the state of one core group: where DY of the current band lies, and DY of the next.
type offsetSumWorker struct {
	rows      vconv.OffsetRows
	ones      vconv.OffsetRows
	now, next pointBlocks
}

// offsetTile describes the kernel offsets of a tile. Each line has width offsets, starting at the given places of a band. k numbers the first
// offset among all.
type offsetTile struct {
	k, width int
	lines    []int
}

const (
	// offsetSums is the number of pixels that should be summed before the sums go to memory.
	offsetSums = 256
	// offsetChunks is the number of partial sums.
	offsetChunks = 8
)

func newOffsetWeights(t *task, pool *pool.Kernel) error {
	s, spec := &t.Shape, t.machine.Spec()
	v := &offsetWeights{task: t, depth: s.Depth(), one: []float32{1}, unshifted: []int{0}, workers: make([]offsetSumWorker, spec.CoreGroups)}
	v.y = newPointImages(s.Out, t.Results, s.OutSize(), tiling.Ones(len(s.In)))
	v.rows = tiling.Even(v.y.Rows(), max(1, offsetSums/v.y.Cols()), 1)
	v.bands = tiling.Blocks(v.y.Rows(), v.rows)
	v.padded = newPaddedBand(*s, v.rows)
	v.cutTiles()
	v.chunks = min(offsetChunks, s.N*v.bands)
	if v.byTiles = s.N*v.y.Pixels() < v.depth; v.byTiles {
		v.chunks = 1
	}
	if pool != nil {
		v.pooled = &pooledGrads{pool, &v.y, v.rows}
	}
	t.takes(cpe.Scratch{Common: v.sums(), Group: v.memory()})
	t.stages = []stage{{v, 0}, {collectOffsets{v}, 0}}
	return nil
}

// cutTiles cuts the kernel rows of all channels into tiles: several whole rows, or equal parts of one.
func (v *offsetWeights) cutTiles() {
	most, manyLines := vconv.OffsetSumSize()
	width, shifts := v.padded.kw, v.padded.shifts()
	parts, lines := tiling.Blocks(width, most), len(shifts)/width
	together := tiling.Even(lines, max(1, min(manyLines, most/width)), 1)
	for line := 0; line < lines; line += together {
		for part := range parts {
			first, last := part*width/parts, (part+1)*width/parts
			t := offsetTile{k: line*width + first, width: last - first}
			for i := line; i < min(line+together, lines); i++ {
				t.lines = append(t.lines, shifts[i*width+first])
			}
			v.tiles = append(v.tiles, t)
		}
	}
}

// panels is the number of panels of sums, and values the number of values of one; the last row of a panel is the bias gradient. sums is the
// number of values of all sums, ordered by chunk, panel, offset.
func (v *offsetWeights) panels() int { return tiling.Blocks(v.y.channels, panel) }
func (v *offsetWeights) values() int { return (v.depth + 1) * panel }
func (v *offsetWeights) sums() int   { return v.chunks * v.panels() * v.values() }

// results is the number of values of a core group's scratch memory for a band of DY.
func (v *offsetWeights) results() int {
	if v.pooled != nil {
		return v.pooled.size()
	}
	return v.y.scratch(v.y.blocks(), v.rows*v.y.Cols())
}

// memory is the number of values of a core group's own memory: a band of images and one of DY or, in the second stage, one transposed panel
// of sums.
func (v *offsetWeights) memory() int { return max(v.padded.size()+v.results(), panel*v.depth) }

// Name returns "convolution" and the direction.
func (v *offsetWeights) Name() string { return "convolution " + shape.WeightGradient.String() }

// RunGroup computes a core group's share of the chunks or tiles.
func (v *offsetWeights) RunGroup(g *cpe.CoreGroup) error {
	memory := g.Memory(v.padded.size() + v.results())
	images, scratch := memory[:v.padded.size()], memory[v.padded.size():]
	clear(images)
	if v.byTiles {
		lo, hi := g.Share(len(v.tiles))
		if lo < hi {
			v.chunk(g, images, scratch, 0, lo, hi)
		}
		return nil
	}
	lo, hi := g.Share(v.chunks)
	for chunk := lo; chunk < hi; chunk++ {
		v.chunk(g, images, scratch, chunk, 0, len(v.tiles))
	}
	return nil
}

// chunk computes the sums of one chunk for tiles [lo, hi). images and scratch are memory for a band of images and of DY.
func (v *offsetWeights) chunk(g *cpe.CoreGroup, images, scratch []float32, chunk, lo, hi int) {
	w, args, width, units := &v.workers[g.Index()], v.args, v.y.Cols(), v.Shape.N*v.bands
	sums := g.Common(v.sums())[chunk*v.panels()*v.values():]
	first, last := chunk*units/v.chunks, (chunk+1)*units/v.chunks
	for i := first; i < last; i++ {
		at := v.band(i)
		row, rows := at.first/width, at.n/width
		x := v.padded.of(args.X, at.image, row, rows, images)
		w.now, w.next = v.gradient(i, scratch)
		v.add(w, x, sums, rows, lo, hi, i > first)
	}
}

// gradient returns DY of band i in blocks of channels. next is that of the band after, if DY is stored in blocks.
func (v *offsetWeights) gradient(i int, scratch []float32) (now, next pointBlocks) {
	y, at := v.args.DY, v.band(i)
	if v.pooled != nil {
		return v.pooled.of(y, at, scratch), next
	}
	v.y.gather(y, at, 0, v.y.blocks(), scratch)
	if v.y.direct() && i+1 < v.Shape.N*v.bands {
		next = v.y.at(y, v.band(i+1), 0, v.y.blocks(), nil)
	}
	return v.y.at(y, at, 0, v.y.blocks(), scratch), next
}

// band returns the pixels of band i; bands are numbered through all images.
func (v *offsetWeights) band(i int) pointSpan {
	row := i % v.bands * v.rows
	return pointSpan{i / v.bands, 1, row * v.y.Cols(), min(v.rows, v.y.Rows()-row) * v.y.Cols()}
}

// add adds the products of a band for tiles [lo, hi); with tile 0 also the bias gradient. While it computes the first two tiles of a panel it
// prefetches the panel's DY of the next band.
func (v *offsetWeights) add(w *offsetSumWorker, x, sums []float32, rows, lo, hi int, accumulate bool) {
	b, y, width := &v.padded, &w.now, v.y.Cols()
	w.rows = vconv.OffsetRows{Rows: rows, N: width, Step: b.strideW, NextX: b.strideH * b.width, JumpY: y.jump, NextY: width * shape.BlockLanes}
	for p := range v.panels() {
		at, n := y.data[2*p*y.jump:], min(2, v.y.blocks()-2*p)
		for i := lo; i < hi; i++ {
			w.rows.Ahead = nil
			if i < n && w.next.data != nil {
				w.rows.Ahead = w.next.data[(2*p+i)*w.next.jump:]
			}
			t := &v.tiles[i]
			vconv.OffsetSums(&w.rows, t.lines, t.width, x, at, sums[p*v.values()+t.k*panel:], n, accumulate)
		}
		if v.args.DB != nil && lo == 0 {
			w.ones = vconv.OffsetRows{Rows: rows, N: width, JumpY: y.jump, NextY: width * shape.BlockLanes}
			vconv.OffsetSums(&w.ones, v.unshifted, 1, v.one, at, sums[p*v.values()+v.depth*panel:], n, accumulate)
		}
	}
}

// collectOffsets is the second stage: it adds up the partial sums, transposes them to the layout of DW and DB, and stores or adds them.
type collectOffsets struct{ *offsetWeights }

// Name names the stage.
func (c collectOffsets) Name() string { return c.offsetWeights.Name() + ", collecting" }

// RunGroup collects a core group's share of the panels.
func (c collectOffsets) RunGroup(g *cpe.CoreGroup) error {
	all, values, bias := g.Common(c.sums()), c.values(), c.args.DB
	used := values
	if bias == nil {
		used -= panel
	}
	lo, hi := g.Share(c.panels())
	for p := lo; p < hi; p++ {
		sum := all[p*values:][:used]
		for chunk := 1; chunk < c.chunks; chunk++ {
			vec.Add(sum, sum, all[(chunk*c.panels()+p)*values:])
		}
		if c.args.DW != nil {
			c.turn(g, sum, p)
		}
		if bias != nil {
			db := bias[p*panel : min((p+1)*panel, c.y.channels)]
			vec.Add(db, db, sum[c.depth*panel:])
		}
	}
	return nil
}

// turn transposes the sums of a panel (a row for each offset) to DW (a row for each output channel), and stores or adds them.
func (c collectOffsets) turn(g *cpe.CoreGroup, sum []float32, p int) {
	n := min(panel, c.y.channels-p*panel)
	dw := c.args.DW[p*panel*c.depth:][:n*c.depth]
	if !c.args.Add {
		vec.Transpose(dw, sum, c.depth, panel, c.depth, n)
		return
	}
	turned := g.Memory(c.memory())[:len(dw)]
	vec.Transpose(turned, sum, c.depth, panel, c.depth, n)
	vec.Add(dw, dw, turned)
}

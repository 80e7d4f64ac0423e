package offsets

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Weights is the algorithm offsets-weights.
var Weights = conv.Algorithm{
	Name: "offsets-weights", Doc: "the weight gradient in vectors of output channels", Family: shape.Implicit,
	Directions: []shape.Direction{shape.WeightGradient}, Supports: func(p *conv.Problem) error { return byVectors(p, op.FirstReason(onlyPlanes(p), fewChannels(p))) }, Cost: conv.OffsetCost, Works: conv.ReadsPlanes,
	Steps: op.Only[shape.Conv](op.Overwrite, op.SumBiases), Kernel: conv.Staged(func(t *conv.Task) error { return NewWeights(t, nil) }),
	Special: true,
}

// weightsKernel is the weight gradient for the shapes of Kernel:
//
//	dW' (C*offsets x Out) += X'ᵀ (C*offsets x pixels) * dY' (pixels x Out)
//
// It reads images as Kernel does; the offsets of one kernel row are neighbours in memory. A tile is some kernel rows times 32 output
// channels. Both operands are read in place; DY is first converted to blocks of channels if it is stored by planes.
//
// The gradient of the biases, if asked for, is one more row of sums: the product with an image of ones. Core groups share a fixed number of
// partial sums. If there are more kernel offsets than pixels, they share tiles instead.
type weightsKernel struct {
	*conv.Task
	weightsPlan
	one       []float32 // the image of ones: a single 1, read with step 0
	unshifted []int
	pooled    *pooledGrads // computes DY from the gradient of the pooled results, if not nil
	workers   []sumWorker
}

// weightsPlan is the blocking of weightsKernel.
type weightsPlan struct {
	padded  tensor.Band
	y       tensor.Images
	rows    int // result rows in a band
	bands   int // bands in an image
	tiles   []tile
	depth   int // kernel offsets of all channels
	chunks  int // partial sums
	byTiles bool
}

// planWeights computes the blocking for a problem.
func planWeights(p *conv.Problem) weightsPlan {
	s := &p.Shape
	v := weightsPlan{depth: s.Depth(), y: tensor.NewImages(s.Out, p.Results, s.OutSize(), tiling.Ones(len(s.In)))}
	v.rows = tiling.Even(v.y.Rows(), max(1, sumPixels/v.y.Cols()), 1)
	v.bands = tiling.Blocks(v.y.Rows(), v.rows)
	v.padded = tensor.NewBand(*s, shape.Planes, v.rows)
	v.cutTiles()
	v.chunks = conv.Parts(s.N, s.N*v.bands, offsetChunks, chunkBands, v.sums().Size)
	if v.byTiles = s.N*v.y.Pixels() < v.depth; v.byTiles {
		v.chunks = 1
	}
	return v
}

// String describes the plan.
func (v weightsPlan) String() string {
	return fmt.Sprintf("bands of %d of %d result rows, %d tiles of kernel rows, %d partial sums", v.rows, v.y.Rows(), len(v.tiles), v.chunks)
}

// sumWorker is the state of one core group: where DY of the current band lies, and DY of the next.
type sumWorker struct {
	rows      vconv.OffsetRows
	ones      vconv.OffsetRows
	now, next tensor.Blocks
}

// tile describes the kernel offsets of a tile. Each line has width offsets, starting at the given places of a band. k numbers the first
// offset among all.
type tile struct {
	k, width int
	lines    []int
}

const (
	// sumPixels is the number of pixels that should be summed before the sums go to memory.
	sumPixels = 256
	// offsetChunks is the number of partial sums of few images, chunkBands the least number of bands in one of more.
	offsetChunks, chunkBands = 8, 48
)

func NewWeights(t *conv.Task, pool *pool.Kernel) error {
	spec := t.Machine.Spec()
	v := &weightsKernel{Task: t, weightsPlan: planWeights(&t.Problem), one: []float32{1}, unshifted: []int{0}, workers: make([]sumWorker, spec.CoreGroups)}
	if pool != nil {
		v.pooled = &pooledGrads{pool, &v.y, v.rows}
	}
	t.Reserved = cpe.Scratch{Common: v.sums().Values(), Group: v.memory()}
	t.Plan, t.Stages = v.weightsPlan, conv.Stages(v, collect{v})
	return nil
}

// cutTiles cuts the kernel rows of all channels into tiles: several whole rows, or equal parts of one.
func (v *weightsPlan) cutTiles() {
	most, manyLines := vconv.OffsetSumSize()
	width, shifts := v.padded.KW, v.padded.Shifts()
	parts, lines := tiling.Blocks(width, most), len(shifts)/width
	together := tiling.Even(lines, max(1, min(manyLines, most/width)), 1)
	for line := 0; line < lines; line += together {
		for part := range parts {
			first, last := part*width/parts, (part+1)*width/parts
			t := tile{k: line*width + first, width: last - first}
			for i := line; i < min(line+together, lines); i++ {
				t.lines = append(t.lines, shifts[i*width+first])
			}
			v.tiles = append(v.tiles, t)
		}
	}
}

// panels is the number of panels of sums, and values the number of values of one; the last row of a panel is the bias gradient. sums are
// the partial sums, ordered by panel and offset.
func (v *weightsPlan) panels() int { return tiling.Blocks(v.y.Channels, conv.Panel) }
func (v *weightsPlan) values() int { return (v.depth + 1) * conv.Panel }
func (v *weightsPlan) sums() conv.Sums {
	return conv.Sums{Parts: v.chunks, Size: v.panels() * v.values()}
}

// results is the number of values of a core group's scratch memory for a band of DY.
func (v *weightsKernel) results() int {
	if v.pooled != nil {
		return v.pooled.size()
	}
	return v.y.Scratch(v.y.Blocks(), v.rows*v.y.Cols())
}

// memory is the number of values of a core group's own memory: a band of images and one of DY or, in the second stage, one transposed panel
// of sums.
func (v *weightsKernel) memory() int { return max(v.padded.Size()+v.results(), conv.Panel*v.depth) }

// Name returns "convolution" and the direction.
func (v *weightsKernel) Name() string { return "convolution " + shape.WeightGradient.String() }

// RunGroup computes a core group's share of the chunks or tiles.
func (v *weightsKernel) RunGroup(g *cpe.CoreGroup) error {
	memory := g.Memory(v.padded.Size() + v.results())
	images, scratch := memory[:v.padded.Size()], memory[v.padded.Size():]
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
func (v *weightsKernel) chunk(g *cpe.CoreGroup, images, scratch []float32, chunk, lo, hi int) {
	w, args, width, units := &v.workers[g.Index()], v.Args, v.y.Cols(), v.Shape.N*v.bands
	sums := v.sums().Of(g.Common(v.sums().Values()), chunk)
	first, last := chunk*units/v.chunks, (chunk+1)*units/v.chunks
	for i := first; i < last; i++ {
		at := v.band(i)
		row, rows := at.First/width, at.N/width
		x := v.padded.Of(args.X, at.Image, row, rows, images)
		w.now, w.next = v.gradient(i, scratch)
		v.add(w, x, sums, rows, lo, hi, i > first)
	}
}

// gradient returns DY of band i in blocks of channels. next is that of the band after, if DY is stored in blocks.
func (v *weightsKernel) gradient(i int, scratch []float32) (now, next tensor.Blocks) {
	y, at := v.Args.DY, v.band(i)
	if v.pooled != nil {
		return v.pooled.of(y, at, scratch), next
	}
	v.y.Load(y, at, 0, v.y.Blocks(), scratch)
	if v.y.Direct() && i+1 < v.Shape.N*v.bands {
		next = v.y.At(y, v.band(i+1), 0, v.y.Blocks(), nil)
	}
	return v.y.At(y, at, 0, v.y.Blocks(), scratch), next
}

// band returns the pixels of band i; bands are numbered through all images.
func (v *weightsKernel) band(i int) tensor.Span {
	row := i % v.bands * v.rows
	return tensor.Span{Image: i / v.bands, Images: 1, First: row * v.y.Cols(), N: min(v.rows, v.y.Rows()-row) * v.y.Cols()}
}

// add adds the products of a band for tiles [lo, hi); with tile 0 also the bias gradient. While it computes the first two tiles of a panel it
// prefetches the panel's DY of the next band.
func (v *weightsKernel) add(w *sumWorker, x, sums []float32, rows, lo, hi int, accumulate bool) {
	b, y, width := &v.padded, &w.now, v.y.Cols()
	w.rows = vconv.OffsetRows{Rows: rows, N: width, Step: b.StrideW, NextX: b.StrideH * b.Width, JumpY: y.Jump, NextY: width * shape.BlockLanes}
	for p := range v.panels() {
		at, n := y.Data[2*p*y.Jump:], min(2, v.y.Blocks()-2*p)
		for i := lo; i < hi; i++ {
			w.rows.Ahead = nil
			if i < n && w.next.Data != nil {
				w.rows.Ahead = w.next.Data[(2*p+i)*w.next.Jump:]
			}
			t := &v.tiles[i]
			vconv.OffsetSums(&w.rows, t.lines, t.width, x, at, sums[p*v.values()+t.k*conv.Panel:], n, accumulate)
		}
		if v.Args.DB != nil && lo == 0 {
			w.ones = vconv.OffsetRows{Rows: rows, N: width, JumpY: y.Jump, NextY: width * shape.BlockLanes}
			vconv.OffsetSums(&w.ones, v.unshifted, 1, v.one, at, sums[p*v.values()+v.depth*conv.Panel:], n, accumulate)
		}
	}
}

// collect is the second stage: it adds up the partial sums, transposes them to the layout of DW and DB, and stores or adds them.
type collect struct{ *weightsKernel }

// Name names the stage.
func (c collect) Name() string { return c.weightsKernel.Name() + ", collecting" }

// RunGroup collects a core group's share of the panels.
func (c collect) RunGroup(g *cpe.CoreGroup) error {
	all, values, bias := g.Common(c.sums().Values()), c.values(), c.Args.DB
	used := values
	if bias == nil {
		used -= conv.Panel
	}
	lo, hi := g.Share(c.panels())
	for p := lo; p < hi; p++ {
		sum := c.sums().Collect(all, p*values, used)
		if c.Args.DW != nil {
			c.transpose(g, sum, p)
		}
		if bias != nil {
			db := bias[p*conv.Panel : min((p+1)*conv.Panel, c.y.Channels)]
			vec.Add(db, db, sum[c.depth*conv.Panel:])
		}
	}
	return nil
}

// transpose brings the sums of a panel (a row for each offset) to DW (a row for each output channel), and stores or adds them.
func (c collect) transpose(g *cpe.CoreGroup, sum []float32, p int) {
	n := min(conv.Panel, c.y.Channels-p*conv.Panel)
	dw := c.Args.DW[p*conv.Panel*c.depth:][:n*c.depth]
	if !c.Args.Add {
		vec.Transpose(dw, sum, c.depth, conv.Panel, c.depth, n)
		return
	}
	transposed := g.Memory(c.memory())[:len(dw)]
	vec.Transpose(transposed, sum, c.depth, conv.Panel, c.depth, n)
	vec.Add(dw, dw, transposed)
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// Vectors of output channels are faster than products of gathered columns where images have less than manyChannels and results at least
// someOutputs.
const manyChannels, someOutputs = shape.BlockLanes, shape.BlockLanes / 2

// They are also where images have more channels but results are few pixels, so that bringing columns together takes longer than multiplying
// them, and weights so few that they stay in L2.
const fewPixels, fewWeights = 256, 1 << 15

// inPlace reports whether a native machine's implicit strategy may read images and weights where they lie: neither groups nor dilation.
func inPlace(s *shape.Conv) bool {
	return s.Group == 1 && tiling.Size(s.Dilation) == 1 && shiftable(*s) && !thinnable(*s) && !covers(s) && tiling.Size(s.OutSize()) > 0 && s.N > 0
}

// fewResults reports whether results are few pixels and weights are few.
func fewResults(s *shape.Conv) bool {
	return s.N*tiling.Size(s.OutSize()) <= fewPixels && s.Out*s.Depth() <= fewWeights
}

// byOffsets reports whether a native machine's implicit strategy has vectors of output channels for the shape: see offsetConv. Such are
// nets' first layers, and small ones of few images.
func byOffsets(s *shape.Conv) bool {
	return inPlace(s) && s.Out >= someOutputs && (s.C < manyChannels || fewResults(s))
}

// offsetConv is the implicit strategy of a native machine for images of few channels or pixels, forward:
//
//	Y' (pixels x Out) = X' (pixels x C*offsets) * W' (C*offsets x Out) + bias
//
// A band of rows of an image is copied with its padding, so that a kernel offset is a shift whatever the pixel (see paddedBand): the left
// operand is read from there value by value, and is never gathered. The right one is packed in panels of two blocks of outputs, of which a
// piece stays in L1 while a band passes. Results come in blocks of channels and are turned, band by band, where they lie by planes.
type offsetConv struct {
	*task
	padded  paddedBand
	shifts  []int
	depth   int // shifts that are multiplied at once
	out     pointImages
	rows    int // of a band
	bands   int // of an image
	workers []offsetWorker
}

// offsetWorker is what a core group needs to itself.
type offsetWorker struct {
	start [panel]float32
	tiles vconv.OffsetTiles
}

// offsetDepth is how many shifts are multiplied at once, so that a piece of a panel of weights takes about half of L1.
const offsetDepth = 160

func newOffsetConv(t *task) error {
	v, spec := planOffsetConv(t), t.machine.Spec()
	fit := max(1, min(spec.LDMBytes/2/4/v.line(), tiling.Blocks(t.Shape.N*v.out.Rows(), spec.CoreGroups)))
	v.cut(tiling.Even(v.out.Rows(), fit, 1))
	t.takes(cpe.Scratch{Common: v.weights(), Group: v.padded.size() + v.results()})
	t.stages = []stage{{packOffsets{v}, 0}, {v, 0}}
	return nil
}

// planOffsetConv describes images and results, which are not cut yet.
func planOffsetConv(t *task) *offsetConv {
	s := &t.Shape
	v := &offsetConv{task: t, padded: newPaddedBand(*s, 1), workers: make([]offsetWorker, t.machine.Spec().CoreGroups)}
	v.out = newPointImages(s.Out, t.Results, s.OutSize(), tiling.Ones(len(s.In)))
	return v
}

// line is the number of values that a row of results and its inputs take.
func (v *offsetConv) line() int {
	return v.out.blocks()*shape.BlockLanes*v.out.Cols() + v.padded.channels*v.padded.strideH*v.padded.width
}

// cut cuts images into bands of some rows.
func (v *offsetConv) cut(rows int) {
	v.rows, v.bands = rows, tiling.Blocks(v.out.Rows(), rows)
	v.padded = newPaddedBand(v.Shape, rows)
	v.shifts = v.padded.shifts()
	v.depth = tiling.Even(len(v.shifts), offsetDepth, 1)
}

// panels is the number of panels of weights, weights how many values they have.
func (v *offsetConv) panels() int  { return tiling.Blocks(v.out.channels, panel) }
func (v *offsetConv) weights() int { return v.panels() * len(v.shifts) * panel }

// results is the number of values of a core group's scratch that a band of results takes.
func (v *offsetConv) results() int { return v.out.scratch(v.out.blocks(), v.rows*v.out.Cols()) }

// Name names the direction.
func (v *offsetConv) Name() string { return "convolution " + shape.Forward.String() }

// RunGroup convolves a core group's share of the bands.
func (v *offsetConv) RunGroup(g *cpe.CoreGroup) error {
	y, width := v.args.Y, v.out.Cols()
	memory := g.Memory(v.padded.size() + v.results())
	images, scratch := memory[:v.padded.size()], memory[v.padded.size():]
	clear(images)
	lo, hi := g.Share(v.Shape.N * v.bands)
	for i := lo; i < hi; i++ {
		image, row := i/v.bands, i%v.bands*v.rows
		rows := min(v.rows, v.out.Rows()-row)
		at := pointSpan{image, 1, row * width, rows * width}
		v.convolve(g, image, row, rows, images, v.out.at(y, at, 0, v.out.blocks(), scratch))
		v.out.spread(y, at, 0, v.out.blocks(), scratch, false)
	}
	return nil
}

// convolve computes some rows of an image; images is memory for the band.
func (v *offsetConv) convolve(g *cpe.CoreGroup, image, row, rows int, images []float32, results pointBlocks) {
	x := v.padded.of(v.args.X, image, row, rows, images)
	for k := 0; k < len(v.shifts); k += v.depth {
		for p := range v.panels() {
			v.multiply(g, x, results.from(2*p), p, k, rows)
		}
	}
}

// multiply adds the products of a piece of a panel, from shift k on, with a band of some rows.
func (v *offsetConv) multiply(g *cpe.CoreGroup, x []float32, results pointBlocks, p, k, rows int) {
	w, b := &v.workers[g.Index()], &v.padded
	shifts := v.shifts[k:min(k+v.depth, len(v.shifts))]
	piece := g.Common(v.weights())[(p*len(v.shifts)+k)*panel:]
	clear(w.start[:])
	if bias := v.args.Bias; bias != nil && k == 0 {
		copy(w.start[:], bias[p*panel:])
	}
	n, width, step := min(2, v.out.blocks()-2*p), v.out.Cols(), b.strideW
	if width == 1 { // a column is a row of pixels that lie further apart
		rows, width, step = 1, rows, b.strideH*b.width
	}
	floor := v.args.Floor && k+len(shifts) == len(v.shifts)
	tiles := tiling.Blocks(width, vconv.OffsetPixels())
	for row := range rows {
		for at, tile := 0, 0; tile < tiles; tile += w.tiles.Tiles {
			w.tiles = tilesOf(width, tile, tiles)
			w.tiles.Step, w.tiles.JumpC = step, results.jump
			vconv.OffsetKernel(&w.tiles, shifts, x[row*b.strideH*b.width+at*step:], piece, w.start[:], results.data[(row*width+at)*shape.BlockLanes:], n, k > 0, floor)
			at += w.tiles.Tiles * w.tiles.N
		}
	}
}

// tilesOf are those of a row of pixels, cut evenly into some, that have as many pixels as number first: the first tiles may have one more.
func tilesOf(pixels, first, tiles int) vconv.OffsetTiles {
	few, more := pixels/tiles, pixels%tiles
	t := vconv.OffsetTiles{Tiles: tiles - more, N: few}
	if first < more {
		t.Tiles, t.N = more, few+1
	}
	return t
}

// packOffsets is the stage that packs all weights: outputs side by side, shifts one below another, zeros where there are none.
type packOffsets struct{ *offsetConv }

// Name names the stage.
func (p packOffsets) Name() string { return p.offsetConv.Name() + ", packing weights" }

// RunGroup packs a core group's share of the blocks of outputs.
func (p packOffsets) RunGroup(g *cpe.CoreGroup) error {
	memory, k := g.Common(p.weights()), len(p.shifts)
	lo, hi := g.Share(2 * p.panels())
	for block := lo; block < hi; block++ {
		dst := memory[block/2*k*panel+block%2*shape.BlockLanes:]
		n := max(0, min(shape.BlockLanes, p.out.channels-block*shape.BlockLanes))
		if n < shape.BlockLanes {
			for i := range k {
				clear(dst[i*panel:][:shape.BlockLanes])
			}
		}
		if n > 0 {
			vec.Transpose(dst, p.args.W[block*shape.BlockLanes*k:], panel, k, n, k)
		}
	}
	return nil
}

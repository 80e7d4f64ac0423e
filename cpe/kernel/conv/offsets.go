package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// offsetsAlgorithm is the algorithm offsets.
var offsetsAlgorithm = Algorithm{
	Name: "offsets", Doc: "vectors of output channels, from single values of a padded band, for images of few channels or few pixels", Family: shape.Implicit,
	Directions: []shape.Direction{shape.Forward}, Supports: byVectors,
	Cost: offsetCost, Works: resultsInBlocks, Can: only(FloorResults), Kernel: staged(newOffsetConv),
	Special: true,
	General: true,
}

// offsetConv is the host's forward convolution for images of few channels or few pixels:
//
//	Y' (pixels x Out) = X' (pixels x C*offsets) * W' (C*offsets x Out) + bias
//
// A band of rows of an image is copied with its padding, so that a kernel offset is the same shift for every pixel (see paddedBand). The
// kernel broadcasts single values of this band; the left operand is never gathered. Weights are packed in panels of 32 output channels; a
// part of a panel stays in L1 for a whole band. Results are computed in blocks of channels. If they are stored by planes, they are transposed
// band by band.
type offsetConv struct {
	*task
	padded  paddedBand
	shifts  []int
	depth   int // shifts of one pass over a band
	out     pointImages
	rows    int // result rows in a band
	bands   int // bands in an image
	workers []offsetWorker
}

// offsetWorker is the state of one core group.
type offsetWorker struct {
	start [panel]float32
	tiles vconv.OffsetTiles
}

// offsetDepth bounds the number of shifts of one pass, so that their part of a panel of weights takes about half of L1.
const offsetDepth = 160

func newOffsetConv(t *task) error {
	v, spec := planOffsetConv(t), t.machine.Spec()
	fit := max(1, min(spec.LDMBytes/2/4/v.line(), tiling.Blocks(t.Shape.N*v.out.Rows(), spec.CoreGroups)))
	v.cut(tiling.Even(v.out.Rows(), fit, 1))
	t.takes(cpe.Scratch{Common: v.weights(), Group: v.padded.size() + v.results()})
	t.stages = []stage{{packOffsets{v}, 0}, {v, 0}}
	return nil
}

// planOffsetConv describes images and results; cut then cuts them into bands.
func planOffsetConv(t *task) *offsetConv {
	s := &t.Shape
	v := &offsetConv{task: t, padded: newPaddedBand(*s, 1), workers: make([]offsetWorker, t.machine.Spec().CoreGroups)}
	v.out = newPointImages(s.Out, t.Results, s.OutSize(), tiling.Ones(len(s.In)))
	return v
}

// line is the number of values of a result row and of the input rows that one more result row needs.
func (v *offsetConv) line() int {
	return v.out.blocks()*shape.BlockLanes*v.out.Cols() + v.padded.channels*v.padded.strideH*v.padded.width
}

// cut cuts images into bands of the given number of result rows.
func (v *offsetConv) cut(rows int) {
	v.rows, v.bands = rows, tiling.Blocks(v.out.Rows(), rows)
	v.padded = newPaddedBand(v.Shape, rows)
	v.shifts = v.padded.shifts()
	v.depth = tiling.Even(len(v.shifts), offsetDepth, 1)
}

// panels is the number of panels of weights; weights is their number of values.
func (v *offsetConv) panels() int  { return tiling.Blocks(v.out.channels, panel) }
func (v *offsetConv) weights() int { return v.panels() * len(v.shifts) * panel }

// results is the number of values of a core group's scratch memory for a band of results.
func (v *offsetConv) results() int { return v.out.scratch(v.out.blocks(), v.rows*v.out.Cols()) }

// Name returns "convolution" and the direction.
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

// convolve computes some result rows of an image; images is memory for the band.
func (v *offsetConv) convolve(g *cpe.CoreGroup, image, row, rows int, images []float32, results pointBlocks) {
	x := v.padded.of(v.args.X, image, row, rows, images)
	for k := 0; k < len(v.shifts); k += v.depth {
		for p := range v.panels() {
			v.multiply(g, x, results.from(2*p), p, k, rows)
		}
	}
}

// multiply computes one panel of output channels of a band, for the shifts from number k on. It adds to the results if k > 0.
func (v *offsetConv) multiply(g *cpe.CoreGroup, x []float32, results pointBlocks, p, k, rows int) {
	w, b := &v.workers[g.Index()], &v.padded
	shifts := v.shifts[k:min(k+v.depth, len(v.shifts))]
	piece := g.Common(v.weights())[(p*len(v.shifts)+k)*panel:]
	clear(w.start[:])
	if bias := v.args.Bias; bias != nil && k == 0 {
		copy(w.start[:], bias[p*panel:])
	}
	n, width, step := min(2, v.out.blocks()-2*p), v.out.Cols(), b.strideW
	if width == 1 { // treat a column as a row with a larger step
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

// tilesOf describes the tiles of a row of pixels, cut evenly into the given number of tiles. It returns the run of equal tiles that starts
// with tile first: leading tiles may have one pixel more than the others.
func tilesOf(pixels, first, tiles int) vconv.OffsetTiles {
	few, more := pixels/tiles, pixels%tiles
	t := vconv.OffsetTiles{Tiles: tiles - more, N: few}
	if first < more {
		t.Tiles, t.N = more, few+1
	}
	return t
}

// packOffsets is the stage that packs all weights: output channels side by side, shifts one below another, zeros for output channels that do
// not exist.
type packOffsets struct{ *offsetConv }

// Name names the stage.
func (p packOffsets) Name() string { return p.offsetConv.Name() + ", packing weights" }

// RunGroup packs a core group's share of the blocks of output channels.
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

// fewChannels refuses shapes that do not suit vectors of output channels.
func fewChannels(p *Problem) error {
	return unless(byOffsets(&p.Shape), "it computes only images of fewer than %d channels or of few pixels, one group, no dilation, and at least %d output channels", manyChannels, someOutputs)
}

func byVectors(p *Problem) error {
	return firstReason(onHost(p), unless(p.Images == Planes, "it reads only planes; images are in %v", p.Images), fewChannels(p), wholeBlocks(p.Results, p.Shape.Out))
}

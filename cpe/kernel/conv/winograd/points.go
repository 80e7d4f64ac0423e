package winograd

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// sliceLanes is the number of channels of a slice: channels that are transformed together.
const sliceLanes = vwinograd.Lanes

// task is a task of Winograd's convolution with tiles of one form.
type task struct {
	*conv.Task
	form   vwinograd.Form
	fold   *imageFold // folds images on the fly, if not nil
	pooled *Pooling   // pools results, if not nil: Y and DY are then the pooled outputs and their gradient
}

// Strategies are Winograd's strategies, in order of tile size.
var Strategies = []shape.Strategy{shape.Winograd2, shape.Winograd4, shape.Winograd5}

// formOf returns the form of a strategy's tiles for a shape's kernels.
func formOf(s *shape.Conv, st shape.Strategy) vwinograd.Form {
	return vwinograd.Form{Tile: st.Tile(), Kernel: s.Kernel[0]}
}

// Has reports whether a Winograd strategy can compute the shape: square kernels with a transform, two axes, and strides of 1. Only
// the host also computes dilated convolutions.
func Has(s *shape.Conv, st shape.Strategy) bool {
	return len(s.In) == 2 && s.Kernel[0] == s.Kernel[1] && s.UnitStride() && vwinograd.Has(formOf(s, st))
}

// manyWeights reports whether a group has so many weights that the host transforms them repeatedly instead of storing them transformed. The
// limit is twice L2. For the sums of the weight gradient, which are read and written rarely, it is three times that.
func manyWeights(s *shape.Conv, spec *cpe.Spec, f vwinograd.Form, d shape.Direction) bool {
	most := 2 * spec.LDMBytes
	if d == shape.WeightGradient {
		most *= 3
	}
	return !spec.HasDMA() && 4*f.Points()*(s.C/s.Group)*(s.Out/s.Group) > most
}

// tileGrid cuts planes of outputs into tiles, and tiles into patches: rectangles of tiles of one image that are transformed together. The
// planes of a dilated convolution are sub-grids of pixels; see newSubGrids.
type tileGrid struct {
	form             vwinograd.Form
	images           int // number of images, times the vertical dilation
	down, across     int // rows and columns of tiles in a plane
	rows, cols       int // rows and columns of tiles in a patch, per plane
	bands, stripes   int // rows and columns of patches in a plane
	dilateH, dilateW int
}

// newTileGrid cuts planes into the largest patches that fit. If fits holds for a patch it must hold for smaller ones. If it does not hold for
// one tile, patches are one tile.
func newTileGrid(f vwinograd.Form, images, h, w int, fits func(rows, cols int) bool) tileGrid {
	g := tileGrid{form: f, images: images, down: tiling.Blocks(h, f.Tile), across: tiling.Blocks(w, f.Tile), dilateH: 1, dilateW: 1}
	g.cols = tiling.Even(g.across, max(1, tiling.Largest(g.across, func(n int) bool { return fits(1, n) })), 1)
	g.rows = tiling.Even(g.down, max(1, tiling.Largest(g.down, func(n int) bool { return fits(n, g.cols) })), 1)
	g.bands, g.stripes = tiling.Blocks(g.down, g.rows), tiling.Blocks(g.across, g.cols)
	return g
}

// refinedTiles is the least number of tiles of a patch that refine makes, since each core group transforms the weights for its own tiles.
const refinedTiles = 8

// refine cuts patches into fewer rows of tiles until there are n, so that more core groups than panels have work.
func (g *tileGrid) refine(n int) {
	least := tiling.Blocks(refinedTiles, g.cols*g.dilateW)
	rows := max(least, g.down/tiling.Blocks(n, g.images*g.stripes))
	g.rows = tiling.Even(g.down, min(g.rows, rows), 1)
	g.bands = tiling.Blocks(g.down, g.rows)
}

// blocking is the plan of a kernel: how its tiles are cut into patches, and patches into blocks.
type blocking struct {
	grid  tileGrid
	block int // patches in a block
}

// String describes the plan.
func (b blocking) String() string {
	g := &b.grid
	return fmt.Sprintf("%dx%[1]d tiles of %dx%[2]d kernels, %d in all, patches of %dx%d tiles, blocks of %d of %d patches",
		g.form.Tile, g.form.Kernel, g.tiles(), g.rows, g.cols, b.block, g.patches())
}

// patch is a rectangle of tiles of an image. For dilated convolutions it covers all sub-grids whose first line is phase. first is the number
// of its first tile among the tiles of all images.
type patch struct{ image, phase, row, col, rows, cols, first int }

// patches returns the number of patches of all images.
func (g *tileGrid) patches() int { return g.images * g.bands * g.stripes }

// patch returns patch i. Behind the last patch, first is the number of all tiles.
func (g *tileGrid) patch(i int) patch {
	image, band, stripe := i, 0, 0
	if g.stripes*g.bands > 1 { // avoid slow integer divisions
		image, band, stripe = i/g.stripes/g.bands, i/g.stripes%g.bands, i%g.stripes
	}
	p := patch{image: image, row: band * g.rows, col: stripe * g.cols}
	p.rows, p.cols = min(g.rows, g.down-p.row), min(g.cols, g.across-p.col)
	p.first = (image*g.down*g.across + p.row*g.across + p.col*p.rows) * g.dilateW
	if g.dilateH > 1 {
		p.image, p.phase = image/g.dilateH, image%g.dilateH
	}
	return p
}

// tiles is the number of tiles of all images; together is that of a patch.
func (g *tileGrid) tiles() int    { return g.images * g.down * g.across * g.dilateW }
func (g *tileGrid) together() int { return g.rows * g.cols * g.dilateW }

// most returns the largest number of tiles in n consecutive patches.
func (g *tileGrid) most(n int) int { return min(n*g.together(), g.tiles()) }

// pointPlanes stores tiles in the transform domain: at each point a matrix of tiles x channels, or one matrix for each panel of width
// channels.
type pointPlanes struct {
	data      []float32
	points    int
	width     int // channels in a panel
	ld, plane int
	size      int
}

// tileRows is the multiple to which micro-kernels may round up the number of rows that they read.
const tileRows = 4

// newPointPlanes lays out planes with all channels in one panel. Distances of rows and planes are odd multiples of a cache line, to avoid
// cache conflicts.
func newPointPlanes(points, tiles, channels int) pointPlanes {
	width := tiling.Blocks(channels, conv.Panel) * conv.Panel
	return pointPlanes{points: points, width: width, ld: width + sliceLanes}.close(tiles, 1)
}

// newPointPanels lays out planes whose channels are cut into panels of whole slices; each panel is contiguous.
func newPointPanels(points, tiles, channels, width int) pointPlanes {
	return pointPlanes{points: points, width: width, ld: width}.close(tiles, tiling.Blocks(channels, width))
}

// close computes the sizes of a plane and of all planes. Micro-kernels that start at any tile may read a few rows behind the last.
func (p pointPlanes) close(tiles, panels int) pointPlanes {
	p.plane = tiling.Blocks(tiles, tileRows)*tileRows*p.ld + sliceLanes
	p.size = panels*p.points*p.plane + (tileRows-1)*p.ld
	return p
}

// clearRest clears the rows behind the last tile that micro-kernels read, in planes [lo, hi). They could hold denormal numbers, which slow
// processors down.
func (p *pointPlanes) clearRest(tiles, lo, hi int) {
	if rest := tiling.Blocks(tiles, tileRows)*tileRows - tiles; rest > 0 {
		for i := lo; i < hi; i++ {
			clear(p.data[i*p.plane+tiles*p.ld:][:rest*p.ld])
		}
	}
}

// panel returns the panel of a channel, and the channel's index in it.
func (p *pointPlanes) panel(channel int) (panel, at int) {
	if channel < p.width { // avoid slow integer divisions
		return 0, channel
	}
	return channel / p.width, channel % p.width
}

// at returns the points of count tiles, from the given tile on, for a slice of channels.
func (p *pointPlanes) at(tile, slice, count int) cpe.Block {
	panel, channel := p.panel(slice * sliceLanes)
	return cpe.Block{
		Data:   tiling.From(p.data, panel*p.points*p.plane+tile*p.ld+channel),
		Planes: p.points, PlaneStride: p.plane, Rows: count, RowStride: p.ld, Cols: sliceLanes,
	}
}

// matrix returns the plane of a point from a channel to the end of its panel.
func (p *pointPlanes) matrix(point, channel int) cpe.Matrix {
	panel, channel := p.panel(channel)
	return cpe.Plain(tiling.From(p.data, (panel*p.points+point)*p.plane+channel), p.ld)
}

// noStart is the zero initial sums of products.
var noStart [conv.Panel]float32

// multiplySlices computes products at some points, for points stored slice by slice: a range of tiles, of input channels and of output
// channels (at most a panel). plane is the distance of the points in the packed weights, in values. The products overwrite the results, or
// are added to them.
func multiplySlices(inputs, results *pointPlanes, points, ins, outs, tiles tiling.Span, weights []float32, plane int, add bool) {
	a, c := inputs.at(tiles.At, ins.At/sliceLanes, 0).Data, results.at(0, outs.At/sliceLanes, 0).Data
	deep, wide := tiling.Blocks(ins.N, sliceLanes), tiling.Blocks(outs.N, sliceLanes)
	for i := range points.N {
		point := points.At + i
		vconv.PixelKernel(deep, a[point*inputs.plane:], inputs.points*inputs.plane, weights[i*plane:], noStart[:],
			c[point*results.plane:], results.points*results.plane, tiles.N, wide, add, false)
	}
}

// worker is the state of one core group.
type worker struct {
	pixels, scratch []float32
	taps            []float32 // fixed weights (sliceLayout)
	room            []float32 // memory for pooling
	to              destination
	bias            vwinograd.Bias
	strides         vwinograd.Strides
}

// destination are the images that a direction computes. bias holds their channels' biases, or nil. floor applies ReLU. above is a ReLU
// mask or nil: values are 0 where above is not greater than 0.
type destination struct {
	y, bias, above []float32
	floor          bool

	finish    op.Finish // if not nil
	all       []float32 // all results, for finish
	at, block int       // places of y and of its first block of channels in these
}

// setBias selects the biases and the ReLU of some channels.
func (w *worker) setBias(first, lanes int) {
	w.bias = unbiased
	if w.to.bias != nil {
		copy(w.bias.Add[:], w.to.bias[first:first+lanes])
	}
	if w.to.floor {
		clear(w.bias.Floor[:])
	}
}

// unbiased adds nothing and floors nothing.
var unbiased = *vwinograd.NewBias()

// fitsCore returns a function that reports whether the input squares of a patch, of the given number of planes and with channels side by
// side, fit L1.
func fitsCore(spec *cpe.Spec, f vwinograd.Form, planes int) func(rows, cols int) bool {
	return func(rows, cols int) bool { return 4*planes*patchPixels(f, f.Edge(), rows, cols) <= spec.L1Bytes/4*3 }
}

// patchPixels returns the number of values of the squares of a patch; squares have the given edge.
func patchPixels(f vwinograd.Form, edge, rows, cols int) int {
	more := edge - f.Tile
	return sliceLanes * (f.Tile*rows + more) * (f.Tile*cols + more)
}

// ownMemory is the number of values of memory that a worker needs: transposed pixels or weights, and scratch memory of the transforms.
func (g *tileGrid) ownMemory() int {
	weights := sliceLanes * sliceLanes * g.form.Taps()
	return max(g.dilateW*patchPixels(g.form, g.form.Edge(), g.rows, g.cols), weights, collectNeed(g.form)) + vwinograd.Scratch
}

// use gives the worker its memory.
func (w *worker) use(memory []float32) {
	n := len(memory) - vwinograd.Scratch
	w.pixels, w.scratch = memory[:n], memory[n:]
}

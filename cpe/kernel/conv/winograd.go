package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// Winograd's convolution of r x r kernels (Lavin and Gray 2016): outputs are cut into tiles of m x m, each of which needs a
// square of inputs of edge e = m+r-1. Squares and kernels are mapped to e^2 points, at each of which a convolution is a
// product of matrices over channels, and what comes out is mapped back:
//
//	forward, input gradient   R[p] (tiles x Out) = V[p] (tiles x C) * U[p] (C x Out)
//	weight gradient           S[p] (Out x C)     = Y[p]' (Out x tiles) * V[p] (tiles x C)
//
// So e^2 multiplications do the work of r^2*m^2. For 3x3 kernels those are 2.25 times fewer with m = 2, 4 times with m = 4,
// 4.6 times with m = 5; for 5x5 kernels 6.25 times with m = 4. Channels lie side by side, so that the maps work on vectors of
// channels, whatever the images' extents; on a modelled machine tiles do (winogradMesh).

// winogradLanes is the number of channels that are mapped together: a slice.
const winogradLanes = vwinograd.Lanes

// winogradTask is a task of Winograd's convolution.
type winogradTask struct {
	*task
	form   vwinograd.Form
	fold   *imageFold    // of images, if not nil: those that are read are not folded yet
	pooled *pooledSlices // pools results, if not nil: Y has the outputs, and DY their gradient
}

// winogradStrategies are the same in order.
var winogradStrategies = []shape.Strategy{shape.Winograd2, shape.Winograd4, shape.Winograd5}

// winogradForm is how a strategy filters with a shape's kernels.
func winogradForm(s *shape.Conv, st shape.Strategy) vwinograd.Form {
	return vwinograd.Form{Tile: st.Tile(), Kernel: s.Kernel[0]}
}

// winogradable reports whether one of Winograd's strategies can compute the shape: square kernels of images for which there are
// maps, strides 1, and dilations 1 but on the host.
func winogradable(s *shape.Conv, st shape.Strategy) bool {
	return len(s.In) == 2 && s.Kernel[0] == s.Kernel[1] && s.UnitStride() && vwinograd.Has(winogradForm(s, st))
}

// manyWeights reports whether the weights of a group are so many that the host maps them over and over again rather than keep what they
// are mapped to: more than fill L2 twice, or, for sums, which are read and written rarely, a few times.
func manyWeights(s *shape.Conv, spec *cpe.Spec, f vwinograd.Form, d shape.Direction) bool {
	most := 2 * spec.LDMBytes
	if d == shape.WeightGradient {
		most *= 3
	}
	return spec.Native() && 4*f.Points()*(s.C/s.Group)*(s.Out/s.Group) > most
}

// tileGrid cuts planes of outputs into tiles, and these into patches: runs of rows and columns of tiles of one image, which
// are mapped together. Of a dilated convolution planes are sub-grids of pixels: see newSubGrids.
type tileGrid struct {
	form             vwinograd.Form
	images           int // times lines that dilation puts between those of a sub-grid
	down, across     int // tiles of a plane
	rows, cols       int // tiles of a patch, of each of its planes
	bands, pieces    int // patches of a plane
	dilateH, dilateW int
}

// newTileGrid takes the largest patches that fit. fits must hold for patches smaller than one for which it holds; if it
// does not even for one tile, patches are that.
func newTileGrid(f vwinograd.Form, images, h, w int, fits func(rows, cols int) bool) tileGrid {
	g := tileGrid{form: f, images: images, down: tiling.Blocks(h, f.Tile), across: tiling.Blocks(w, f.Tile), dilateH: 1, dilateW: 1}
	g.cols = tiling.Even(g.across, max(1, tiling.Largest(g.across, func(n int) bool { return fits(1, n) })), 1)
	g.rows = tiling.Even(g.down, max(1, tiling.Largest(g.down, func(n int) bool { return fits(n, g.cols) })), 1)
	g.bands, g.pieces = tiling.Blocks(g.down, g.rows), tiling.Blocks(g.across, g.cols)
	return g
}

// patch is a run of rows and columns of tiles of an image, or of its sub-grids whose first line is that of the phase. first numbers its first
// tile among all.
type patch struct{ image, phase, row, col, rows, cols, first int }

// patches is the number of patches of all images.
func (g *tileGrid) patches() int { return g.images * g.bands * g.pieces }

// patch returns patch i; the one behind the last has the number of all tiles for its first.
func (g *tileGrid) patch(i int) patch {
	image, band, piece := i, 0, 0
	if g.pieces*g.bands > 1 { // dividing takes as long as some vectors
		image, band, piece = i/g.pieces/g.bands, i/g.pieces%g.bands, i%g.pieces
	}
	p := patch{image: image, row: band * g.rows, col: piece * g.cols}
	p.rows, p.cols = min(g.rows, g.down-p.row), min(g.cols, g.across-p.col)
	p.first = (image*g.down*g.across + p.row*g.across + p.col*p.rows) * g.dilateW
	if g.dilateH > 1 {
		p.image, p.phase = image/g.dilateH, image%g.dilateH
	}
	return p
}

// tiles is the number of tiles of all images, together that of a patch.
func (g *tileGrid) tiles() int    { return g.images * g.down * g.across * g.dilateW }
func (g *tileGrid) together() int { return g.rows * g.cols * g.dilateW }

// most is the largest number of tiles that n patches in a row have.
func (g *tileGrid) most(n int) int { return min(n*g.together(), g.tiles()) }

// pointPlanes are the points of tiles: at each, a matrix of tiles x channels, or one for each panel of so many channels.
type pointPlanes struct {
	data      []float32
	points    int
	width     int // channels of a panel
	ld, plane int
	size      int
}

// tileRows is a multiple of the rows that micro-kernels can do without doing more.
const tileRows = 4

// panel is how many channels of results lie side by side in transformed weights: a multiple of the columns of all micro-kernels.
const panel = 32

// newPointPlanes lays out planes. Rows and planes are odd multiples of a cache line, lest they fall on each other in a cache.
func newPointPlanes(points, tiles, channels int) pointPlanes {
	width := tiling.Blocks(channels, panel) * panel
	return pointPlanes{points: points, width: width, ld: width + winogradLanes}.close(tiles, 1)
}

// newPointPanels lays out planes whose channels are cut into panels of whole slices, each of which lies in one piece.
func newPointPanels(points, tiles, channels, width int) pointPlanes {
	return pointPlanes{points: points, width: width, ld: width}.close(tiles, tiling.Blocks(channels, width))
}

// close finds the size of planes and of all: micro-kernels that begin at any tile may read some behind the last one.
func (p pointPlanes) close(tiles, panels int) pointPlanes {
	p.plane = tiling.Blocks(tiles, tileRows)*tileRows*p.ld + winogradLanes
	p.size = panels*p.points*p.plane + (tileRows-1)*p.ld
	return p
}

// clearRest clears the rows behind those of tiles that micro-kernels read in planes [lo, hi): what memory held before may be denormal
// numbers, which processors take long for.
func (p *pointPlanes) clearRest(tiles, lo, hi int) {
	if rest := tiling.Blocks(tiles, tileRows)*tileRows - tiles; rest > 0 {
		for i := lo; i < hi; i++ {
			clear(p.data[i*p.plane+tiles*p.ld:][:rest*p.ld])
		}
	}
}

// panel is the panel of a channel, and its place there.
func (p *pointPlanes) panel(channel int) (panel, at int) {
	if channel < p.width { // dividing takes as long as some vectors
		return 0, channel
	}
	return channel / p.width, channel % p.width
}

// at is the points of a tile for a slice of channels, as a block of count tiles.
func (p *pointPlanes) at(tile, slice, count int) cpe.Block {
	panel, channel := p.panel(slice * winogradLanes)
	return cpe.Block{
		Data:   tiling.From(p.data, panel*p.points*p.plane+tile*p.ld+channel),
		Planes: p.points, PlaneStride: p.plane, Rows: count, RowStride: p.ld, Cols: winogradLanes,
	}
}

// matrix is the plane of a point from a channel on, as far as its panel goes.
func (p *pointPlanes) matrix(point, channel int) cpe.Matrix {
	panel, channel := p.panel(channel)
	return cpe.Plain(tiling.From(p.data, (panel*p.points+point)*p.plane+channel), p.ld)
}

// noStart is what products begin with.
var noStart [panel]float32

// multiplySlices makes the products at some points, where points lie slice by slice: some tiles of some inputs with their packed
// weights, of which a point has plane values, are some outputs, up to a panel, or added to them.
func multiplySlices(inputs, results *pointPlanes, points, ins, outs, tiles tiling.Span, weights []float32, plane int, add bool) {
	a, c := inputs.at(tiles.At, ins.At/winogradLanes, 0).Data, results.at(0, outs.At/winogradLanes, 0).Data
	deep, wide := tiling.Blocks(ins.N, winogradLanes), tiling.Blocks(outs.N, winogradLanes)
	for i := range points.N {
		point := points.At + i
		vconv.PixelKernel(deep, a[point*inputs.plane:], inputs.points*inputs.plane, weights[i*plane:], noStart[:],
			c[point*results.plane:], results.points*results.plane, tiles.N, wide, add, false)
	}
}

// winogradWorker is what a core group needs to itself.
type winogradWorker struct {
	pixels, scratch []float32
	room            []float32 // of one that pools results
	to              winogradOutputs
	bias            vwinograd.Bias
	strides         vwinograd.Strides
}

// winogradOutputs are images that are made, and the biases of their channels, if there are any; floor rectifies them, and where above, if
// there is any, is not above 0 they are 0.
type winogradOutputs struct {
	y, bias, above []float32
	floor          bool
}

// setBias takes what is done to the results of some channels.
func (w *winogradWorker) setBias(first, lanes int) {
	w.bias = unbiased
	if w.to.bias != nil {
		copy(w.bias.Add[:], w.to.bias[first:first+lanes])
	}
	if w.to.floor {
		clear(w.bias.Floor[:])
	}
}

// unbiased changes nothing.
var unbiased = *vwinograd.NewBias()

// fitsCore returns a function that says whether the squares of a patch of some planes fit L1, turned.
func fitsCore(spec *cpe.Spec, f vwinograd.Form, planes int) func(rows, cols int) bool {
	return func(rows, cols int) bool { return 4*planes*patchPixels(f, f.Edge(), rows, cols) <= spec.L1Bytes/4*3 }
}

// patchPixels is the number of values of the squares, of an edge, of a patch.
func patchPixels(f vwinograd.Form, edge, rows, cols int) int {
	more := edge - f.Tile
	return winogradLanes * (f.Tile*rows + more) * (f.Tile*cols + more)
}

// ownMemory is the number of values that a worker takes of its core group's memory: pixels or weights that are turned, and scratch.
func (g *tileGrid) ownMemory() int {
	weights := winogradLanes * winogradLanes * g.form.Taps()
	return max(g.dilateW*patchPixels(g.form, g.form.Edge(), g.rows, g.cols), weights, collectNeed(g.form)) + vwinograd.Scratch
}

// use gives the worker its values.
func (w *winogradWorker) use(memory []float32) {
	n := len(memory) - vwinograd.Scratch
	w.pixels, w.scratch = memory[:n], memory[n:]
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// winogradSmall computes one or both gradients of Winograd's convolution where images are small and channels few:
//
//	weight gradient   S[p] (C x Out) = V[p]' (C x tiles) * Y[p] (tiles x Out)
//	input gradient    R[p] (tiles x C) = Y[p] (tiles x Out) * U[p]' (Out x C)
//
// R is mapped with the transpose of the inputs' map to squares of gradients, which overlap and are added up, image by image. So there are
// as many tiles as forward, where the convolution with turned kernels may have more. A core group takes a block of images through all steps,
// so that their points stay in its L2. The sums over tiles are partial ones of chunks of the batch, whose number is fixed, and are added up in
// their order. Sums of Y at one point are the gradient of the biases, if it is asked for, and stand behind those. For both gradients V and R
// take turns in one place, and Y is made once.
type winogradSmall struct {
	*winogradTask
	grads   [3]bool  // those that are computed, by Direction
	grid    tileGrid // its patches are images
	images  squares
	results squares
	block   int         // images
	v, y    pointPlanes // of the inputs of a block, or R; of the results' gradient
	sums    pointPlanes // of a chunk: rows are inputs
	filters *filters
	workers []winogradWorker
}

const (
	// smallChunks is the number of partial sums of the weight gradient, and of core groups that can work on it.
	smallChunks = 8
	// leastImages is the least number of images of a chunk.
	leastImages = 2
)

// smallImages reports whether winogradSmall computes the gradients of a shape: a slice of an image fits L1, and the sums fit L2 beside a block.
func smallImages(s *shape.Conv, spec *cpe.Spec, form vwinograd.Form) bool {
	if s.Group > 1 || s.Dilated() || s.N < smallChunks*leastImages {
		return false
	}
	out := s.OutSize()
	image := patchPixels(form, form.Edge(), tiling.Blocks(out[0], form.Tile), tiling.Blocks(out[1], form.Tile))
	sums := newPointRows(form.Points(), s.C, s.Out)
	return 4*image <= spec.L1Bytes && 4*sums.size <= spec.LDMBytes/8*5
}

// newPointRows lays out points so that those of a row, a tile or a channel, lie one behind another.
func newPointRows(points, rows, channels int) pointPlanes {
	width := tiling.Blocks(channels, panel) * panel
	p := pointPlanes{points: points, width: width, plane: width, ld: points*width + winogradLanes}
	p.size = tiling.Blocks(rows, tileRows)*tileRows*p.ld + 2*panel
	return p
}

// newWinogradSmall cuts the work on one gradient or both.
func newWinogradSmall(t *winogradTask) {
	s, spec, form := &t.Shape, t.machine.Spec(), t.form
	out := s.OutSize()
	v := &winogradSmall{winogradTask: t, workers: make([]winogradWorker, spec.CoreGroups)}
	v.grads[shape.WeightGradient] = t.Direction != shape.InputGradient
	v.grads[shape.InputGradient] = t.Direction != shape.WeightGradient
	v.grid = newTileGrid(form, s.N, out[0], out[1], func(rows, cols int) bool { return true })
	v.images, v.results = t.gradSquares()
	tiles := v.grid.rows * v.grid.cols
	fit := spec.LDMBytes / 2 / 4 / (form.Points() * (s.C + s.Out) * tiles)
	v.block = tiling.Even(tiling.Blocks(s.N, smallChunks), max(1, fit), 1)
	v.v, v.y = newPointRows(form.Points(), v.block*tiles, s.C), newPointRows(form.Points(), v.block*tiles, s.Out)
	v.sums = newPointRows(form.Points(), s.C, s.Out)
	v.sums.size += v.sums.width
	weights := &winogradConv{winogradTask: t, backward: true, unturned: true, grid: v.grid, in: s.Out, out: s.C, workers: v.workers}
	v.filters = &filters{&winogradTiles{winogradConv: weights}, tiling.Blocks(s.C, panel)*s.Out*panel + winogradLanes}
	t.takes(v.needs())
	t.task.stages = v.list()
}

// list is the stages.
func (b *winogradSmall) list() []stage {
	list := []stage{{b, 0}}
	if b.grads[shape.InputGradient] {
		list = []stage{{b.filters, 0}, {b, 0}}
	}
	if b.grads[shape.WeightGradient] {
		list = append(list, stage{&smallCollect{b}, 0})
	}
	return list
}

// needs is the scratch: mapped weights and, behind them, the sums of chunks.
func (b *winogradSmall) needs() cpe.Scratch {
	common := b.sumsFrom()
	if b.grads[shape.WeightGradient] {
		common += smallChunks * b.sums.size
	}
	return cpe.Scratch{Common: common, Group: b.memory()}
}

func (b *winogradSmall) sumsFrom() int {
	if b.grads[shape.InputGradient] {
		return b.filters.size()
	}
	return 0
}

// own is the number of values that a core group works on, memory that with the points of a block.
func (b *winogradSmall) own() int    { return max(b.grid.ownMemory(), b.collectNeed()) }
func (b *winogradSmall) memory() int { return b.own() + b.v.size + b.y.size + b.pooled.room() }

// chunk gives the partial sums of a chunk their values.
func (b *winogradSmall) chunk(g *cpe.CoreGroup, i int) pointPlanes {
	sums := b.sums
	sums.data = part(g.Common(b.needs().Common), b.sumsFrom()+i*sums.size, sums.size)
	return sums
}

// Name returns "convolution" and the direction.
func (b *winogradSmall) Name() string {
	switch {
	case !b.grads[shape.WeightGradient]:
		return "convolution " + shape.InputGradient.String()
	case !b.grads[shape.InputGradient]:
		return "convolution " + shape.WeightGradient.String()
	}
	return "convolution gradients"
}

// RunGroup does a core group's share of the images or, for the weights' gradient, of the chunks.
func (b *winogradSmall) RunGroup(g *cpe.CoreGroup) error {
	w, memory, own, n := &b.workers[g.Index()], g.Memory(b.memory()), b.own(), b.Shape.N
	w.use(memory[:own])
	v, y := b.v, b.y
	v.data, y.data, w.room = memory[own:][:v.size], memory[own+v.size:][:y.size], memory[own+v.size+y.size:]
	if !b.grads[shape.WeightGradient] {
		first, last := g.Share(n)
		b.work(g, w, &v, &y, nil, first, last)
		return nil
	}
	lo, hi := g.Share(smallChunks)
	for i := lo; i < hi; i++ {
		sums := b.chunk(g, i)
		b.work(g, w, &v, &y, &sums, i*n/smallChunks, (i+1)*n/smallChunks)
	}
	return nil
}

// work makes the gradients of some images, and the sums of a chunk, which they are then.
func (b *winogradSmall) work(g *cpe.CoreGroup, w *winogradWorker, v, y, sums *pointPlanes, first, last int) {
	for at := first; at < last; at += b.block {
		end := min(last, at+b.block)
		b.enter(w, &b.results, b.args.DY, y, at, end)
		if b.grads[shape.WeightGradient] {
			b.enter(w, &b.images, b.args.X, v, at, end)
			b.addWeights(v, y, sums, end-at, at > first)
			if b.args.DB != nil {
				b.addBias(y, sums, end-at, at > first)
			}
		}
		if b.grads[shape.InputGradient] {
			b.multiply(g, v, y, end-at)
			b.leave(w, v, at, end)
		}
	}
}

// enter maps images to points.
func (b *winogradSmall) enter(w *winogradWorker, s *squares, x []float32, to *pointPlanes, first, last int) {
	slices, tiles := s.slices(), b.grid.rows*b.grid.cols
	for i := range (last - first) * slices {
		image := i / slices
		s.read(w, &b.grid, b.grid.patch(first+image), i%slices, x, to, image*tiles)
	}
}

// addWeights adds a block's products to the sums, or begins them.
func (b *winogradSmall) addWeights(v, y, sums *pointPlanes, images int, add bool) {
	tiles, made := images*b.grid.rows*b.grid.cols, tiling.Blocks(b.results.channels, winogradLanes)*winogradLanes
	_, nr := vgemm.Tile()
	for point := range v.points {
		left, right, to := v.data[point*v.plane:], y.data[point*y.plane:], sums.data[point*sums.plane:]
		for col := 0; col < made; col += nr {
			vgemm.StridedPanel(b.images.channels, min(nr, made-col), tiles, left, 1, v.ld, right[col:], y.ld, to[col:], sums.ld, add)
		}
	}
}

// biasSums are the sums of the results' gradient.
func (b *winogradSmall) biasSums(sums *pointPlanes) []float32 {
	return sums.data[sums.size-sums.width:][:b.results.channels]
}

// addBias adds a block's results' gradients to their sums, or begins these.
func (b *winogradSmall) addBias(y, sums *pointPlanes, images int, add bool) {
	to, at := b.biasSums(sums), b.grid.form.SumPoint()*y.plane
	if !add {
		clear(to)
	}
	for tile := range images * b.grid.rows * b.grid.cols {
		vec.Add(to, to, y.data[tile*y.ld+at:])
	}
}

// multiply makes the points of the images' gradient, in the place of those of the images.
func (b *winogradSmall) multiply(g *cpe.CoreGroup, v, y *pointPlanes, images int) {
	u, tiles, deep := g.Common(b.filters.size()), images*b.grid.rows*b.grid.cols, b.results.channels
	made := tiling.Blocks(b.images.channels, winogradLanes) * winogradLanes
	_, nr := vgemm.Tile()
	for point := range v.points {
		left, weights, to := y.data[point*y.plane:], b.filters.at(u, 0, point), v.data[point*v.plane:]
		for col := 0; col < made; col += nr {
			right := weights[col/panel*deep*panel+col%panel:]
			vgemm.StridedPanel(tiles, min(nr, made-col), deep, left, y.ld, 1, right, panel, to[col:], v.ld, false)
		}
	}
}

// leave adds up the squares of the images' gradient.
func (b *winogradSmall) leave(w *winogradWorker, v *pointPlanes, first, last int) {
	for image := first; image < last; image++ {
		for slice := range b.images.slices() {
			b.addSquares(w, v, slice, image, (image-first)*b.grid.rows*b.grid.cols)
		}
	}
}

// addSquares makes a slice of the gradient of an image, whose points begin with those of tile at.
func (b *winogradSmall) addSquares(w *winogradWorker, v *pointPlanes, slice, image, at int) {
	form, s := b.grid.form, &b.images
	m, edge := form.Tile, form.Edge()
	lines, pitch := m*b.grid.rows+edge-m, m*b.grid.cols+edge-m
	pixels := w.pixels[:lines*pitch*winogradLanes]
	clear(pixels)
	src := v.at(at, slice, b.grid.rows*b.grid.cols)
	w.strides = vwinograd.Strides{
		SrcRow: edge * src.PlaneStride, SrcCol: src.PlaneStride, SrcNext: src.RowStride,
		DstRow: pitch * winogradLanes, DstCol: winogradLanes, DstNext: m * winogradLanes,
	}
	for r := range b.grid.rows {
		vwinograd.Apply(form, vwinograd.InputGrad, pixels[r*m*pitch*winogradLanes:], src.Data, r*b.grid.cols*src.RowStride, &w.strides, b.grid.cols, nil, w.scratch)
	}
	first := image*s.image + slice*winogradLanes*s.h*s.w
	dx, above := b.args.DX[first:], tiling.From(b.args.Above, first)
	height, width := s.h, s.w
	if width == pitch {
		height, width = 1, height*width
	}
	for i := range height {
		line := pixels[((i+s.padH)*pitch+s.padW)*winogradLanes:]
		if s.blocks {
			at := i * s.w * winogradLanes
			copyWhere(dx[at:], line[:width*winogradLanes], tiling.From(above, at))
		} else {
			vec.Transpose(dx[i*s.w:], line, s.h*s.w, winogradLanes, width, min(winogradLanes, s.channels-slice*winogradLanes))
		}
	}
}

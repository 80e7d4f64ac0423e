package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// Small returns the algorithm small with the tiles of a strategy.
func Small(st shape.Strategy) *conv.Algorithm { return smallKind.algorithm(st) }

var smallKind = kind{
	name: "small", doc: "one gradient or both of a block of small images of few channels, in a core's cache",
	directions: []shape.Direction{shape.WeightGradient, shape.InputGradient, shape.BothGradients},
	special:    true,
	supports: func(p *conv.Problem, f vwinograd.Form) error {
		return op.Unless(p.Direction != shape.Forward && smallImages(&p.Shape, p.Spec, f), "a slice of an image does not fit L1, the sums do not fit L2, there are fewer than %d images, or there are groups or dilations", smallChunks*leastImages)
	},
	build: newSmall,
}

// smallKernel computes one or both gradients of Winograd's convolution for small images with few channels:
//
//	weight gradient   S[p] (C x Out) = V[p]' (C x tiles) * Y[p] (tiles x Out)
//	input gradient    R[p] (tiles x C) = Y[p] (tiles x Out) * U[p]' (Out x C)
//
// The transpose of the input transform turns R into squares of the input gradient. These overlap, and are summed image by image. There are as
// many tiles as in the forward direction; a convolution with rotated kernels could need more.
//
// A core group takes one block of images through all steps, so that the block's points stay in its L2. Sums over tiles are computed in a
// fixed number of chunks of the batch, and the chunks added in order. The sum of Y at one point is the bias gradient; it is stored behind the
// other sums, if asked for. If both gradients are computed, V and R share memory, and Y is computed once.
type smallKernel struct {
	*task
	grads   [3]bool  // the gradients to compute, by Direction
	grid    tileGrid // its patches are whole images
	images  squares
	results squares
	block   int         // images in a block
	chunks  int         // partial sums
	v, y    pointPlanes // points of a block: V or R, and Y
	sums    pointPlanes // sums of a chunk; rows are input channels
	filters *filters
	workers []worker
}

const (
	// smallChunks is the number of partial sums of the weight gradient of few images, chunkImages the least number of images in one of more. The number
	// of partial sums is the largest number of core groups that can work on the gradient.
	smallChunks, chunkImages = 8, 8
	// leastImages is the smallest number of images in a chunk.
	leastImages = 2
)

// smallImages reports whether smallKernel computes the gradients of a shape: a slice of an image fits L1, and the sums fit L2 beside a
// block of images.
func smallImages(s *shape.Conv, spec *cpe.Spec, form vwinograd.Form) bool {
	if s.Group > 1 || s.Dilated() || s.N < smallChunks*leastImages {
		return false
	}
	out := s.OutSize()
	image := patchPixels(form, form.Edge(), tiling.Blocks(out[0], form.Tile), tiling.Blocks(out[1], form.Tile))
	sums := newPointRows(form.Points(), s.C, s.Out)
	return 4*image <= spec.L1Bytes && 4*sums.size <= spec.LDMBytes/8*5
}

// newPointRows lays out points so that all points of a row (a tile or a channel) are contiguous.
func newPointRows(points, rows, channels int) pointPlanes {
	width := tiling.Blocks(channels, conv.Panel) * conv.Panel
	p := pointPlanes{points: points, width: width, plane: width, ld: points*width + sliceLanes}
	p.size = tiling.Blocks(rows, tileRows)*tileRows*p.ld + 2*conv.Panel
	return p
}

// newSmall plans one gradient or both.
func newSmall(t *task) {
	s, spec, form := &t.Shape, t.Machine.Spec(), t.form
	out := s.OutSize()
	v := &smallKernel{task: t, workers: make([]worker, spec.CoreGroups)}
	v.grads[shape.WeightGradient] = t.Direction != shape.InputGradient
	v.grads[shape.InputGradient] = t.Direction != shape.WeightGradient
	v.grid = newTileGrid(form, s.N, out[0], out[1], func(rows, cols int) bool { return true })
	v.images, v.results = t.gradSquares()
	tiles := v.grid.rows * v.grid.cols
	fit := spec.LDMBytes / 2 / 4 / (form.Points() * (s.C + s.Out) * tiles)
	v.sums = newPointRows(form.Points(), s.C, s.Out)
	v.sums.size += v.sums.width
	v.chunks = conv.Parts(s.N, s.N, smallChunks, chunkImages, 0) // sums fit L2, and so many images take more memory
	v.block = tiling.Even(tiling.Blocks(s.N, v.chunks), max(1, fit), 1)
	v.v, v.y = newPointRows(form.Points(), v.block*tiles, s.C), newPointRows(form.Points(), v.block*tiles, s.Out)
	weights := &convolution{task: t, backward: true, unrotated: true, grid: v.grid, in: s.Out, out: s.C, workers: v.workers}
	v.filters = newFilters(&tilesKernel{convolution: weights})
	t.Plan = blocking{v.grid, v.block} // patches are images
	t.Reserved = v.needs()
	t.Task.Stages = v.list()
}

// list returns the stages.
func (b *smallKernel) list() []conv.Stage {
	list := conv.Stages(b)
	if b.grads[shape.InputGradient] {
		list = []conv.Stage{{Program: b.filters, Packs: &b.filters.kept}, {Program: b}}
	}
	if b.grads[shape.WeightGradient] {
		list = append(list, conv.Stages(&smallCollect{b})...)
	}
	return list
}

// needs returns the scratch memory: transformed weights, followed by the sums of the chunks.
func (b *smallKernel) needs() cpe.Scratch {
	common := b.sumsFrom()
	if b.grads[shape.WeightGradient] {
		common += b.partial().Values()
	}
	return cpe.Scratch{Common: common, Group: b.memory()}
}

func (b *smallKernel) sumsFrom() int {
	if b.grads[shape.InputGradient] {
		return b.filters.size()
	}
	return 0
}

// own is the number of values of a core group's working memory; memory adds the points of a block.
func (b *smallKernel) own() int    { return max(b.grid.ownMemory(), b.collectNeed()) }
func (b *smallKernel) memory() int { return b.own() + b.v.size + b.y.size + b.pooled.room() }

// partial describes the sums of all chunks. They lie in shared memory, from sumsFrom on.
func (b *smallKernel) partial() conv.Sums { return conv.Sums{Parts: b.chunks, Size: b.sums.size} }

// chunk returns the partial sums of one chunk in shared memory.
func (b *smallKernel) chunk(g *cpe.CoreGroup, i int) pointPlanes {
	sums := b.sums
	sums.data = b.partial().Of(tiling.From(g.Common(b.needs().Common), b.sumsFrom()), i)
	return sums
}

// Name returns "convolution" and the direction.
func (b *smallKernel) Name() string {
	switch {
	case !b.grads[shape.WeightGradient]:
		return "convolution " + shape.InputGradient.String()
	case !b.grads[shape.InputGradient]:
		return "convolution " + shape.WeightGradient.String()
	}
	return "convolution gradients"
}

// RunGroup computes a core group's share of the images or, for the weight gradient, of the chunks.
func (b *smallKernel) RunGroup(g *cpe.CoreGroup) error {
	w, memory, own, n := &b.workers[g.Index()], g.Memory(b.memory()), b.own(), b.Shape.N
	w.use(memory[:own])
	v, y := b.v, b.y
	v.data, y.data, w.room = memory[own:][:v.size], memory[own+v.size:][:y.size], memory[own+v.size+y.size:]
	if !b.grads[shape.WeightGradient] {
		first, last := g.Share(n)
		b.work(g, w, &v, &y, nil, first, last)
		return nil
	}
	lo, hi := g.Share(b.chunks)
	for i := lo; i < hi; i++ {
		sums := b.chunk(g, i)
		b.work(g, w, &v, &y, &sums, i*n/b.chunks, (i+1)*n/b.chunks)
	}
	return nil
}

// work computes the gradients of images [first, last). For the weight gradient these images are one chunk, whose sums it computes.
func (b *smallKernel) work(g *cpe.CoreGroup, w *worker, v, y, sums *pointPlanes, first, last int) {
	for at := first; at < last; at += b.block {
		end := min(last, at+b.block)
		b.enter(w, &b.results, b.Args.DY, y, at, end)
		if b.grads[shape.WeightGradient] {
			b.enter(w, &b.images, b.Args.X, v, at, end)
			b.addWeights(v, y, sums, end-at, at > first)
			if b.Args.DB != nil {
				b.addBias(y, sums, end-at, at > first)
			}
		}
		if b.grads[shape.InputGradient] {
			b.multiply(g, v, y, end-at)
			b.leave(w, v, at, end)
		}
	}
}

// enter transforms images to points.
func (b *smallKernel) enter(w *worker, s *squares, x []float32, to *pointPlanes, first, last int) {
	slices, tiles := s.slices(), b.grid.rows*b.grid.cols
	for i := range (last - first) * slices {
		image := i / slices
		s.read(w, &b.grid, b.grid.patch(first+image), i%slices, x, to, image*tiles)
	}
}

// addWeights adds a block's products to the sums; with add false it overwrites the sums.
func (b *smallKernel) addWeights(v, y, sums *pointPlanes, images int, add bool) {
	tiles, cols := images*b.grid.rows*b.grid.cols, tiling.Blocks(b.results.channels, sliceLanes)*sliceLanes
	_, nr := vgemm.Tile()
	for point := range v.points {
		left, right, to := v.data[point*v.plane:], y.data[point*y.plane:], sums.data[point*sums.plane:]
		for col := 0; col < cols; col += nr {
			vgemm.StridedPanel(b.images.channels, min(nr, cols-col), tiles, left, 1, v.ld, right[col:], y.ld, to[col:], sums.ld, add)
		}
	}
}

// biasSums returns the part of the sums that is the bias gradient.
func (b *smallKernel) biasSums(sums *pointPlanes) []float32 {
	return sums.data[sums.size-sums.width:][:b.results.channels]
}

// addBias adds a block's sums of DY to the bias sums, or overwrites these.
func (b *smallKernel) addBias(y, sums *pointPlanes, images int, add bool) {
	to, at := b.biasSums(sums), b.grid.form.SumPoint()*y.plane
	if !add {
		clear(to)
	}
	for tile := range images * b.grid.rows * b.grid.cols {
		vec.Add(to, to, y.data[tile*y.ld+at:])
	}
}

// multiply computes R; it overwrites V.
func (b *smallKernel) multiply(g *cpe.CoreGroup, v, y *pointPlanes, images int) {
	u, tiles, deep := b.filters.memory(g), images*b.grid.rows*b.grid.cols, b.results.channels
	cols := tiling.Blocks(b.images.channels, sliceLanes) * sliceLanes
	_, nr := vgemm.Tile()
	for point := range v.points {
		left, weights, to := y.data[point*y.plane:], b.filters.at(u, 0, point), v.data[point*v.plane:]
		for col := 0; col < cols; col += nr {
			right := weights[col/conv.Panel*deep*conv.Panel+col%conv.Panel:]
			vgemm.StridedPanel(tiles, min(nr, cols-col), deep, left, y.ld, 1, right, conv.Panel, to[col:], v.ld, false)
		}
	}
}

// leave transforms R back and stores the input gradient.
func (b *smallKernel) leave(w *worker, v *pointPlanes, first, last int) {
	for image := first; image < last; image++ {
		for slice := range b.images.slices() {
			b.addSquares(w, v, slice, image, (image-first)*b.grid.rows*b.grid.cols)
		}
	}
}

// addSquares computes a slice of the input gradient of an image whose first tile is number at.
func (b *smallKernel) addSquares(w *worker, v *pointPlanes, slice, image, at int) {
	form, s := b.grid.form, &b.images
	m, edge := form.Tile, form.Edge()
	lines, pitch := m*b.grid.rows+edge-m, m*b.grid.cols+edge-m
	pixels := w.pixels[:lines*pitch*sliceLanes]
	clear(pixels)
	src := v.at(at, slice, b.grid.rows*b.grid.cols)
	w.strides = vwinograd.Strides{
		SrcRow: edge * src.PlaneStride, SrcCol: src.PlaneStride, SrcNext: src.RowStride,
		DstRow: pitch * sliceLanes, DstCol: sliceLanes, DstNext: m * sliceLanes,
	}
	for r := range b.grid.rows {
		vwinograd.Apply(form, vwinograd.InputGrad, pixels[r*m*pitch*sliceLanes:], src.Data, r*b.grid.cols*src.RowStride, &w.strides, b.grid.cols, nil, w.scratch)
	}
	first := image*s.image + slice*sliceLanes*s.h*s.w
	dx, above := b.Args.DX[first:], tiling.From(b.Args.Above, first)
	height, width := s.h, s.w
	if width == pitch {
		height, width = 1, height*width
	}
	for i := range height {
		line := pixels[((i+s.padH)*pitch+s.padW)*sliceLanes:]
		if s.blocks {
			at := i * s.w * sliceLanes
			copyWhere(dx[at:], line[:width*sliceLanes], tiling.From(above, at))
		} else {
			vec.Transpose(dx[i*s.w:], line, s.h*s.w, sliceLanes, width, min(sliceLanes, s.channels-slice*sliceLanes))
		}
	}
}

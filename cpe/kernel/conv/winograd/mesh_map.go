package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// meshWorker is the state of one core group.
type meshWorker struct {
	product *gemm.Nest
	job     gemm.Job
	a, b    gemm.Operand
	bias    vwinograd.Bias
	strides vwinograd.Strides
	scratch [vwinograd.Scratch]float32 // models a CPE's registers
}

// vectorNeed is the number of values of the vectors before and after a transform of sliceLanes squares.
func vectorNeed(f vwinograd.Form) int { return 2 * f.Points() * sliceLanes }

// vectors transforms n squares, sliceLanes at a time. fill interleaves the values of some squares into vectors, and empty takes the
// results out. vectors has vectorNeed values.
func (w *meshWorker) vectors(f vwinograd.Form, kind vwinograd.Map, from, to, n int, vectors []float32, fill, empty func(lanes []float32, first, n int)) {
	w.strides = vwinograd.Strides{SrcRow: from * sliceLanes, SrcCol: sliceLanes, DstRow: to * sliceLanes, DstCol: sliceLanes}
	before, behind := vectors[:f.Points()*sliceLanes], vectors[f.Points()*sliceLanes:]
	for first := 0; first < n; first += sliceLanes {
		some := min(sliceLanes, n-first)
		clear(before)
		fill(before, first, some)
		vwinograd.Apply(f, kind, behind, before, 0, &w.strides, 1, &w.bias, w.scratch[:])
		empty(behind, first, some)
	}
}

// lined returns a fill for points stored in rows of cols values; spread is the matching empty.
func lined(data []float32, cols int) func(lanes []float32, first, n int) {
	return func(lanes []float32, first, n int) {
		vec.CopyRows(lanes, sliceLanes, data[first:], cols, len(data)/cols, n)
	}
}

func spread(data []float32, cols int) func(lanes []float32, first, n int) {
	return func(lanes []float32, first, n int) {
		vec.CopyRows(data[first:], cols, lanes, sliceLanes, len(data)/cols, n)
	}
}

// transformWork is the number of additions and multiplications of each transform of one line, in the order of vwinograd.Map.
var transformWork = map[vwinograd.Form][5]int{
	{Tile: 2, Kernel: 3}: {4, 4, 7, 2, 7}, {Tile: 4, Kernel: 3}: {20, 13, 15, 12, 16},
	{Tile: 4, Kernel: 5}: {42, 22, 32, 20, 33}, {Tile: 5, Kernel: 3}: {37, 22, 21, 25, 22},
}

// meshFlops is the work of transforming n squares, and of interleaving or separating the values of squares of the given edge.
func meshFlops(f vwinograd.Form, kind vwinograd.Map, from, to, edge, n int) float64 {
	return float64(n * (transformWork[f][kind]*(from+to) + edge*edge))
}

// takeMapped allocates LDM of a CPE that transforms blocks: both blocks double-buffered, and vectors.
func takeMapped(c *cpe.CPE, f vwinograd.Form, a, b *cpe.Block) (src, dst, vectors []float32, err error) {
	c.Free()
	if err = c.Hold("winograd", a.Count()+b.Count()); err != nil {
		return nil, nil, nil, err
	}
	if src, err = c.Alloc("winograd", a.Count()); err != nil {
		return nil, nil, nil, err
	}
	if dst, err = c.Alloc("winograd", b.Count()); err != nil {
		return nil, nil, nil, err
	}
	vectors, err = c.Alloc("winograd", vectorNeed(f))
	return src, dst, vectors, err
}

// read transforms the squares of a run for one channel of the images x.
func (w *meshWorker) read(c *cpe.CPE, s *squares, g *tileRuns, r tileRun, channel int, x []float32, to cpe.Block) error {
	m, edge := g.form.Tile, g.form.Edge()
	y0, x0 := r.row*m-s.padH, r.col*m-s.padW
	top, bottom := tiling.Inside(y0, m*r.rows+s.edge-m, s.h)
	left, right := tiling.Inside(x0, m*r.cols+s.edge-m, s.w)
	block := cpe.Block{Planes: r.images, PlaneStride: s.image, Rows: bottom - top, RowStride: s.w, Cols: right - left}
	if block.Count() > 0 {
		block.Data = tiling.From(x, r.image*s.image+(channel*s.h+y0+top)*s.w+x0+left)
	}
	pixels, dst, vectors, err := takeMapped(c, g.form, &block, &to)
	if err != nil {
		return err
	}
	_, plane, row := c.Load(pixels, &block)
	c.Compute(meshFlops(g.form, s.kind, s.edge, edge, s.edge, r.tiles()), 0)
	if c.Values() {
		fill := func(lanes []float32, first, n int) {
			for lane := range n {
				image, y, x := r.place(first+lane, m)
				for i := max(0, top-y); i < min(s.edge, bottom-y); i++ {
					for j := max(0, left-x); j < min(s.edge, right-x); j++ {
						lanes[(i*s.edge+j)*sliceLanes+lane] = pixels[image*plane+(y+i-top)*row+x+j-left]
					}
				}
			}
		}
		w.vectors(g.form, s.kind, s.edge, edge, r.tiles(), vectors, fill, spread(dst, r.tiles()))
	}
	c.Store(&to, dst)
	return nil
}

// place returns the image of a run's n-th tile, and the tile's place in its patch.
func (r *tileRun) place(n, edge int) (image, y, x int) {
	return n / (r.rows * r.cols), n / r.cols % r.rows * edge, n % r.cols * edge
}

// write transforms points back to the tiles of a run, for one channel of the images y.
func (w *meshWorker) write(c *cpe.CPE, o *tilesOut, g *tileRuns, r tileRun, channel int, y []float32, bias float32, src cpe.Block) error {
	m, edge := g.form.Tile, g.form.Edge()
	lines, width := min(m*r.rows, o.h-r.row*m), min(m*r.cols, o.w-r.col*m)
	block := cpe.Block{
		Data:   tiling.From(y, r.image*o.image+(channel*o.h+r.row*m)*o.w+r.col*m),
		Planes: r.images, PlaneStride: o.image, Rows: lines, RowStride: o.w, Cols: width,
	}
	points, dst, vectors, err := takeMapped(c, g.form, &src, &block)
	if err != nil {
		return err
	}
	c.Load(points, &src)
	c.Compute(meshFlops(g.form, vwinograd.Output, edge, m, m, r.tiles()), 0)
	if c.Values() {
		w.bias = unbiased
		vec.Fill(w.bias.Add[:], bias)
		empty := func(lanes []float32, first, n int) {
			for lane := range n {
				image, y, x := r.place(first+lane, m)
				for i := range min(m, lines-y) {
					for j := range min(m, width-x) {
						dst[(image*lines+y+i)*width+x+j] = lanes[(i*m+j)*sliceLanes+lane]
					}
				}
			}
		}
		w.vectors(g.form, vwinograd.Output, edge, m, r.tiles(), vectors, lined(points, r.tiles()), empty)
	}
	c.Store(&block, dst)
	return nil
}

// mapWeights transforms n kernels to points. rotated rotates kernels by 180 degrees, for the input gradient.
func (w *meshWorker) mapWeights(c *cpe.CPE, f vwinograd.Form, kernels, to *cpe.Block, n int, rotated bool) error {
	weights, dst, vectors, err := takeMapped(c, f, kernels, to)
	if err != nil {
		return err
	}
	c.Load(weights, kernels)
	c.Compute(meshFlops(f, vwinograd.Weights, f.Kernel, f.Edge(), f.Kernel, n), 0)
	if c.Values() {
		taps := f.Taps()
		fill := func(lanes []float32, first, n int) {
			for lane := range n {
				for k := range taps {
					at := k
					if rotated {
						at = taps - 1 - k
					}
					lanes[at*sliceLanes+lane] = weights[(first+lane)*taps+k]
				}
			}
		}
		w.vectors(f, vwinograd.Weights, f.Kernel, f.Edge(), n, vectors, fill, spread(dst, n))
	}
	c.Store(to, dst)
	return nil
}

// collect transforms the sums of n kernels back, and stores them as their gradient or adds them to it.
func (w *meshWorker) collect(c *cpe.CPE, f vwinograd.Form, kernels, src *cpe.Block, n int, add bool) error {
	sums, grads, vectors, err := takeMapped(c, f, src, kernels)
	if err != nil {
		return err
	}
	c.Load(sums, src)
	work := meshFlops(f, vwinograd.WeightsGrad, f.Edge(), f.Kernel, f.Kernel, n)
	if add {
		c.Load(grads, kernels)
		work += float64(kernels.Count())
	}
	c.Compute(work, 0)
	if c.Values() {
		taps := f.Taps()
		if !add {
			clear(grads)
		}
		empty := func(lanes []float32, first, n int) {
			for lane := range n {
				for k := range taps {
					grads[(first+lane)*taps+k] += lanes[k*sliceLanes+lane]
				}
			}
		}
		w.vectors(f, vwinograd.WeightsGrad, f.Edge(), f.Kernel, n, vectors, lined(sums, n), empty)
	}
	c.Store(kernels, grads)
	return nil
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// paddedConv is the implicit strategy of a native machine, forward and for the input gradient: some images are copied with
// their padding, so that a kernel offset is a shift whatever the position (see slab), and the product of implicitConv
// gathers its second operand from there. So the column matrix is never in memory, but block by block in L2.
type paddedConv struct {
	*task
	slab    slab // of a whole image
	shifts  []int
	in, out int // channels of a group that are read and made
	images  int // that are copied at once
	split   gemm.Split
	workers []paddedWorker // a core group each
}

// paddedWorker is what a core group needs to itself.
type paddedWorker struct {
	product *gemm.Nest
	job     gemm.Job
	columns slabColumns
	plain   gemm.Operand
	flipped flipped
}

// paddedBytes bounds what copies of images take together, if there are several: a part of the cache that cores share, from which products then
// read them.
const paddedBytes = 8 << 20

func newPaddedConv(t *task) error {
	s := t.Shape
	if t.Direction == shape.InputGradient {
		s = s.Mirrored()
	}
	v := &paddedConv{task: t, in: s.C / s.Group, out: s.Out / s.Group, slab: newSlab(s, 0)}
	v.slab = newSlab(s, v.slab.outH)
	v.shifts = v.slab.shifts()
	v.images = max(1, min(s.N, paddedBytes/4/max(1, s.C*v.slab.plane)))
	shape := gemm.Shape{M: v.out, N: v.images * v.positions(), K: len(v.shifts)}
	products, err := gemm.NewNests(t.machine, shape)
	if err != nil {
		return err
	}
	spec := t.machine.Spec()
	v.split = gemm.NewSplit(&spec, products[0].Plan, shape)
	v.workers = make([]paddedWorker, spec.CoreGroups)
	for i, p := range products {
		v.workers[i] = paddedWorker{product: p, columns: slabColumns{slab: &v.slab, shifts: v.shifts, image: s.C * v.slab.plane}}
	}
	t.takes(cpe.Scratch{Common: v.values()})
	t.stages = v.list()
	return nil
}

// values is the number of values of the copies.
func (v *paddedConv) values() int { return v.images*v.slab.plane*v.in*v.Shape.Group + slabSlack }

// positions is the number of outputs of an image.
func (v *paddedConv) positions() int { return v.slab.outH * v.slab.outW }

// list is the stages: copy some images and multiply, until all have been.
func (v *paddedConv) list() []stage {
	var list []stage
	for first := 0; first < v.Shape.N; first += v.images {
		part := paddedImages{v, first, min(v.images, v.Shape.N-first)}
		list = append(list, stage{padImages{part}, 0}, stage{multiplyPadded{part}, v.split.Groups})
	}
	return list
}

// arrays are the images that are read and those that are made.
func (v *paddedConv) arrays() (x, y []float32) {
	return v.args.through(v.Direction)
}

// paddedImages are the images of one round.
type paddedImages struct {
	*paddedConv
	first, n int
}

// padImages is the stage that copies images.
type padImages struct{ paddedImages }

// Name names the stage.
func (p padImages) Name() string { return "convolution " + p.Direction.String() + ", padding" }

// RunGroup copies a core group's share of the planes.
func (p padImages) RunGroup(g *cpe.CoreGroup) error {
	l := &p.slab
	x, _ := p.arrays()
	channels := p.in * p.Shape.Group
	memory := g.Common(p.values())
	lo, hi := g.Share(p.n * channels)
	for i := lo; i < hi; i++ {
		plane := memory[i*l.plane : (i+1)*l.plane]
		clear(plane)
		l.fillPlane(plane, x[(p.first*channels+i)*l.h*l.w:][:l.h*l.w], 0, l.lines)
	}
	return nil
}

// multiplyPadded is the stage that multiplies.
type multiplyPadded struct{ paddedImages }

// Name names the stage.
func (p multiplyPadded) Name() string { return "convolution " + p.Direction.String() }

// RunGroup computes a core group's share for every group of channels.
func (p multiplyPadded) RunGroup(g *cpe.CoreGroup) error {
	w, s := &p.workers[g.Index()], &p.Shape
	memory := g.Common(p.values())
	_, y := p.arrays()
	k := len(p.shifts)
	for group := range s.Group {
		w.columns.data = memory[group*p.in*p.slab.plane:]
		w.job = gemm.Job{
			B: &w.columns, C: batch(y[p.first*s.Group*p.out*p.positions():], group, s.Group*p.out, p.out, p.positions()),
			M1: p.out, N1: p.n * p.positions(), K1: k, BiasRows: true,
		}
		weights := p.args.W[group*p.out*k:]
		if p.Direction == shape.Forward {
			w.plain.Set(cpe.Plain(weights, k), false)
			w.job.A = &w.plain
		} else {
			w.flipped.set(weights, p.out, tiling.Size(s.Kernel))
			w.job.A = &w.flipped
		}
		if bias := p.args.Bias; bias != nil {
			w.job.Bias = bias[group*p.out:]
		}
		p.split.Share(g, &w.job)
		if err := w.product.Run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

// slabColumns is the column matrix of images that lie in slabs, without storing it: row k is everything at the k-th shift.
type slabColumns struct {
	slab   *slab
	shifts []int
	data   []float32 // a group's channels of the first image
	image  int       // values from one image to the next
}

// Run is the length of contiguous runs of a block: pieces of lines.
func (v *slabColumns) Run(_, cols int) int { return min(cols, v.slab.outW) }

// Gather packs a block; the lanes of its panels are positions.
func (v *slabColumns) Gather(dst []float32, layout cpe.Layout, row, col, rows, cols int) {
	l, width := v.slab, layout.Panel
	shifts := v.shifts[row : row+rows]
	gemm.ClearTail(dst, width, cols, rows)
	positions := l.outH * l.outW
	for at := 0; at < cols; {
		image, position := (col+at)/positions, (col+at)%positions
		y, x := position/l.outW, position%l.outW
		lane := at % width
		n := min(cols-at, l.outW-x, width-lane)
		vec.GatherRows(dst[(at-lane)*rows+lane:], width, v.data[image*v.image+y*l.width+x:], shifts, n)
		at += n
	}
}

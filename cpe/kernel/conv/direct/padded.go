package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Padded is the algorithm implicit-padded.
var Padded = conv.Algorithm{
	Name: "implicit-padded", Doc: "GEMM on padded copies of the images, in which every kernel offset is a shift", Family: shape.Implicit,
	Directions: []shape.Direction{shape.Forward, shape.InputGradient},
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), conv.InPlanes(p), conv.NotStrided(p), byShifts(p))
	},
	Cost: conv.RepackedCost, Kernel: conv.Staged(newPaddedConv), Steps: steps,
	General: true,
}

// paddedConv is the host's direct convolution, forward and for the input gradient. It copies some images with their padding, so that a kernel
// offset is the same shift for every position (see slab). It then computes the product of implicitConv with a second operand gathered from
// these copies. The column matrix exists only block by block, in L2.
type paddedConv struct {
	*conv.Task
	paddedPlan
	split   gemm.Split
	workers []paddedWorker // one for each core group
}

// paddedPlan is the blocking of paddedConv.
type paddedPlan struct {
	slab    tensor.Slab // layout of a whole image's copy
	shifts  []int
	in, out int // channels of a group, of the source and of the destination
	images  int // images copied at a time
	all     int // images of the batch
	shape   gemm.Shape
	product gemm.Plan
}

// planPadded computes the blocking for a problem.
func planPadded(p *conv.Problem) (paddedPlan, error) {
	s := p.Shape
	if p.Direction == shape.InputGradient {
		s = s.Mirrored()
	}
	v := paddedPlan{in: s.C / s.Group, out: s.Out / s.Group, all: s.N, slab: tensor.NewSlab(s, 0)}
	v.slab = tensor.NewSlab(s, v.slab.OutH)
	v.shifts = v.slab.Shifts()
	v.images = max(1, min(s.N, paddedBytes/4/max(1, s.C*v.slab.Plane)))
	v.shape = gemm.Shape{M: v.out, N: v.images * v.positions(), K: len(v.shifts)}
	product, err := gemm.NewPlan(p.Spec, v.shape)
	v.product = product
	return v, err
}

// String describes the plan.
func (v paddedPlan) String() string {
	return fmt.Sprintf("padded copies of %d of %d images at a time, GEMM %v in %v", v.images, v.all, v.shape, v.product)
}

// positions is the number of results per image and channel.
func (v *paddedPlan) positions() int { return v.slab.OutH * v.slab.OutW }

// paddedWorker is the state of one core group.
type paddedWorker struct {
	product *gemm.Nest
	job     gemm.Job
	columns slabColumns
	plain   gemm.Operand
	flipped flipped
}

// paddedBytes bounds the total size of the copies if there are several. They should stay in the cache that cores share, from which the
// products read them.
const paddedBytes = 8 << 20

func newPaddedConv(t *conv.Task) error {
	blocking, err := planPadded(&t.Problem)
	if err != nil {
		return err
	}
	v, spec := &paddedConv{Task: t, paddedPlan: blocking}, t.Machine.Spec()
	v.split = gemm.NewSplit(&spec, v.product, v.shape)
	v.workers = make([]paddedWorker, spec.CoreGroups)
	for i, p := range gemm.NestsOf(t.Machine, v.shape, v.product) {
		v.workers[i] = paddedWorker{product: p, columns: slabColumns{slab: &v.slab, shifts: v.shifts, image: v.in * t.Shape.Group * v.slab.Plane}}
	}
	t.Reserved = cpe.Scratch{Common: v.values()}
	t.Plan, t.Stages = v.paddedPlan, v.list()
	return nil
}

// values is the number of values of the copies.
func (v *paddedConv) values() int { return v.images*v.slab.Plane*v.in*v.Shape.Group + tensor.Slack }

// list returns the stages: alternately copy some images and multiply.
func (v *paddedConv) list() []conv.Stage {
	var list []conv.Stage
	for first := 0; first < v.Shape.N; first += v.images {
		part := paddedImages{v, first, min(v.images, v.Shape.N-first)}
		list = append(list, conv.Stage{Program: padImages{part}}, conv.Stage{Program: multiplyPadded{part}, Groups: v.split.Groups})
	}
	return list
}

// arrays returns the source and the destination images.
func (v *paddedConv) arrays() (x, y []float32) {
	return v.Args.Through(v.Direction)
}

// paddedImages are the images of one round.
type paddedImages struct {
	*paddedConv
	first, n int
}

// padImages is the stage that copies the images of a round.
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
		plane := memory[i*l.Plane : (i+1)*l.Plane]
		clear(plane)
		l.FillPlane(plane, x[(p.first*channels+i)*l.H*l.W:][:l.H*l.W], 0, l.Lines)
	}
	return nil
}

// multiplyPadded is the stage that multiplies the images of a round.
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
		w.columns.data = memory[group*p.in*p.slab.Plane:]
		w.job = gemm.Job{
			B: &w.columns, C: batch(y[p.first*s.Group*p.out*p.positions():], group, s.Group*p.out, p.out, p.positions()),
			M1: p.out, N1: p.n * p.positions(), K1: k, BiasRows: true,
		}
		weights := p.Args.W[group*p.out*k:]
		if p.Direction == shape.Forward {
			w.plain.Set(cpe.Plain(weights, k), false)
			w.job.A = &w.plain
		} else {
			w.flipped.set(weights, p.out, tiling.Size(s.Kernel))
			w.job.A = &w.flipped
		}
		if bias := p.Args.Bias; bias != nil {
			w.job.Bias = bias[group*p.out:]
		}
		if err := multiply(g, &p.split, w.product, &w.job, p.Args.Floor); err != nil {
			return err
		}
	}
	return nil
}

// slabColumns is a view of the column matrix of images stored in slabs. Row k holds the values at the k-th shift.
type slabColumns struct {
	slab   *tensor.Slab
	shifts []int
	data   []float32 // one group's channels of the first image
	image  int       // values from one image to the next
}

// Run returns the length of contiguous runs of memory in a block: parts of lines.
func (v *slabColumns) Run(_, cols int) int { return min(cols, v.slab.OutW) }

// Gather packs a block; the lanes of a panel are positions.
func (v *slabColumns) Gather(dst []float32, layout cpe.Layout, row, col, rows, cols int) {
	l, width := v.slab, layout.Panel
	shifts := v.shifts[row : row+rows]
	gemm.ClearTail(dst, width, cols, rows)
	positions := l.OutH * l.OutW
	for at := 0; at < cols; {
		image, position := (col+at)/positions, (col+at)%positions
		y, x := position/l.OutW, position%l.OutW
		lane := at % width
		n := min(cols-at, l.OutW-x, width-lane)
		vec.GatherRows(dst[(at-lane)*rows+lane:], width, v.data[image*v.image+y*l.Width+x:], shifts, n)
		at += n
	}
}

func byShifts(p *conv.Problem) error {
	return op.Unless(conv.Shiftable(p.Shape), "kernel offsets are not shifts of a padded copy: kernels are 1x1, there are more than two axes, or strides or dilations are far larger than kernels")
}

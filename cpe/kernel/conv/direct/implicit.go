package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/im2col"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Pointwise is the algorithm implicit-pointwise.
var Pointwise = conv.Algorithm{
	Name: "implicit-pointwise", Doc: "one GEMM on the images of the whole batch, read in place, for 1x1 kernels", Family: shape.Implicit,
	Directions: conv.EveryDirection,
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), conv.InPlanes(p), op.Unless(p.Shape.Pointwise(), "it computes only 1x1 kernels without strides or padding"))
	},
	Cost:    conv.RepackedCost,
	Steps:   pointwiseSteps,
	Kernel:  conv.Staged(NewImplicit),
	General: true,
}

// pointwiseSteps are those of steps. The input gradient can also add.
func pointwiseSteps(p *conv.Problem, s op.Step) error {
	if p.Direction == shape.InputGradient {
		return op.Among(s, op.Add)
	}
	return steps(p, s)
}

// Gathered is the algorithm implicit-gathered.
var Gathered = conv.Algorithm{
	Name: "implicit-gathered", Doc: "implicit GEMM: packs panels of the column matrix straight from the images of the whole batch", Family: shape.Implicit,
	Directions: conv.EveryDirection,
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), conv.InPlanes(p), conv.NotStrided(p), op.Unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
			op.Unless(!conv.Shiftable(p.Shape), "kernel offsets are shifts of a padded copy, from which panels are packed faster"))
	},
	Cost: conv.RepackedCost, Kernel: conv.Staged(NewImplicit), Steps: steps,
	General: true,
}

// implicitConv computes a convolution as one product over the whole batch (implicit GEMM). One operand is a view of the images; no column
// matrix is written. With P positions of an output image:
//
//	forward          Y (Out x N*P)      = W (Out x Depth) * columns(X) (Depth x N*P)
//	weight gradient  dW (Out x Depth)   = dY (Out x N*P) * columns(X)' (N*P x Depth)
//	input gradient   dX (C x N*In)      = flipped(W) (C x Out*K) * columns(dY) (Out*K x N*In), strides being 1
//
// (swCaffe, section IV-B, restricts the shape of the view; here it may have any.) Core groups share rows or columns of the result. If there
// are few weights, they share a fixed number of partial sums over positions instead, which are then added.
type implicitConv struct {
	*conv.Task
	implicitPlan
	split   gemm.Split
	workers []implicitWorker // one for each core group
}

// implicitPlan is the blocking of implicitConv.
type implicitPlan struct {
	parts   int        // partial sums over positions, for the weight gradient
	shape   gemm.Shape // the product of one group of channels
	product gemm.Plan
}

// planImplicit computes the blocking for a problem.
func planImplicit(p *conv.Problem) (implicitPlan, error) {
	s := &p.Shape
	out, in, positions := s.Out/s.Group, s.C/s.Group, s.N*tiling.Size(s.OutSize())
	v := implicitPlan{parts: implicitChunks(s)}
	switch p.Direction {
	case shape.Forward:
		v.shape = gemm.Shape{M: out, N: positions, K: s.Depth()}
	case shape.WeightGradient:
		v.shape = gemm.Shape{M: out, N: s.Depth(), K: tiling.Blocks(positions, v.parts)}
	case shape.InputGradient:
		v.shape = gemm.Shape{M: in, N: s.N * tiling.Size(s.In), K: out * tiling.Size(s.Kernel)}
	}
	product, err := gemm.NewPlan(p.Spec, v.shape)
	v.product = product
	return v, err
}

// String describes the plan.
func (p implicitPlan) String() string {
	text := fmt.Sprintf("GEMM %v in %v", p.shape, p.product)
	if p.parts > 1 {
		text += fmt.Sprintf("; weight gradients in %d partial sums", p.parts)
	}
	return text
}

// implicitWorker is the state of one core group.
type implicitWorker struct {
	product *gemm.Nest
	job     gemm.Job
	a, b    gemm.Operand
	flipped flipped
	image   *im2col.View
}

func NewImplicit(t *conv.Task) error {
	s, d := &t.Shape, t.Direction
	blocking, err := planImplicit(&t.Problem)
	if err != nil {
		return err
	}
	v := &implicitConv{Task: t, implicitPlan: blocking}
	var geo *im2col.Geometry
	if !s.Pointwise() {
		if geo = im2col.NewGeometry(*s); d == shape.InputGradient {
			geo = im2col.NewGeometry(s.Mirrored())
		}
	}
	spec := t.Machine.Spec()
	plan := &v.product
	v.workers = make([]implicitWorker, spec.CoreGroups)
	for i, p := range gemm.NestsOf(t.Machine, v.shape, v.product) {
		v.workers[i].product = p
		if geo != nil {
			v.workers[i].image = im2col.NewView(geo, s.Group*geo.Channels*geo.Plane, d == shape.WeightGradient, plan.NR, plan.BK)
		}
	}
	v.split = gemm.NewSplit(&spec, *plan, v.shape)
	t.Plan, t.Stages = v.implicitPlan, []conv.Stage{{Program: v, Groups: v.groups()}}
	return t.SumParts(v.parts)
}

// Name returns "convolution" and the direction.
func (v *implicitConv) Name() string { return "convolution " + v.Direction.String() }

func (v *implicitConv) groups() int {
	if v.Direction == shape.WeightGradient && v.parts > 1 {
		return 0
	}
	return v.split.Groups
}

// RunGroup computes a core group's share for every group of channels.
func (v *implicitConv) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()]
	for group := range v.Shape.Group {
		switch v.Direction {
		case shape.Forward:
			v.forward(w, group)
		case shape.InputGradient:
			v.inputGradient(w, group)
		case shape.WeightGradient:
			if v.Partials.Count() > 0 {
				if err := v.chunks(g, w, group); err != nil {
					return err
				}
				continue
			}
			v.weightGradient(w, group, v.Args.DW)
		}
		if err := multiply(g, &v.split, w.product, &w.job, v.Args.Floor); err != nil {
			return err
		}
	}
	return nil
}

// images returns one group's channels of the images, or of their gradient, as a matrix of channels x (images x positions).
func (v *implicitConv) images(group int) cpe.Matrix {
	s := &v.Shape
	return batch(v.Args.Images(v.Direction), group, s.C, s.C/s.Group, tiling.Size(s.In))
}

// results returns the same view of the results, or of their gradient.
func (v *implicitConv) results(group int) cpe.Matrix {
	s := &v.Shape
	return batch(v.Args.Results(v.Direction), group, s.Out, s.Out/s.Group, v.positions())
}

func (v *implicitConv) positions() int {
	s := &v.Shape
	if v.Direction == shape.InputGradient {
		return tiling.Size(s.OutSize())
	}
	if geo := v.workers[0].image; geo != nil {
		return geo.Positions()
	}
	return tiling.Size(s.In)
}

// batch returns one group of channels of a batch as a matrix: rows are a plane apart, and an image's columns contiguous.
func batch(data []float32, group, channels, each, plane int) cpe.Matrix {
	return cpe.Matrix{Data: tiling.From(data, group*each*plane), Ld: plane, Run: plane, Jump: channels * plane}
}

// columns returns the view of the column matrix of m, a matrix of images.
func (w *implicitWorker) columns(m cpe.Matrix, trans bool) cpe.View {
	if w.image == nil {
		w.b.Set(m, trans)
		return &w.b
	}
	w.image.X = m.Data
	return w.image
}

func (v *implicitConv) forward(w *implicitWorker, group int) {
	out := v.shape.M
	w.a.Set(cpe.Plain(tiling.From(v.Args.W, group*out*v.shape.K), v.shape.K), false)
	w.job = gemm.Job{
		A: &w.a, B: w.columns(v.images(group), false), C: v.results(group),
		M1: out, N1: v.shape.N, K1: v.shape.K, BiasRows: true,
	}
	if v.Args.Bias != nil {
		w.job.Bias = v.Args.Bias[group*out:]
	}
}

func (v *implicitConv) inputGradient(w *implicitWorker, group int) {
	s := &v.Shape
	space := tiling.Size(s.Kernel)
	weights := tiling.From(v.Args.W, group*s.Out/s.Group*s.Depth())
	w.job = gemm.Job{B: w.columns(v.results(group), false), C: v.images(group), M1: v.shape.M, N1: v.shape.N, K1: v.shape.K, Accumulate: v.Args.Add}
	if space == 1 {
		w.a.Set(cpe.Plain(weights, v.shape.M), true)
		w.job.A = &w.a
		return
	}
	w.flipped.set(weights, v.shape.M, space)
	w.job.A = &w.flipped
}

// weightGradient prepares the job that sums over all positions into dw.
func (v *implicitConv) weightGradient(w *implicitWorker, group int, dw []float32) {
	n := v.shape.N
	w.a.Set(v.results(group), false)
	w.job = gemm.Job{
		A: &w.a, B: w.columns(v.images(group), true), C: cpe.Plain(tiling.From(dw, group*v.shape.M*n), n),
		M1: v.shape.M, N1: n, K1: v.Shape.N * v.positions(), Accumulate: true,
	}
}

// chunks computes a core group's share of the partial sums.
func (v *implicitConv) chunks(g *cpe.CoreGroup, w *implicitWorker, group int) error {
	n, all := v.Partials.Count(), v.Shape.N*v.positions()
	lo, hi := g.Share(n)
	for chunk := lo; chunk < hi; chunk++ {
		v.weightGradient(w, group, v.Partials.Of(chunk))
		w.job.Accumulate, w.job.K0, w.job.K1 = false, chunk*all/n, (chunk+1)*all/n
		if err := w.product.Run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

// maxChunks bounds the number of partial weight gradients. Only convolutions of few weights have several.
const maxChunks = 16

// implicitChunks returns the number of partial sums over positions. It is 1 if there are enough weights to keep many cores busy.
func implicitChunks(s *shape.Conv) int {
	const weights, positions = 1 << 15, 1 << 10
	if s.Out/s.Group*s.Depth() >= weights {
		return 1
	}
	return max(1, min(maxChunks, s.N*tiling.Size(s.OutSize())/positions))
}

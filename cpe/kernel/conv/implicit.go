package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/im2col"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// pointwiseAlgorithm is the algorithm implicit-pointwise.
var pointwiseAlgorithm = Algorithm{
	Name: "implicit-pointwise", Doc: "one GEMM on the images of the whole batch, read in place, for 1x1 kernels", Family: shape.Implicit,
	Directions: everyDirection,
	Supports: func(p *Problem) error {
		return firstReason(onHost(p), inPlanes(p), unless(p.Shape.Pointwise(), "it computes only 1x1 kernels without strides or padding"))
	},
	Cost:    productCost,
	Can:     func(p *Problem) Abilities { return gradientsOnly(p, AddImages) },
	Kernel:  staged(newImplicitConv),
	General: true,
}

// gatheredAlgorithm is the algorithm implicit-gathered.
var gatheredAlgorithm = Algorithm{
	Name: "implicit-gathered", Doc: "implicit GEMM: packs panels of the column matrix straight from the images of the whole batch", Family: shape.Implicit,
	Directions: everyDirection,
	Supports: func(p *Problem) error {
		return firstReason(onHost(p), inPlanes(p), stepByStep(p), unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
			unless(!shiftable(p.Shape), "kernel offsets are shifts of a padded copy, from which panels are packed faster"))
	},
	Cost: productCost, Kernel: staged(newImplicitConv),
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
	*task
	parts   int        // partial sums over positions, for the weight gradient
	shape   gemm.Shape // the product of one group of channels
	split   gemm.Split
	workers []implicitWorker // one for each core group
}

// implicitWorker is the state of one core group.
type implicitWorker struct {
	product *gemm.Nest
	job     gemm.Job
	a, b    gemm.Operand
	flipped flipped
	image   *im2col.View
}

func newImplicitConv(t *task) error {
	s, d := &t.Shape, t.Direction
	out, in, positions := s.Out/s.Group, s.C/s.Group, s.N*tiling.Size(s.OutSize())
	v := &implicitConv{task: t, parts: implicitChunks(s)}
	switch d {
	case shape.Forward:
		v.shape = gemm.Shape{M: out, N: positions, K: s.Depth()}
	case shape.WeightGradient:
		v.shape = gemm.Shape{M: out, N: s.Depth(), K: tiling.Blocks(positions, v.parts)}
	case shape.InputGradient:
		v.shape = gemm.Shape{M: in, N: s.N * tiling.Size(s.In), K: out * tiling.Size(s.Kernel)}
	}
	var geo *im2col.Geometry
	if !s.Pointwise() {
		if geo = im2col.NewGeometry(*s); d == shape.InputGradient {
			geo = im2col.NewGeometry(s.Mirrored())
		}
	}
	spec := t.machine.Spec()
	products, err := gemm.NewNests(t.machine, v.shape)
	if err != nil {
		return err
	}
	plan := &products[0].Plan
	v.workers = make([]implicitWorker, spec.CoreGroups)
	for i, p := range products {
		v.workers[i].product = p
		if geo != nil {
			v.workers[i].image = im2col.NewView(geo, s.Group*geo.Channels*geo.Plane, d == shape.WeightGradient, plan.NR, plan.BK)
		}
	}
	v.split = gemm.NewSplit(&spec, *plan, v.shape)
	t.stages = []stage{{v, v.groups()}}
	return t.sumParts(v.parts)
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
			if v.partials.Count() > 0 {
				if err := v.chunks(g, w, group); err != nil {
					return err
				}
				continue
			}
			v.weightGradient(w, group, v.args.DW)
		}
		v.split.Share(g, &w.job)
		if err := w.product.Run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

// images returns one group's channels of the images, or of their gradient, as a matrix of channels x (images x positions).
func (v *implicitConv) images(group int) cpe.Matrix {
	s := &v.Shape
	return batch(v.args.images(v.Direction), group, s.C, s.C/s.Group, tiling.Size(s.In))
}

// results returns the same view of the results, or of their gradient.
func (v *implicitConv) results(group int) cpe.Matrix {
	s := &v.Shape
	return batch(v.args.results(v.Direction), group, s.Out, s.Out/s.Group, v.positions())
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
	w.a.Set(cpe.Plain(tiling.From(v.args.W, group*out*v.shape.K), v.shape.K), false)
	w.job = gemm.Job{
		A: &w.a, B: w.columns(v.images(group), false), C: v.results(group),
		M1: out, N1: v.shape.N, K1: v.shape.K, BiasRows: true,
	}
	if v.args.Bias != nil {
		w.job.Bias = v.args.Bias[group*out:]
	}
}

func (v *implicitConv) inputGradient(w *implicitWorker, group int) {
	s := &v.Shape
	space := tiling.Size(s.Kernel)
	weights := tiling.From(v.args.W, group*s.Out/s.Group*s.Depth())
	w.job = gemm.Job{B: w.columns(v.results(group), false), C: v.images(group), M1: v.shape.M, N1: v.shape.N, K1: v.shape.K, Accumulate: v.args.Add}
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
	n, all := v.partials.Count(), v.Shape.N*v.positions()
	lo, hi := g.Share(n)
	for chunk := lo; chunk < hi; chunk++ {
		v.weightGradient(w, group, v.partials.Of(chunk))
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

package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Mesh returns the modelled machine's algorithm with the tiles of a strategy.
func Mesh(st shape.Strategy) *conv.Algorithm {
	return &conv.Algorithm{
		Name: st.String() + "-mesh", Doc: "a GEMM for each point, over the tiles of all images, on the CPE mesh of a modelled machine", Family: st, Asked: true,
		Directions: conv.EveryDirection,
		Supports: func(p *conv.Problem) error {
			s := &p.Shape
			return op.FirstReason(op.OnModel(p), conv.InPlanes(p), op.Unless(s.UnitStride() && !s.Dilated(), "strides are %v and dilations %v", s.Stride, s.Dilation), hasTransforms(p, s, st))
		},
		Declines: func(p *conv.Problem) error {
			return op.Unless(st == shape.Winograd2 || !Has(&p.Shape, shape.Winograd2), "Fang et al. 2019 have tiles of 2x2 outputs")
		},
		Kernel: func(m *cpe.Machine, p *conv.Problem) (conv.Kernel, error) {
			t := conv.NewTask(m, p)
			return t, newMesh(&task{Task: t, form: formOf(&p.Shape, st)}, meshPoints)
		},
	}
}

// meshKernel is Winograd's convolution on a modelled machine, whose DMA needs long contiguous blocks. At each point, inputs and results are
// matrices of channels x tiles, with the tiles of all images side by side:
//
//	forward          R[p] (Out x tiles) = U[p] (Out x C) * V[p] (C x tiles)
//	input gradient   R[p] (C x tiles)   = U[p]' (C x Out) * V[p] (Out x tiles)
//	weight gradient  S[p] (Out x C)     = Y[p] (Out x tiles) * V[p]' (tiles x C)
//
// A CPE transforms a run of tiles of one channel: it reads lines of images in place and writes a row of each point's matrix. Products read
// and write rows. These are the e^2 products of (B*T x Ni) and (Ni x No) of Fang 2019, chapter 5, stored by columns as swGEMM expects its
// operands.
//
// Weights are transformed first. Then, block of tiles by block of tiles, core groups share the transforms of the sources' runs, the products
// of the points, and the inverse transforms of the results' runs. For the weight gradient the last step is by output channels: their sums are
// transformed back and added. The fields are the arrays of these steps, in their order.
type meshKernel struct {
	*task
	runs        tileRuns
	block       int // number of runs in a block
	chunks      int // number of parts of a point's product
	sources     squares
	results     squares  // squares of DY, for the weight gradient
	sinks       tilesOut // results, in the other directions
	weights     pointRows
	inputs      pointRows // points of the source; for the weight gradient, of X
	outputs     pointRows // points of the destination; for the weight gradient, of DY
	workers     []meshWorker
	most        int        // kernels of an output channel that are transformed together
	outs, ins   int        // output and input channels of a group's weights
	multiplying gemm.Shape // shape of one part of a product
}

// meshPoints bounds the number of values of a block's points for each core group, because this computer must hold the modelled main memory.
const meshPoints = 1 << 24

// newMesh plans the stages of a direction. The points of a block have at most most values for each core group, but a block has at
// least one run.
func newMesh(t *task, most int) error {
	s, d, form, spec := t.Shape, t.Direction, t.form, *t.Spec
	v := &meshKernel{task: t, outs: s.Out / s.Group, ins: s.C / s.Group}
	v.sources, v.results = t.gradSquares()
	if d == shape.InputGradient {
		m := s.Mirrored()
		v.sources.h, v.sources.w, v.sources.padH, v.sources.padW, v.sources.image = v.results.h, v.results.w, m.Pad[0], m.Pad[1], v.results.image
		s = m
	}
	out := s.OutSize()
	v.sinks = tilesOut{h: out[0], w: out[1], image: s.Out * tiling.Size(out)}
	if need := max(v.runNeed(1, 1, 1), v.weightNeed(1)); need > spec.LDMFloats() {
		return &cpe.LDMError{Kernel: "winograd", Asked: spec.Bytes(need), Have: spec.LDMBytes}
	}
	v.cut(&spec, &s, most)
	points, tiles := form.Points(), v.runs.most(v.block*v.runs.together)
	v.weights = pointRows{points, t.Shape.Out, v.ins}
	v.inputs, v.outputs = pointRows{points, s.C, tiles}, pointRows{points, s.Out, tiles}
	plan, err := v.planProducts(&spec, [...]gemm.Shape{
		shape.Forward:        {M: v.outs, N: tiles, K: v.ins},
		shape.InputGradient:  {M: v.ins, N: tiles, K: v.outs, TransA: true},
		shape.WeightGradient: {M: v.outs, N: v.ins, K: tiles, TransB: true},
	}[d])
	if err != nil {
		return err
	}
	products := gemm.NestsOf(t.Machine, v.multiplying, plan)
	v.workers = make([]meshWorker, len(products))
	for i, p := range products {
		v.workers[i].product = p
	}
	t.Plan = blocking{v.runs.tileGrid, v.block * v.runs.together}
	t.Reserved = cpe.Scratch{Common: v.weights.size() + v.inputs.size() + v.outputs.size()}
	t.Stages = v.list()
	return nil
}

// cut cuts the tiles of a convolution into runs and these into blocks, and the kernels of an output channel into groups that are transformed
// together.
func (v *meshKernel) cut(spec *cpe.Spec, s *shape.Conv, points int) {
	out := s.OutSize()
	tiles := s.N * tiling.Blocks(out[0], v.form.Tile) * tiling.Blocks(out[1], v.form.Tile)
	most := max(leastRun, tiling.Blocks(tiles*min(s.C, s.Out), spec.CPEs()*spec.CoreGroups))
	v.runs = newTileRuns(v.form, s.N, out[0], out[1], most, func(images, rows, cols int) bool {
		return v.runNeed(images, rows, cols) <= spec.LDMFloats()
	})
	n := spec.CoreGroups * points / (v.form.Points() * (s.C + s.Out)) / v.runs.most(v.runs.together)
	v.block = tiling.Even(v.runs.count(), max(1, n), 1)
	v.most = tiling.Even(v.ins, tiling.Largest(v.ins, func(n int) bool { return v.weightNeed(n) <= spec.LDMFloats() }), 1)
}

// planProducts cuts the columns of each point's product into the number of parts that minimises the core groups' time. With one part, some
// groups may have a point more than others; with many, each part reads all rows again.
func (v *meshKernel) planProducts(spec *cpe.Spec, s gemm.Shape) (best gemm.Plan, err error) {
	points, cols, shortest := v.Shape.Group*v.weights.points, s.N, 0.0
	for chunks := 1; chunks <= spec.CoreGroups/gcd(points, spec.CoreGroups); chunks++ {
		s.N = tiling.Blocks(cols, chunks)
		plan, err := gemm.NewMeshPlan(spec, s)
		if err != nil {
			return plan, err
		}
		if t := gemm.MeshNs(spec, s, plan) * float64(tiling.Blocks(points*chunks, spec.CoreGroups)); shortest == 0 || t < shortest {
			v.chunks, v.multiplying, best, shortest = chunks, s, plan, t
		}
	}
	return best, nil
}

// gcd returns the greatest common divisor.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// runNeed returns the number of values of LDM for transforming a run: pixels and points, both double-buffered, and vectors.
func (v *meshKernel) runNeed(images, rows, cols int) int {
	m, more := v.form.Tile, v.form.Edge()-v.form.Tile
	pixels := max(min(m*rows+more, v.sources.h)*min(m*cols+more, v.sources.w), m*rows*m*cols)
	return 2*images*(pixels+v.form.Points()*rows*cols) + vectorNeed(v.form)
}

// weightNeed returns the number of values of LDM for transforming n kernels of an output channel, or for adding their gradient.
func (v *meshKernel) weightNeed(n int) int {
	return 2*n*(v.form.Taps()+v.form.Points()) + vectorNeed(v.form)
}

// list returns the stages. The modelled machine has memory for all tiles' points at once, as sw_winograd_conv of swDNNv1.0 allocates it, and
// starts threads once for each step. Blocks are this computer's: the steps of all but the first go on in these threads.
func (v *meshKernel) list() []conv.Stage {
	var list []conv.Stage
	if v.Direction != shape.WeightGradient {
		list = append(list, conv.Stages(&meshWeights{v})...)
	}
	for first := 0; first < v.runs.count(); first += v.block {
		b := meshBlock{v, first, min(v.runs.count(), first+v.block)}
		last := cpe.Program(&meshLeave{b})
		if v.Direction == shape.WeightGradient {
			last = &meshCollect{b}
		}
		for _, p := range []cpe.Program{&meshEnter{b}, &meshMultiply{b}, last} {
			list = append(list, conv.Stage{Program: p, Resumed: first > 0})
		}
	}
	return list
}

// Name returns "convolution" and the direction.
func (v *meshKernel) Name() string { return "convolution " + v.Direction.String() }

// values returns the memory of the points of the weights, the source and the destination.
func (v *meshKernel) values(g *cpe.CoreGroup) (weights, inputs, outputs []float32) {
	nu, nv, nr := v.weights.size(), v.inputs.size(), v.outputs.size()
	all := g.Common(nu + nv + nr)
	return tiling.Part(all, 0, nu), tiling.Part(all, nu, nv), tiling.Part(all, nu+nv, nr)
}

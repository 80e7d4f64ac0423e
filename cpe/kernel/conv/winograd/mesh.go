package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// Mesh returns the modelled machine's algorithm with the tiles of a strategy.
func Mesh(st shape.Strategy) *conv.Algorithm {
	return &conv.Algorithm{
		Name: st.String() + "-mesh", Doc: "a GEMM for each point, over the tiles of all images, on the CPE mesh of a modelled machine", Family: st, Asked: true,
		Directions: conv.EveryDirection,
		Supports: func(p *conv.Problem) error {
			s := &p.Shape
			return conv.FirstReason(conv.OnModel(p), conv.InPlanes(p), conv.Unless(s.UnitStride() && !s.Dilated(), "strides are %v and dilations %v", s.Stride, s.Dilation), hasTransforms(p, s, st))
		},
		Declines: func(p *conv.Problem) error {
			return conv.Unless(st == shape.Winograd2 || !Has(&p.Shape, shape.Winograd2), "Fang et al. 2019 have tiles of 2x2 outputs")
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
// transformed back and added.
type meshKernel struct {
	*task
	runs        tileRuns
	block       int // number of runs in a block
	chunks      int // number of parts of a point's product
	read        squares
	results     squares  // squares of DY, for the weight gradient
	write       tilesOut // results, in the other directions
	weights     pointRows
	inputs      pointRows // points of the source; for the weight gradient, of X
	made        pointRows // points of the destination; for the weight gradient, of DY
	workers     []meshWorker
	most        int        // kernels of an output channel that are transformed together
	outs, ins   int        // output and input channels of a group's weights
	multiplying gemm.Shape // shape of one part of a product
}

// meshPoints bounds the number of values of a block's points for each core group, because this computer must hold the modelled main memory.
const meshPoints = 1 << 24

// leastRun is the smallest number of tiles to which runs are cut to occupy more CPEs: DMA needs blocks of 256 bytes (swCaffe, section III-A).
const leastRun = 64

// pointRows lays out points: at each point a matrix of rows x cols.
type pointRows struct{ points, rows, cols int }

// size is the number of values.
func (p *pointRows) size() int { return p.points * p.rows * p.cols }

// at returns n columns of a row, from col on, at all points.
func (p *pointRows) at(data []float32, row, col, n int) cpe.Block {
	return cpe.Block{Data: tiling.From(data, row*p.cols+col), Planes: p.points, PlaneStride: p.rows * p.cols, Rows: 1, RowStride: n, Cols: n}
}

// matrix returns the matrix of a point from a row on.
func (p *pointRows) matrix(data []float32, point, row int) cpe.Matrix {
	return cpe.Plain(tiling.From(data, (point*p.rows+row)*p.cols), p.cols)
}

// tileRuns cuts the tiles of all images into runs that one CPE transforms together: all tiles of some images, or a patch of one.
type tileRuns struct {
	tileGrid
	together int // images in a run
}

// tileRun is the same patch of each of some images. Runs of equal extents cost the same.
type tileRun struct {
	patch
	images, kind int
}

// newTileRuns cuts images into runs of at most most tiles that fit LDM.
func newTileRuns(f vwinograd.Form, images, h, w, most int, fits func(images, rows, cols int) bool) tileRuns {
	g := tileRuns{newTileGrid(f, images, h, w, func(rows, cols int) bool { return rows*cols <= most && fits(1, rows, cols) }), 1}
	if g.bands*g.pieces == 1 {
		g.together = tiling.Even(images, max(1, tiling.Largest(images, func(n int) bool { return n*g.rows*g.cols <= most && fits(n, g.rows, g.cols) })), 1)
	}
	return g
}

// count returns the number of runs.
func (g *tileRuns) count() int { return tiling.Blocks(g.patches(), g.together) }

// run returns run i. Behind the last run, first is the number of all tiles.
func (g *tileRuns) run(i int) tileRun {
	r := tileRun{patch: g.patch(min(i*g.together, g.patches())), images: 1}
	if g.together > 1 {
		r.images = min(g.together, g.images-r.image)
	}
	r.kind = r.images*g.bands*g.pieces + i%(g.bands*g.pieces)
	return r
}

// tiles returns the number of the run's tiles.
func (r *tileRun) tiles() int { return r.images * r.rows * r.cols }

// between returns the number of tiles of runs [first, last).
func (g *tileRuns) between(first, last int) int { return g.run(last).first - g.run(first).first }

// newMesh plans the stages of a direction. The points of a block have at most most values for each core group, but a block has at
// least one run.
func newMesh(t *task, most int) error {
	s, d, form, spec := t.Shape, t.Direction, t.form, *t.Spec
	v := &meshKernel{task: t, outs: s.Out / s.Group, ins: s.C / s.Group}
	v.read, v.results = t.gradSquares()
	if d == shape.InputGradient {
		m := s.Mirrored()
		v.read.h, v.read.w, v.read.padH, v.read.padW, v.read.image = v.results.h, v.results.w, m.Pad[0], m.Pad[1], v.results.image
		s = m
	}
	out := s.OutSize()
	v.write = tilesOut{h: out[0], w: out[1], image: s.Out * tiling.Size(out)}
	if need := max(v.runNeed(1, 1, 1), v.weightNeed(1)); need > spec.LDMFloats() {
		return &cpe.LDMError{Kernel: "winograd", Asked: 4 * need, Have: spec.LDMBytes}
	}
	v.cut(&spec, &s, most)
	points, tiles := form.Points(), v.runs.most(v.block*v.runs.together)
	v.weights = pointRows{points, t.Shape.Out, v.ins}
	v.inputs, v.made = pointRows{points, s.C, tiles}, pointRows{points, s.Out, tiles}
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
	t.Reserved = cpe.Scratch{Common: v.weights.size() + v.inputs.size() + v.made.size()}
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
	pixels := max(min(m*rows+more, v.read.h)*min(m*cols+more, v.read.w), m*rows*m*cols)
	return 2*images*(pixels+v.form.Points()*rows*cols) + vectorNeed(v.form)
}

// weightNeed returns the number of values of LDM for transforming n kernels of an output channel, or for adding their gradient.
func (v *meshKernel) weightNeed(n int) int {
	return 2*n*(v.form.Taps()+v.form.Points()) + vectorNeed(v.form)
}

// list returns the stages.
func (v *meshKernel) list() []conv.Stage {
	var list []conv.Stage
	if v.Direction != shape.WeightGradient {
		list = append(list, conv.Stages(&meshWeights{v})...)
	}
	for first := 0; first < v.runs.count(); first += v.block {
		b := meshBlock{v, first, min(v.runs.count(), first+v.block)}
		list = append(list, conv.Stages(&meshEnter{b}, &meshMultiply{b})...)
		if v.Direction == shape.WeightGradient {
			list = append(list, conv.Stages(&meshCollect{b})...)
		} else {
			list = append(list, conv.Stages(&meshLeave{b})...)
		}
	}
	return list
}

// Name returns "convolution" and the direction.
func (v *meshKernel) Name() string { return "convolution " + v.Direction.String() }

// values returns the memory of the points of the weights, the source and the destination.
func (v *meshKernel) values(g *cpe.CoreGroup) (weights, inputs, made []float32) {
	nu, nv, nr := v.weights.size(), v.inputs.size(), v.made.size()
	all := g.Common(nu + nv + nr)
	return tiling.Part(all, 0, nu), tiling.Part(all, nu, nv), tiling.Part(all, nu+nv, nr)
}

// meshBlock is the work on runs [first, last).
type meshBlock struct {
	*meshKernel
	first, last int
}

// eachRun runs work on the CPEs for a core group's share of the block: runs times channels. Calls cost the same if their runs have equal
// extents and their channels are on the same side of differ.
func (b *meshBlock) eachRun(g *cpe.CoreGroup, channels, differ int, work func(c *cpe.CPE, r tileRun, channel, at int) error) error {
	before := b.runs.run(b.first).first
	lo, hi := g.Share((b.last - b.first) * channels)
	return stream.InTurn(g, hi-lo, 0, func(c *cpe.CPE, i int) error {
		r, channel := b.runs.run(b.first+(lo+i)/channels), (lo+i)%channels
		key := 2 * r.kind
		if channel >= differ {
			key++
		}
		if g.Charged(c, key) {
			return nil
		}
		err := work(c, r, channel, r.first-before)
		g.Remember(c, key)
		return err
	})
}

// meshEnter is the stage that transforms the sources.
type meshEnter struct{ meshBlock }

// Name names the stage.
func (e *meshEnter) Name() string { return e.meshKernel.Name() + ", mapping images" }

// RunGroup transforms a core group's share.
func (e *meshEnter) RunGroup(g *cpe.CoreGroup) error {
	_, inputs, made := e.values(g)
	w, args, channels := &e.workers[g.Index()], e.Args, e.inputs.rows
	x, all := args.X, channels
	switch e.Direction {
	case shape.InputGradient:
		x = args.DY
	case shape.WeightGradient:
		all += e.made.rows
	}
	return e.eachRun(g, all, channels, func(c *cpe.CPE, r tileRun, channel, at int) error {
		if channel < channels {
			return w.read(c, &e.read, &e.runs, r, channel, x, e.inputs.at(inputs, channel, at, r.tiles()))
		}
		channel -= channels
		return w.read(c, &e.results, &e.runs, r, channel, args.DY, e.made.at(made, channel, at, r.tiles()))
	})
}

// meshMultiply is the stage that computes the products.
type meshMultiply struct{ meshBlock }

// RunGroup computes a core group's share of the products.
func (p *meshMultiply) RunGroup(g *cpe.CoreGroup) error {
	weights, inputs, made := p.values(g)
	w, tiles, points := &p.workers[g.Index()], p.runs.between(p.first, p.last), p.inputs.points
	s := &p.multiplying
	cols, depth := tiles, s.K
	if p.Direction == shape.WeightGradient {
		cols, depth = p.ins, tiles
	}
	lo, hi := g.Share(p.Shape.Group * points * p.chunks)
	for i := lo; i < hi; i++ {
		group, point, chunk := i/p.chunks/points, i/p.chunks%points, i%p.chunks
		w.job = gemm.Job{A: &w.a, B: &w.b, M1: s.M, N0: chunk * s.N, N1: min(cols, (chunk+1)*s.N), K1: depth}
		u := p.weights.matrix(weights, point, group*p.outs)
		if p.Direction == shape.WeightGradient {
			w.a.Set(p.made.matrix(made, point, group*p.outs), false)
			w.b.Set(p.inputs.matrix(inputs, point, group*p.ins), true)
			w.job.C = u
		} else {
			w.a.Set(u, s.TransA)
			w.b.Set(p.inputs.matrix(inputs, point, group*s.K), false)
			w.job.C = p.made.matrix(made, point, group*s.M)
		}
		if err := w.product.Run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

// meshLeave is the stage that transforms results back.
type meshLeave struct{ meshBlock }

// Name names the stage.
func (l *meshLeave) Name() string { return l.meshKernel.Name() + ", mapping back" }

// RunGroup transforms a core group's share.
func (l *meshLeave) RunGroup(g *cpe.CoreGroup) error {
	_, _, made := l.values(g)
	w, args, channels := &l.workers[g.Index()], l.Args, l.made.rows
	_, y := args.Through(l.Direction)
	return l.eachRun(g, channels, channels, func(c *cpe.CPE, r tileRun, channel, at int) error {
		bias := float32(0)
		if args.Bias != nil {
			bias = args.Bias[channel]
		}
		return w.write(c, &l.write, &l.runs, r, channel, y, bias, l.made.at(made, channel, at, r.tiles()))
	})
}

// eachWeight runs work on the CPEs for a core group's share of the weights: some input channels of an output channel.
func (v *meshKernel) eachWeight(g *cpe.CoreGroup, work func(c *cpe.CPE, out int, ins tiling.Span) error) error {
	chunks := tiling.Blocks(v.ins, v.most)
	lo, hi := g.Share(v.weights.rows * chunks)
	return stream.InTurn(g, hi-lo, 0, func(c *cpe.CPE, i int) error {
		out, ins := (lo+i)/chunks, tiling.Nth((lo+i)%chunks, v.most, v.ins)
		key := 0
		if ins.N < v.most {
			key = 1
		}
		if g.Charged(c, key) {
			return nil
		}
		err := work(c, out, ins)
		g.Remember(c, key)
		return err
	})
}

// kernels returns the weights, or their gradient, of some input channels of an output channel.
func (v *meshKernel) kernels(out int, ins tiling.Span) cpe.Block {
	taps := v.form.Taps()
	w := v.Args.W
	if v.Direction == shape.WeightGradient {
		w = v.Args.DW
	}
	return stream.Line(w, (out*v.ins+ins.At)*taps, ins.N*taps)
}

// meshWeights is the stage that transforms the weights.
type meshWeights struct{ *meshKernel }

// Name names the stage.
func (m *meshWeights) Name() string { return m.meshKernel.Name() + ", mapping weights" }

// RunGroup transforms a core group's share.
func (m *meshWeights) RunGroup(g *cpe.CoreGroup) error {
	weights, _, _ := m.values(g)
	return m.eachWeight(g, func(c *cpe.CPE, out int, ins tiling.Span) error {
		kernels, to := m.kernels(out, ins), m.weights.at(weights, out, ins.At, ins.N)
		return m.workers[g.Index()].mapWeights(c, m.form, &kernels, &to, ins.N, m.Direction == shape.InputGradient)
	})
}

// meshCollect is the stage that transforms the sums of a block back to kernels, and adds them to the weight gradient.
type meshCollect struct{ meshBlock }

// Name names the stage.
func (m *meshCollect) Name() string { return m.meshKernel.Name() + ", collecting" }

// RunGroup collects a core group's share.
func (m *meshCollect) RunGroup(g *cpe.CoreGroup) error {
	sums, _, _ := m.values(g)
	return m.eachWeight(g, func(c *cpe.CPE, out int, ins tiling.Span) error {
		kernels, src := m.kernels(out, ins), m.weights.at(sums, out, ins.At, ins.N)
		return m.workers[g.Index()].collect(c, m.form, &kernels, &src, ins.N, m.first > 0 || m.Args.Add)
	})
}

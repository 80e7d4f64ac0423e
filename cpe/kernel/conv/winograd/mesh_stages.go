package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

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
	_, inputs, outputs := e.values(g)
	w, args, channels := &e.workers[g.Index()], e.Args, e.inputs.rows
	x, all := args.X, channels
	switch e.Direction {
	case shape.InputGradient:
		x = args.DY
	case shape.WeightGradient:
		all += e.outputs.rows
	}
	return e.eachRun(g, all, channels, func(c *cpe.CPE, r tileRun, channel, at int) error {
		if channel < channels {
			return w.read(c, &e.sources, &e.runs, r, channel, x, e.inputs.at(inputs, channel, at, r.tiles()))
		}
		channel -= channels
		return w.read(c, &e.results, &e.runs, r, channel, args.DY, e.outputs.at(outputs, channel, at, r.tiles()))
	})
}

// meshMultiply is the stage that computes the products. Software may call a kernel for each of them, as batched_gemm of swDNNv1.0 does, whose
// sw_sgemm starts the CPEs' threads once.
type meshMultiply struct{ meshBlock }

// RunGroup computes a core group's share of the products.
func (p *meshMultiply) RunGroup(g *cpe.CoreGroup) error {
	weights, inputs, outputs := p.values(g)
	w, tiles, points := &p.workers[g.Index()], p.runs.between(p.first, p.last), p.inputs.points
	s := &p.multiplying
	cols, depth := tiles, s.K
	if p.Direction == shape.WeightGradient {
		cols, depth = p.ins, tiles
	}
	lo, hi := g.Share(p.Shape.Group * points * p.chunks)
	if g.Spec().Software.ByPoint && p.first == 0 {
		g.StartAgain(hi - lo - 1)
	}
	for i := lo; i < hi; i++ {
		group, point, chunk := i/p.chunks/points, i/p.chunks%points, i%p.chunks
		w.job = gemm.Job{A: &w.a, B: &w.b, M1: s.M, N0: chunk * s.N, N1: min(cols, (chunk+1)*s.N), K1: depth}
		u := p.weights.matrix(weights, point, group*p.outs)
		if p.Direction == shape.WeightGradient {
			w.a.Set(p.outputs.matrix(outputs, point, group*p.outs), false)
			w.b.Set(p.inputs.matrix(inputs, point, group*p.ins), true)
			w.job.C = u
		} else {
			w.a.Set(u, s.TransA)
			w.b.Set(p.inputs.matrix(inputs, point, group*s.K), false)
			w.job.C = p.outputs.matrix(outputs, point, group*s.M)
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
	_, _, outputs := l.values(g)
	w, args, channels := &l.workers[g.Index()], l.Args, l.outputs.rows
	_, y := args.Through(l.Direction)
	return l.eachRun(g, channels, channels, func(c *cpe.CPE, r tileRun, channel, at int) error {
		bias := float32(0)
		if args.Bias != nil {
			bias = args.Bias[channel]
		}
		return w.write(c, &l.sinks, &l.runs, r, channel, y, bias, l.outputs.at(outputs, channel, at, r.tiles()))
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

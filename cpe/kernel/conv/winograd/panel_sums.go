package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// PanelSums returns the algorithm panel-sums with the tiles of a strategy.
func PanelSums(st shape.Strategy) *conv.Algorithm { return panelSumsKind.algorithm(st) }

var panelSumsKind = kind{
	name: "panel-sums", doc: "adds to the weight gradient after each block of tiles; core groups share panels; for many weights or few tiles",
	directions: []shape.Direction{shape.WeightGradient},
	supports: func(p *conv.Problem, f vwinograd.Form) error {
		return op.Unless(p.Direction == shape.WeightGradient && newGradients(sketch(p, f)).sumsByPanels(), "the sums fit L2, and there is more than one block of tiles")
	},
	build: func(t *task) { newPanelSums(newGradients(t)) },
}

// panelSumsKernel is Winograd's weight gradient for many weights, or few tiles. A core group multiplies a block of the output channels by
// a panel of the input channels at all points, so that the sums stay in L2. It transforms them to kernels at once.
type panelSumsKernel struct {
	*gradients
	v, y            pointPlanes // points of a group's X and DY, slice by slice
	sums            pointPlanes // sums of a block of output channels and a panel
	outBlock, panel int         // output channels of such a block; input channels of a panel
}

// gradPanel is the largest number of input channels of a panel.
const gradPanel = 6 * sliceLanes

// newPanelSums cuts the output channels into blocks of whole slices, so that sums take at most two thirds of L2.
func newPanelSums(c *gradients) {
	spec := c.Spec
	v := &panelSumsKernel{gradients: c}
	points, tiles := v.grid.form.Points(), v.grid.most(v.block)
	v.panel = tiling.Even(v.in, gradPanel, sliceLanes)
	v.outBlock = tiling.Even(v.out, max(sliceLanes, spec.LDMBytes/3*2/4/points/v.panel), sliceLanes)
	v.v, v.y = newPointPanels(points, tiles, v.in, shape.BlockLanes), newPointPanels(points, tiles, v.out, shape.BlockLanes)
	v.sums = newPointPanels(points, v.outBlock, v.panel, v.panel)
	v.Plan = blocking{v.grid, v.block}
	v.Reserved = cpe.Scratch{Common: v.v.size + v.y.size, Group: v.memory()}
	v.Task.Stages = v.list()
}

// memory is the number of values of a core group's own memory.
func (v *panelSumsKernel) memory() int { return v.grid.ownMemory() + v.sums.size }

// list returns the stages.
func (v *panelSumsKernel) list() []conv.Stage {
	var list []conv.Stage
	for group := range v.Shape.Group {
		for first := 0; first < v.grid.patches(); first += v.block {
			b := gradPanelsBlock{v, group, first, min(v.grid.patches(), first+v.block)}
			list = append(list, conv.Stages(&gradPanelsEnter{b}, &gradPanelsMultiply{b})...)
		}
	}
	return list
}

// gradPanelsBlock is the work on patches [first, last) of a group.
type gradPanelsBlock struct {
	*panelSumsKernel
	group, first, last int
}

// planes returns the points of X and of DY in shared memory.
func (b *gradPanelsBlock) planes(g *cpe.CoreGroup) (inputs, results pointPlanes) {
	common := g.Common(b.v.size + b.y.size)
	inputs, results = b.v, b.y
	inputs.data, results.data = tiling.Part(common, 0, b.v.size), tiling.Part(common, b.v.size, b.y.size)
	return inputs, results
}

// gradPanelsEnter is the stage that transforms X and DY.
type gradPanelsEnter struct{ gradPanelsBlock }

// Name names the stage.
func (b *gradPanelsEnter) Name() string {
	return "convolution " + shape.WeightGradient.String() + ", mapping images"
}

// RunGroup transforms a core group's share.
func (b *gradPanelsEnter) RunGroup(g *cpe.CoreGroup) error {
	b.workers[g.Index()].use(tiling.Part(g.Memory(b.memory()), 0, b.grid.ownMemory()))
	inputs, results := b.planes(g)
	b.enter(g, b.group, b.first, b.last, &inputs, &results)
	return nil
}

// gradPanelsMultiply is the stage that computes the gradient.
type gradPanelsMultiply struct{ gradPanelsBlock }

// Name returns "convolution" and the direction.
func (b *gradPanelsMultiply) Name() string { return "convolution " + shape.WeightGradient.String() }

// RunGroup computes a core group's share: rows of output channels of panels.
func (b *gradPanelsMultiply) RunGroup(g *cpe.CoreGroup) error {
	w, memory, own := &b.workers[g.Index()], g.Memory(b.memory()), b.grid.ownMemory()
	w.use(tiling.Part(memory, 0, own))
	inputs, results := b.planes(g)
	sums := b.sums
	sums.data = tiling.Part(memory, own, b.sums.size)
	mr, _ := vconv.PixelSumSize()
	rows := tiling.Blocks(b.out, mr)
	at, end := g.Share(tiling.Blocks(b.in, b.panel) * rows)
	for at < end {
		first := at % rows * mr
		outs := tiling.Span{At: first, N: min(b.outBlock-first%b.outBlock, (end-at)*mr, b.out-first)}
		ins := tiling.Span{At: at / rows * b.panel, N: min(b.panel, b.in-at/rows*b.panel)}
		b.multiply(&inputs, &results, &sums, outs, ins)
		for i := range outs.N {
			b.collectPanel(w, &sums, i, outs.At+i, ins)
		}
		at += tiling.Blocks(outs.N, mr)
	}
	b.addBiases(g, b.group, b.first, b.last, &results)
	return nil
}

// collectPanel transforms a row of sums, which is one output channel's, to kernels.
func (b *gradPanelsMultiply) collectPanel(w *worker, sums *pointPlanes, row, out int, ins tiling.Span) {
	const most = collectSlices * sliceLanes
	for in := 0; in < ins.N; in += most {
		block := sums.at(row, in/sliceLanes, 1)
		b.collect(w, block, b.group*b.out+out, ins.At+in, min(most, ins.N-in), b.Args.Add || b.first > 0)
	}
}

// multiply computes the sums of some output and input channels at all points. It prefetches the operands of the next point.
func (b *gradPanelsMultiply) multiply(inputs, results, sums *pointPlanes, outs, ins tiling.Span) {
	tiles, wide := b.tiles(b.first, b.last), tiling.Even(ins.N, sumColumns(), sliceLanes)
	var s sliceSums
	for point := range inputs.points {
		next := min(point+1, inputs.points-1)
		s.ahead = [2]sliceRun{inputs.run(next, ins), results.run(next, outs)}
		for col := 0; col < ins.N; col += wide {
			some := inputs.run(point, tiling.Span{At: ins.At + col, N: min(wide, ins.N-col)})
			s.add(results.run(point, outs), some, outs, tiles, sums.matrix(point, col), false)
		}
	}
}

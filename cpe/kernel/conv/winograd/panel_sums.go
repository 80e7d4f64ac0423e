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
// a panel of the input channels at all points, so that the sums stay in L2. It transforms them to kernels at once. If channels are few and images many,
// core groups also share parts of the sum over blocks: block b belongs to part b modulo their number, and the parts are added last.
type panelSumsKernel struct {
	*gradients
	v, y            pointPlanes     // points of a group's X and DY, slice by slice
	sums            pointPlanes     // sums of a block of output channels and a panel
	outBlock, panel int             // output channels of such a block; input channels of a panel
	parts           []conv.SumsOfDW // by group
}

// gradPanel is the largest number of input channels of a panel.
const gradPanel = 6 * sliceLanes

const (
	// manyUnits is the number of units from which on parts of the sum are not worth their memory: seven for each of 64 core groups.
	manyUnits = evenUnits * 64
	// mostBlockParts is the largest number of parts of the blocks of patches, partBlocks the least number of blocks in one.
	mostBlockParts, partBlocks = 8, 2
)

// sumParts returns the number of parts of the sum over all blocks. It depends on the problem alone, as the bits of the sum do.
func (v *gradients) sumParts() int {
	units := tiling.Blocks(v.in, 2*sliceLanes) * tiling.Blocks(v.out, sliceLanes)
	if v.Shape.N <= conv.FewImages {
		return 1
	}
	return max(1, min(mostBlockParts, tiling.Blocks(manyUnits, units), v.grid.patches()/v.block/partBlocks))
}

// newPanelSums cuts the output channels into blocks of whole slices, so that sums take at most two thirds of L2. Panels are narrower for many core groups.
func newPanelSums(c *gradients) {
	spec := c.Spec
	v := &panelSumsKernel{gradients: c}
	points := v.grid.form.Points()
	parts := conv.Sums{Parts: v.sumParts(), Size: v.out * v.in * v.grid.form.Taps()}
	mr, _ := vconv.PixelSumSize()
	v.panel = tiling.Even(v.in, gradPanel, sliceLanes)
	if most := tiling.Blocks(evenUnits*spec.CoreGroups, parts.Parts*tiling.Blocks(v.out, mr)); tiling.Blocks(v.in, v.panel) < most {
		v.panel = tiling.Even(v.in, max(sumColumns(), v.in/most), sliceLanes)
	}
	v.planStage()
	if n := parts.Parts * v.block; evenUnits*spec.CoreGroups > v.units() {
		v.stage = tiling.Blocks(v.stage, n) * n
	}
	v.outBlock = tiling.Even(v.out, max(sliceLanes, spec.LDMBytes/3*2/4/points/v.panel), sliceLanes)
	v.v, v.y = v.points(v.in), v.points(v.out)
	v.sums = newPointPanels(points, v.outBlock, v.panel, v.panel)
	v.Plan = blocking{v.grid, v.block}
	for group := range v.Shape.Group {
		v.parts = append(v.parts, conv.SumsOfDW{Task: v.Task, Sums: parts, From: v.v.size + v.y.size, To: group * parts.Size})
	}
	v.Reserved = cpe.Scratch{Common: v.v.size + v.y.size + v.parts[0].Values(), Group: v.memory()}
	v.Task.Stages = v.list()
}

// memory is the number of values of a core group's own memory.
func (v *panelSumsKernel) memory() int { return v.grid.ownMemory() + v.sums.size }

// units is the number of units of a part.
func (v *panelSumsKernel) units() int {
	mr, _ := vconv.PixelSumSize()
	return tiling.Blocks(v.in, v.panel) * tiling.Blocks(v.out, mr)
}

// list returns the stages.
func (v *panelSumsKernel) list() []conv.Stage {
	var list []conv.Stage
	for group := range v.Shape.Group {
		for first := 0; first < v.grid.patches(); first += v.stage {
			b := gradPanelsBlock{v, group, first, min(v.grid.patches(), first+v.stage)}
			list = append(list, conv.Stages(&gradPanelsEnter{b}, &gradPanelsMultiply{b})...)
		}
		if parts := &v.parts[group]; parts.Parts > 1 {
			list = append(list, conv.Stages(parts)...)
		}
	}
	return list
}

// gradPanelsBlock is the work on patches [first, last) of a group, in blocks.
type gradPanelsBlock struct {
	*panelSumsKernel
	group, first, last int
}

// planes returns the points of X and of DY in shared memory.
func (b *gradPanelsBlock) planes(g *cpe.CoreGroup) (inputs, results pointPlanes) {
	common := g.Common(b.Reserved.Common)
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

// RunGroup computes a core group's share: rows of output channels of panels, of all parts.
func (b *gradPanelsMultiply) RunGroup(g *cpe.CoreGroup) error {
	w, memory, own := &b.workers[g.Index()], g.Memory(b.memory()), b.grid.ownMemory()
	w.use(tiling.Part(memory, 0, own))
	inputs, results := b.planes(g)
	sums := b.sums
	sums.data = tiling.Part(memory, own, b.sums.size)
	mr, _ := vconv.PixelSumSize()
	rows := tiling.Blocks(b.out, mr)
	parts := min(b.parts[b.group].Parts, tiling.Blocks(b.last-b.first, b.block)) // that have a block in this stage
	at, end := g.Share(parts * b.units())
	for at < end {
		from, unit := b.first+at/b.units()*b.block, at%b.units()
		first := unit % rows * mr
		outs := tiling.Span{At: first, N: min(b.outBlock-first%b.outBlock, (end-at)*mr, b.out-first)}
		ins := tiling.Span{At: unit / rows * b.panel, N: min(b.panel, b.in-unit/rows*b.panel)}
		for p := from; p < b.last; p += b.parts[b.group].Parts * b.block {
			b.multiply(&inputs, &results, &sums, outs, ins, tiling.Span{At: p, N: min(b.block, b.last-p)})
			b.collectPanels(g, w, &sums, outs, ins, p)
		}
		at += tiling.Blocks(outs.N, mr)
	}
	b.addBiases(g, b.group, b.first, b.last, &results)
	return nil
}

// collectPanels transforms rows of the sums of the block that begins with patch first, each of which is one output channel's, to kernels. It adds them to
// those of earlier blocks of the part.
func (b *gradPanelsMultiply) collectPanels(g *cpe.CoreGroup, w *worker, sums *pointPlanes, outs, ins tiling.Span, first int) {
	const most = collectSlices * sliceLanes
	parts, block := &b.parts[b.group], first/b.block
	to, add := parts.Part(g, block%parts.Parts), block >= parts.Parts || parts.Parts == 1 && b.Args.Add
	for i := range outs.N {
		for in := 0; in < ins.N; in += most {
			b.collect(w, to, sums.at(i, in/sliceLanes, 1), outs.At+i, ins.At+in, min(most, ins.N-in), add)
		}
	}
}

// multiply computes the sums of some output and input channels at all points, over the tiles of a block of patches. It prefetches the operands of the next
// point.
func (b *gradPanelsMultiply) multiply(inputs, results, sums *pointPlanes, outs, ins, patches tiling.Span) {
	tile, tiles, wide := b.tiles(b.first, patches.At), b.tiles(patches.At, patches.End()), tiling.Even(ins.N, sumColumns(), sliceLanes)
	var s sliceSums
	for point := range inputs.points {
		next := min(point+1, inputs.points-1)
		s.ahead = [2]sliceRun{inputs.run(next, ins, tile), results.run(next, outs, tile)}
		for col := 0; col < ins.N; col += wide {
			some := inputs.run(point, tiling.Span{At: ins.At + col, N: min(wide, ins.N-col)}, tile)
			s.add(results.run(point, outs, tile), some, outs, tiles, sums.matrix(point, col), false)
		}
	}
}

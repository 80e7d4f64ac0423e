package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// Panels returns the algorithm panels with the tiles of a strategy.
func Panels(st shape.Strategy) *conv.Algorithm { return panelsKind.algorithm(st) }

var panelsKind = kind{
	name: "panels", doc: "transforms the tiles of a block once; core groups share panels of output channels; for many weights or few tiles",
	directions: []shape.Direction{shape.Forward, shape.InputGradient},
	supports: func(p *conv.Problem, f vwinograd.Form) error {
		return op.Unless(p.Direction != shape.WeightGradient && newConvolution(sketch(p, f)).byPanels(), "transformed weights fit L2 and there are enough tiles for all cores")
	},
	build: func(t *task) { newPanels(newConvolution(t)) },
}

// panelsKernel is Winograd's convolution for many weights, or few tiles. Core groups share panels of output channels. Each weight is read
// once for all tiles of a block, and transformed weights never leave L2. First, all core groups transform the sources of a block of patches.
// For a panel, a core group then transforms the weights of a chunk of input channels, multiplies at every point, and goes on to the next
// chunk. The results are summed in L2 and finally transformed to outputs. Weights that are fixed are kept in the order in which they are transformed (sliceLayout).
type panelsKernel struct {
	*convolution
	kept  op.Kept
	v, r  pointPlanes // layouts of the sources of all core groups, slice by slice, and of the results of a panel
	u     pointPlanes // layout of the weights of a panel and a chunk; rows are input channels
	chunk int
	width int // output channels in a panel
	stage int // patches of a stage, in whole blocks
}

// panelsBlock is the work on patches [first, last) of a group of channels, in blocks.
type panelsBlock struct {
	*panelsKernel
	group, first, last int
}

// panelTiles returns the number of tiles of a block. The results of a panel take up to all of L2: with larger blocks, weights are transformed
// less often.
func panelTiles(spec *cpe.Spec, f vwinograd.Form) int {
	return max(tileRows, spec.LDMBytes/4/f.Points()/conv.Panel)
}

// newPanels plans the work; transformed weights take a third of L2. If there are fewer panels than core groups, panels are slices.
func newPanels(c *convolution) {
	spec := c.Spec
	v := &panelsKernel{convolution: c, width: conv.Panel}
	if tiling.Blocks(v.out, conv.Panel) < spec.CoreGroups {
		v.width = sliceLanes
	}
	panels := tiling.Blocks(v.out, v.width)
	if panels*v.grid.patches() < spec.CoreGroups {
		v.grid.refine(tiling.Blocks(2*spec.CoreGroups, panels))
	}
	points := v.grid.form.Points()
	each := 4 * points * conv.Panel
	patches, tiles := v.grid.patches(), panelTiles(spec, v.grid.form)
	v.block = tiling.Even(patches, max(1, tiles/v.grid.together()), 1)
	v.chunk = tiling.Even(v.in, max(sliceLanes, spec.LDMBytes/3/each), sliceLanes)
	tiles = v.grid.most(v.block)
	v.v, v.r = newPointPanels(points, tiles, v.in, shape.BlockLanes), newPointPanels(points, tiles, v.width, shape.BlockLanes)
	v.stage = v.block * stageBlocks(spec, tiling.Blocks(patches, v.block), panels*min(patches, v.block), panels, v.v.size)
	v.v = newPointPanels(points, v.grid.most(v.stage), v.in, shape.BlockLanes)
	v.u = newPointPanels(points, v.chunk, conv.Panel, conv.Panel)
	v.Plan = blocking{v.grid, v.block}
	v.Reserved = cpe.Scratch{Common: v.v.size, Group: v.memory()}
	v.Task.Stages = v.list()
}

// memory is the number of values of a core group's own memory.
func (v *panelsKernel) memory() int { return v.grid.ownMemory() + v.u.size + v.r.size }

// list returns the stages: one that packs fixed weights, and two for each group and some blocks of patches.
func (v *panelsKernel) list() []conv.Stage {
	list := []conv.Stage{v.keep()}
	for group := range v.Shape.Group {
		for first := 0; first < v.grid.patches(); first += v.stage {
			b := panelsBlock{v, group, first, min(v.grid.patches(), first+v.stage)}
			list = append(list, conv.Stages(&panelsEnter{b}, &panelsMultiply{b})...)
		}
	}
	return list
}

// before is the number of tiles before the stage.
func (b *panelsBlock) before() int { return b.grid.patch(b.first).first }

// inputs returns the points of the sources in shared memory.
func (b *panelsBlock) inputs(g *cpe.CoreGroup) pointPlanes {
	inputs := b.v
	inputs.data = g.Common(b.v.size)
	return inputs
}

// panelsEnter is the stage that transforms the sources.
type panelsEnter struct{ panelsBlock }

// Name names the stage.
func (b *panelsEnter) Name() string { return b.panelsBlock.Name() + ", mapping images" }

// RunGroup transforms a core group's share of the patches' slices.
func (b *panelsEnter) RunGroup(g *cpe.CoreGroup) error {
	w, slices := &b.workers[g.Index()], b.read.slices()
	w.use(tiling.Part(g.Memory(b.memory()), 0, b.grid.ownMemory()))
	x, _ := b.arrays(b.group)
	inputs := b.inputs(g)
	lo, hi := g.Share((b.last - b.first) * slices)
	for i := lo; i < hi; i++ {
		p := b.grid.patch(b.first + i/slices)
		b.read.read(w, &b.grid, p, i%slices, x, &inputs, p.first-b.before())
	}
	return nil
}

// panelsMultiply is the stage that computes outputs from transformed sources.
type panelsMultiply struct{ panelsBlock }

// RunGroup computes a core group's share of the patches of all panels, block by block: whole panels, and parts of panels at either end of its share.
func (b *panelsMultiply) RunGroup(g *cpe.CoreGroup) error {
	w, memory, own := &b.workers[g.Index()], g.Memory(b.memory()), b.grid.ownMemory()
	w.use(tiling.Part(memory, 0, own))
	if b.Args.Fixed != nil {
		w.taps = b.kept.Memory(g, b.Args.Fixed, b.kept.Size)
	}
	inputs, weights, results := b.inputs(g), b.u, b.r
	weights.data, results.data = tiling.Part(memory, own, b.u.size), tiling.Part(memory, own+b.u.size, b.r.size)
	panels := tiling.Blocks(b.out, b.width)
	at, end := g.Share(panels * (b.last - b.first))
	for at < end {
		block := at / (panels * b.block) * b.block
		patches, unit := min(b.block, b.last-b.first-block), at-panels*block
		outs := tiling.Span{At: unit / patches * b.width, N: min(b.width, b.out-unit/patches*b.width)}
		some := tiling.Span{At: b.first + block + unit%patches, N: min(patches-unit%patches, end-at)}
		b.outputsOf(w, outs, some, &inputs, &weights, &results)
		at += some.N
	}
	return nil
}

// outputsOf computes the outputs of a panel in some patches.
func (b *panelsMultiply) outputsOf(w *worker, outs, patches tiling.Span, inputs, weights, results *pointPlanes) {
	slices := tiling.Blocks(outs.N, sliceLanes)
	first := b.grid.patch(patches.At).first
	tiles := tiling.Span{At: first - b.before(), N: b.grid.patch(patches.End()).first - first}
	for k0 := 0; k0 < b.in; k0 += b.chunk {
		ins := tiling.Span{At: k0, N: min(b.chunk, b.in-k0)}
		b.mapChunk(w, outs, ins, weights)
		multiplySlices(inputs, results, tiling.Span{At: 0, N: inputs.points}, ins, tiling.Span{At: 0, N: outs.N}, tiles, weights.data, weights.plane, k0 > 0)
	}
	w.to = b.outputs(b.group, outs.At)
	for slice := range slices {
		lanes := min(sliceLanes, outs.N-slice*sliceLanes)
		for i := patches.At; i < patches.End(); i++ {
			p := b.grid.patch(i)
			b.write.write(w, &b.grid, p, slice, lanes, results, p.first-first)
		}
	}
}

// mapChunk transforms the weights of a panel of output channels and a chunk of input channels. Missing input channels of the last slice get
// zeros.
func (b *panelsMultiply) mapChunk(w *worker, outs, ins tiling.Span, weights *pointPlanes) {
	for out := 0; out < outs.N; out += sliceLanes {
		some := tiling.Span{At: outs.At + out, N: min(sliceLanes, outs.N-out)}
		for in := 0; in < ins.N; in += sliceLanes {
			few := tiling.Span{At: ins.At + in, N: min(sliceLanes, ins.N-in)}
			if target := weights.at(in, out/sliceLanes, few.N); b.Args.Fixed == nil {
				b.mapWeights(w, b.group, some, few, target)
			} else {
				b.mapTaps(w, w.taps[b.slices().at(b.group, some.At/sliceLanes, few.At):], few.N, target)
			}
		}
	}
	if all := tiling.Blocks(ins.N, sliceLanes) * sliceLanes; all > ins.N {
		for point := range weights.points {
			clear(weights.matrix(point, 0).Data[ins.N*conv.Panel : all*conv.Panel])
		}
	}
}

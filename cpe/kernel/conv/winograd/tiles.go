package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// Tiles returns the algorithm tiles with the tiles of a strategy.
func Tiles(st shape.Strategy) *conv.Algorithm { return tilesKind.algorithm(st) }

var tilesKind = kind{
	name: "tiles", doc: "transforms all weights once; core groups share the tiles",
	directions: []shape.Direction{shape.Forward, shape.InputGradient},
	supports: func(p *conv.Problem, f vwinograd.Form) error {
		return op.Unless(p.Direction != shape.WeightGradient && !newConvolution(sketch(p, f)).byPanels(), "transformed weights do not fit L2, or there are too few tiles for all cores")
	},
	build: func(t *task) { newTiles(newConvolution(t)) },
}

// tilesKernel is Winograd's convolution with tiles shared among core groups. All weights are transformed first. A core group then
// transforms a block of patches, multiplies, and transforms the results back, before it goes on to the next block. A block's points fit L2,
// but not together with the weights. Sums over channels have the same order for any blocking.
type tilesKernel struct {
	*convolution
	v, r    pointPlanes // layouts of sources and results; each worker has its own memory
	depth   int         // input channels of one pass: their part of a panel of weights stays in L1 for all tiles of a block
	slices  bool        // points are stored slice by slice
	filters *filters
}

// fewTiles is the smallest number of tiles of a block.
const fewTiles = 24

// newTiles plans the blocks. One stage transforms the weights; the other convolves.
func newTiles(c *convolution) {
	spec := c.Spec
	v := &tilesKernel{convolution: c}
	points := v.grid.form.Points()
	each := points * (v.in + v.out)
	patches, n := v.grid.patches(), max(fewTiles, spec.LDMBytes/4/each)/v.grid.together()
	v.block = tiling.Even(patches, max(1, min(n, tiling.Blocks(patches, 4*spec.CoreGroups))), 1)
	tiles := v.grid.most(v.block)
	v.v, v.r = newPointPlanes(points, tiles, v.in), newPointPlanes(points, tiles, v.out)
	if v.slices = v.in%shape.BlockLanes == 0; v.slices {
		v.v, v.r = newPointPanels(points, tiles, v.in, shape.BlockLanes), newPointPanels(points, tiles, v.out, shape.BlockLanes)
	}
	v.depth = tiling.Even(v.in, max(64, spec.L1Bytes/4/4*3/conv.Panel), 1)
	v.filters = newFilters(v)
	v.Plan = blocking{v.grid, v.block}
	v.Reserved = cpe.Scratch{Common: v.filters.size(), Group: v.memory()}
	v.Kept = &v.filters.kept
	v.Task.Stages = []conv.Stage{{Program: v.filters, Packs: &v.filters.kept}, {Program: v}}
}

// memory is the number of values of a core group's own memory.
func (v *tilesKernel) memory() int {
	return v.grid.ownMemory() + v.v.size + v.r.size + v.pooled.room()
}

// RunGroup convolves a core group's share of the patches, block by block.
func (v *tilesKernel) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()]
	memory := g.Memory(v.memory())
	own := v.grid.ownMemory()
	w.use(tiling.Part(memory, 0, own))
	inputs, results := v.v, v.r
	inputs.data, results.data = tiling.Part(memory, own, v.v.size), tiling.Part(memory, own+v.v.size, v.r.size)
	w.room = tiling.From(memory, own+v.v.size+v.r.size)
	first, end, block := v.share(g)
	for ; first < end; first += block {
		last := min(first+block, end)
		for group := range v.Shape.Group {
			v.enter(w, &inputs, group, first, last)
			tiles := v.grid.patch(last).first - v.grid.patch(first).first
			v.multiply(g, &inputs, &results, group, tiles)
			v.leave(w, &results, group, first, last)
		}
	}
	return nil
}

// share returns a core group's share of the patches (by the groups' measured pace) and the number of patches in its blocks.
func (v *tilesKernel) share(g *cpe.CoreGroup) (first, end, block int) {
	first, end = g.Share(v.grid.patches())
	return first, end, tiling.Even(end-first, v.block, 1)
}

// enter transforms the sources of patches [first, last).
func (v *tilesKernel) enter(w *worker, to *pointPlanes, group, first, last int) {
	x, _ := v.arrays(group)
	slices, before := v.read.slices(), v.grid.patch(first).first
	if !v.slices {
		to.clearRest(v.grid.patch(last).first-before, 0, to.points)
	}
	for i := range (last - first) * slices {
		p := v.grid.patch(first + i/slices)
		v.read.read(w, &v.grid, p, i%slices, x, to, p.first-before)
	}
}

// leave transforms results back to the outputs of patches [first, last).
func (v *tilesKernel) leave(w *worker, src *pointPlanes, group, first, last int) {
	w.to = v.outputs(group, 0)
	slices, before := tiling.Blocks(v.out, sliceLanes), v.grid.patch(first).first
	for i := range (last - first) * slices {
		p := v.grid.patch(first + i/slices)
		lanes := min(sliceLanes, v.out-i%slices*sliceLanes)
		v.write.write(w, &v.grid, p, i%slices, lanes, src, p.first-before)
	}
}

// multiply computes the results at every point.
func (v *tilesKernel) multiply(g *cpe.CoreGroup, inputs, results *pointPlanes, group, tiles int) {
	u := v.filters.memory(g)
	for point := range v.grid.form.Points() {
		weights := v.filters.at(u, group, point)
		if v.slices {
			for first := 0; first < v.out; first += conv.Panel {
				multiplySlices(inputs, results, tiling.Span{At: point, N: 1}, tiling.Span{At: 0, N: v.in}, tiling.Span{At: first, N: min(conv.Panel, v.out-first)}, tiling.Span{At: 0, N: tiles}, weights[first*v.in:], 0, false)
			}
			continue
		}
		v.multiplyPanels(inputs.matrix(point, 0), weights, results.matrix(point, 0), tiles)
	}
}

// multiplyPanels computes the results at one point; both operands are in the micro-kernel's layout.
func (v *tilesKernel) multiplyPanels(inputs cpe.Matrix, weights []float32, results cpe.Matrix, tiles int) {
	_, nr := vgemm.Tile()
	cols := tiling.Blocks(v.out, sliceLanes) * sliceLanes
	for first := 0; first < v.out; first += conv.Panel {
		for k0 := 0; k0 < v.in; k0 += v.depth {
			k := min(v.depth, v.in-k0)
			for col := first; col < min(first+conv.Panel, cols); col += nr {
				b := weights[(first/conv.Panel*v.in+k0)*conv.Panel+col%conv.Panel:]
				vgemm.StridedPanel(tiles, min(nr, cols-col), k, inputs.Data[k0:], inputs.Ld, 1, b, conv.Panel, results.Data[col:], results.Ld, k0 > 0)
			}
		}
	}
}

package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// gradients is common to the host's two Winograd weight gradients. X and DY of a block of patches are transformed and multiplied; the
// sums over tiles are transformed to kernels and stored in DW or added. sumsKernel transforms the sums once, after the last block.
// panelSumsKernel does so in every block; it serves many weights, or few tiles.
type gradients struct {
	*task
	grid    tileGrid
	in, out int // input and output channels of a group
	images  squares
	results squares
	block   int       // patches in a block
	stage   int       // patches of a stage, in whole blocks
	biases  []float64 // sums of DY, slice by slice
	workers []worker
}

// gradTiles is the number of tiles of a block, such that panels of both operands stay in L1.
const gradTiles = 128

// collectSlices is the number of slices of input channels of one output channel that are transformed to kernels together.
const collectSlices = 4

// collectNeed is the number of values that this takes: sums, kernels, transposed kernels, and scratch memory.
func collectNeed(f vwinograd.Form) int {
	return collectSlices*sliceLanes*(f.Points()+3*f.Taps()) + vwinograd.Scratch
}

// newGradients plans the blocks.
func newGradients(t *task) *gradients {
	s, form, spec := &t.Shape, t.form, *t.Spec
	v := &gradients{task: t, in: s.C / s.Group, out: s.Out / s.Group}
	out := s.OutSize()
	v.grid = newSubGrids(&spec, form, s, out)
	v.images, v.results = t.gradSquares()
	v.block = tiling.Even(v.grid.patches(), max(1, gradTiles/v.grid.together()), 1)
	v.biases = pages.Make[float64](s.Group * v.results.slices() * sliceLanes)
	v.workers = make([]worker, spec.CoreGroups)
	return v
}

// planStage plans the stages. Core groups share slices of patches as they transform them.
func (v *gradients) planStage() {
	patches, slices := v.grid.patches(), v.images.slices()+v.results.slices()
	points := v.grid.form.Points() * v.grid.most(v.block) * slices * sliceLanes
	v.stage = v.block * stageBlocks(v.Spec, tiling.Blocks(patches, v.block), slices*min(patches, v.block), slices*min(patches, v.block), points)
}

// points returns a layout for the points of all tiles of a stage.
func (v *gradients) points(channels int) pointPlanes {
	return newPointPanels(v.grid.form.Points(), v.grid.most(v.stage), channels, shape.BlockLanes)
}

// sumsByPanels reports whether panelSumsKernel computes the weight gradient, else sumsKernel.
func (v *gradients) sumsByPanels() bool {
	return v.block >= v.grid.patches() || manyWeights(&v.Shape, v.Spec, v.form, shape.WeightGradient)
}

// tiles returns the number of tiles of patches [first, last).
func (v *gradients) tiles(first, last int) int {
	return v.grid.patch(last).first - v.grid.patch(first).first
}

// enter transforms a core group's share of X and DY in patches [first, last) of a group.
func (v *gradients) enter(g *cpe.CoreGroup, group, first, last int, inputs, results *pointPlanes) {
	w := &v.workers[g.Index()]
	x := v.images.of(v.Args.X, group, v.Shape.Group)
	y := tiling.From(v.Args.DY, group*v.out*v.results.h*v.results.w)
	n, slices, before := v.images.slices(), v.images.slices()+v.results.slices(), v.grid.patch(first).first
	lo, hi := g.Share((last - first) * slices)
	for i := lo; i < hi; i++ {
		p, slice := v.grid.patch(first+i/slices), i%slices
		if slice < n {
			v.images.read(w, &v.grid, p, slice, x, inputs, p.first-before)
		} else {
			v.results.read(w, &v.grid, p, slice-n, y, results, p.first-before)
		}
	}
}

// collect transforms the sums of output channel out and of lanes input channels, from channel first on, to kernels. It stores them in dw or
// adds them.
func (v *gradients) collect(w *worker, dw []float32, block cpe.Block, out, first, lanes int, add bool) {
	form := v.grid.form
	r, taps := form.Kernel, form.Taps()
	slices := tiling.Blocks(lanes, sliceLanes)
	n := slices * sliceLanes
	grads := dw[(out*v.in+first)*taps:]
	kernels, transposed := w.pixels[:taps*n], w.pixels[taps*n:2*taps*n]
	w.strides = vwinograd.Strides{
		SrcRow: form.Edge() * block.PlaneStride, SrcCol: block.PlaneStride, SrcNext: sliceLanes,
		DstRow: r * sliceLanes, DstCol: sliceLanes, DstNext: taps * sliceLanes,
	}
	vwinograd.Apply(form, vwinograd.WeightsGrad, kernels, block.Data, 0, &w.strides, slices, nil, w.scratch)
	if !add {
		transposed = grads
	}
	for i := range slices {
		at := i * taps * sliceLanes
		vec.Transpose(transposed[at:], kernels[at:], taps, sliceLanes, taps, min(sliceLanes, lanes-i*sliceLanes))
	}
	if add {
		vec.Add(grads[:lanes*taps], grads[:lanes*taps], transposed)
	}
}

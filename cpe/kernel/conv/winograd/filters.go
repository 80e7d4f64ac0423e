package winograd

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// filters is the stage before tilesKernel that transforms the weights. For each group and point it stores them in panels of output
// channels, with one row for each input channel: a packed right operand.
type filters struct {
	conv  *tilesKernel
	plane int // values in one point's weights
	kept  op.Kept
}

// filterInputs is the number of input channels, of a slice of output channels, that are transformed together.
const filterInputs = 8

// size is the number of values of all groups' transformed weights.
func (f *filters) size() int {
	return f.conv.Shape.Group * f.conv.grid.form.Points() * f.plane
}

// newFilters makes the stage for a kernel.
func newFilters(v *tilesKernel) *filters {
	f := &filters{conv: v, plane: tiling.Blocks(v.out, conv.Panel)*v.in*conv.Panel + sliceLanes}
	f.kept = op.Kept{Layout: fmt.Sprint("winograd ", v.grid.form, v.Shape.Group, v.in, v.out, v.backward, v.unrotated), Size: f.size()}
	return f
}

// memory returns the place of all transformed weights.
func (f *filters) memory(g *cpe.CoreGroup) []float32 {
	return f.kept.Memory(g, f.conv.Args.Fixed, f.size())
}

// at returns the panels of a group and point.
func (f *filters) at(u []float32, group, point int) []float32 {
	return tiling.From(u, (group*f.conv.grid.form.Points()+point)*f.plane)
}

// Name names the stage.
func (f *filters) Name() string { return f.conv.Name() + ", mapping weights" }

// RunGroup transforms a core group's share of the weights.
func (f *filters) RunGroup(g *cpe.CoreGroup) error {
	v := f.conv
	w := &v.workers[g.Index()]
	w.use(tiling.Part(g.Memory(v.memory()), 0, v.grid.ownMemory()))
	u := f.memory(g)
	slices, chunks := tiling.Blocks(v.out, sliceLanes), tiling.Blocks(v.in, filterInputs)
	lo, hi := g.Share(v.Shape.Group * slices * chunks)
	for i := lo; i < hi; i++ {
		group, out, in := i/chunks/slices, i/chunks%slices*sliceLanes, i%chunks*filterInputs
		outs, ins := tiling.Span{At: out, N: min(sliceLanes, v.out-out)}, tiling.Span{At: in, N: min(filterInputs, v.in-in)}
		v.mapWeights(w, group, outs, ins, cpe.Block{
			Data:   tiling.From(f.at(u, group, 0), (out/conv.Panel*v.in+in)*conv.Panel+out%conv.Panel),
			Planes: v.grid.form.Points(), PlaneStride: f.plane, Rows: ins.N, RowStride: conv.Panel, Cols: sliceLanes,
		})
	}
	return nil
}

// slices is the order in which weights are transformed.
func (v *convolution) slices() sliceLayout {
	return sliceLayout{v.Shape.Group, v.in, v.out, v.grid.form.Taps(), v.backward}
}

// mapWeights transforms the weights of a slice of output channels and a few input channels to target, in which each input channel is a row.
func (v *convolution) mapWeights(w *worker, group int, outs, ins tiling.Span, target cpe.Block) {
	taps := w.pixels[:ins.N*v.grid.form.Taps()*sliceLanes]
	v.slices().pack(taps, v.Args.W, group, outs, ins)
	v.mapTaps(w, taps, ins.N, target)
}

// mapTaps transforms packed weights of a slice and some input channels. The input gradient reads kernels backward (rotated by 180 degrees) unless unrotated is set.
func (v *convolution) mapTaps(w *worker, taps []float32, inputs int, target cpe.Block) {
	form, first := v.grid.form, 0
	w.strides = vwinograd.Strides{
		SrcRow: form.Kernel * sliceLanes, SrcCol: sliceLanes, SrcNext: form.Taps() * sliceLanes,
		DstRow: form.Edge() * target.PlaneStride, DstCol: target.PlaneStride, DstNext: target.RowStride,
	}
	if v.backward && !v.unrotated {
		first = (form.Taps() - 1) * sliceLanes
		w.strides.SrcRow, w.strides.SrcCol = -w.strides.SrcRow, -w.strides.SrcCol
	}
	vwinograd.Apply(form, vwinograd.Weights, target.Data, taps, first, &w.strides, inputs, nil, w.scratch)
}

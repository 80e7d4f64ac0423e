package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// filters is the stage before winogradTiles that maps its weights to points. For each group and point they lie in panels of
// output channels, in each the inputs one below another: the right operand of a product, packed.
type filters struct {
	conv  *winogradTiles
	plane int // values of a point
}

// filterInputs is how many inputs of a slice of outputs are mapped together.
const filterInputs = 8

// size is the number of values of all groups.
func (f *filters) size() int {
	return f.conv.Shape.Group * f.conv.grid.form.Points() * f.plane
}

// at is the panels of a group and point.
func (f *filters) at(u []float32, group, point int) []float32 {
	return tiling.From(u, (group*f.conv.grid.form.Points()+point)*f.plane)
}

// Name names the stage.
func (f *filters) Name() string { return f.conv.Name() + ", mapping weights" }

// RunGroup maps a core group's share of the weights.
func (f *filters) RunGroup(g *cpe.CoreGroup) error {
	v := f.conv
	w := &v.workers[g.Index()]
	w.use(part(g.Memory(v.memory()), 0, v.grid.ownMemory()))
	u := g.Common(f.size())
	slices, chunks := tiling.Blocks(v.out, winogradLanes), tiling.Blocks(v.in, filterInputs)
	lo, hi := g.Share(v.Shape.Group * slices * chunks)
	for i := lo; i < hi; i++ {
		group, out, in := i/chunks/slices, i/chunks%slices*winogradLanes, i%chunks*filterInputs
		outs, ins := tiling.Span{At: out, N: min(winogradLanes, v.out-out)}, tiling.Span{At: in, N: min(filterInputs, v.in-in)}
		v.mapWeights(w, group, outs, ins, cpe.Block{
			Data:   tiling.From(f.at(u, group, 0), (out/panel*v.in+in)*panel+out%panel),
			Planes: v.grid.form.Points(), PlaneStride: f.plane, Rows: ins.N, RowStride: panel, Cols: winogradLanes,
		})
	}
	return nil
}

// weights are those of outputs and inputs of a group, as they are stored, rows apart. For the input gradient inputs are outputs.
func (v *winogradConv) weights(group int, outs, ins tiling.Span) (data []float32, row int) {
	taps := v.grid.form.Taps()
	weights := v.args.W[group*v.in*v.out*taps:]
	if v.backward {
		return weights[(ins.At*v.out+outs.At)*taps:], v.out * taps
	}
	return weights[(outs.At*v.in+ins.At)*taps:], v.in * taps
}

// mapWeights maps the weights of a slice of outputs and a few inputs to points: in target an input is a row.
func (v *winogradConv) mapWeights(w *winogradWorker, group int, outs, ins tiling.Span, target cpe.Block) {
	form := v.grid.form
	taps := w.pixels[:ins.N*form.Taps()*winogradLanes]
	data, row := v.weights(group, outs, ins)
	first := v.turn(taps, data, row, outs.N, ins.N)
	w.strides = vwinograd.Strides{
		SrcRow: form.Kernel * winogradLanes, SrcCol: winogradLanes, SrcNext: form.Taps() * winogradLanes,
		DstRow: form.Edge() * target.PlaneStride, DstCol: target.PlaneStride, DstNext: target.RowStride,
	}
	if first > 0 {
		w.strides.SrcRow, w.strides.SrcCol = -w.strides.SrcRow, -w.strides.SrcCol
	}
	vwinograd.Apply(form, vwinograd.Weights, target.Data, taps, first, &w.strides, ins.N, nil, w.scratch)
}

// turn brings the outputs of each weight side by side, zero where there are none, and returns where the first weight of
// the kernels lies: at their end for the input gradient, for which they are turned by half a turn, unless they are not.
func (v *winogradConv) turn(taps, data []float32, row, lanes, inputs int) (first int) {
	each := v.grid.form.Taps()
	if lanes < winogradLanes {
		clear(taps)
	}
	if !v.backward {
		vec.Transpose(taps, data, winogradLanes, row, lanes, inputs*each)
		return 0
	}
	for i := range inputs {
		vec.Transpose(taps[i*each*winogradLanes:], data[i*row:], winogradLanes, each, lanes, each)
	}
	if v.unturned {
		return 0
	}
	return (each - 1) * winogradLanes
}

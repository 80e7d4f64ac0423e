package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// filters is the stage before a convolution that maps its weights to points. For each group and point they lie in panels of
// output channels, in each the inputs one below another: the right operand of a product, packed. For the input gradient
// kernels are turned by half a turn, and inputs are outputs. A round maps the weights of its output channels, in the place of
// those of the round before.
type filters struct {
	conv  *winogradConv
	plane int // values of a point
}

// filtersRound maps the weights of a round.
type filtersRound struct {
	*filters
	made span
}

// filterInputs is how many inputs of a slice of outputs are mapped together.
const filterInputs = 8

// filterNeed is the number of values of LDM that takes: weights as they come, turned and mapped.
func filterNeed(f simd.WinogradForm) int {
	return filterInputs*winogradLanes*(2*f.Taps()+f.Points()) + simd.WinogradScratch
}

func newFilters(v *winogradConv) *filters {
	return &filters{conv: v, plane: blocks(v.rounds[0].n, panel)*v.in*panel + winogradLanes}
}

// size is the number of values of all groups, of the longest round.
func (f *filters) size() int {
	return f.conv.conv.shape.Group * f.conv.grid.form.Points() * f.plane
}

// at is the panels of a group and point.
func (f *filters) at(u []float32, group, point int) []float32 {
	return from(u, (group*f.conv.grid.form.Points()+point)*f.plane)
}

// Name names the stage.
func (f *filters) Name() string { return f.conv.Name() + ", mapping weights" }

// RunGroup maps a core group's share of the weights.
func (f *filtersRound) RunGroup(g *cpe.CoreGroup) error {
	v := f.conv
	w := &v.workers[g.Index()]
	w.use(g, part(g.Memory(v.memory()), 0, v.grid.ownMemory()))
	u := g.Common(f.size())
	slices, chunks := blocks(f.made.n, winogradLanes), blocks(v.in, filterInputs)
	lo, hi := g.Share(v.conv.shape.Group * slices * chunks)
	return deal(g, hi-lo, func(c *cpe.CPE, i int) error {
		i += lo
		return f.read(c, w, u, i/chunks/slices, i/chunks%slices, i%chunks*filterInputs)
	})
}

// source is the weights of a slice of a round's outputs from an input on, as they are stored.
func (f *filtersRound) source(group, slice, lanes, input, inputs int) cpe.Block {
	v, taps, out := f.conv, f.conv.grid.form.Taps(), f.made.at+slice*winogradLanes
	weights := from(v.conv.args.w, group*v.in*v.out*taps)
	if v.direction == InputGradient {
		return cpe.Block{
			Data: from(weights, (input*v.out+out)*taps), Planes: 1,
			Rows: inputs, RowStride: v.out * taps, Cols: lanes * taps,
		}
	}
	return cpe.Block{
		Data: from(weights, (out*v.in+input)*taps), Planes: 1,
		Rows: lanes, RowStride: v.in * taps, Cols: inputs * taps,
	}
}

// read maps the weights of a slice of a round's outputs and a few inputs.
func (f *filtersRound) read(c *cpe.CPE, w *winogradWorker, u []float32, group, slice, input int) error {
	v := f.conv
	form := v.grid.form
	lanes, inputs := min(winogradLanes, f.made.n-slice*winogradLanes), min(filterInputs, v.in-input)
	c.Free()
	block := f.source(group, slice, lanes, input, inputs)
	came, err := c.Alloc("winograd", block.Count())
	if err != nil {
		return err
	}
	taps, err := w.take(c, w.pixels, inputs*form.Taps()*winogradLanes)
	if err != nil {
		return err
	}
	scratch, err := w.take(c, w.scratch, simd.WinogradScratch)
	if err != nil {
		return err
	}
	channel := slice * winogradLanes
	target := cpe.Block{
		Data:   from(f.at(u, group, 0), (channel/panel*v.in+input)*panel+channel%panel),
		Planes: form.Points(), PlaneStride: f.plane, Rows: inputs, RowStride: panel, Cols: winogradLanes,
	}
	made, err := c.Alloc("winograd", target.Count())
	if err != nil {
		return err
	}
	data, _, row := c.Load(came, &block)
	made, planes, next := c.Place(made, &target)
	c.Wait()
	c.Compute(winogradFlops(form, simd.WinogradWeights, form.Kernel, form.Edge(), inputs), 0)
	if c.Values() {
		first := f.turn(taps, data, row, lanes, inputs)
		w.strides = simd.WinogradStrides{
			SrcRow: form.Kernel * winogradLanes, SrcCol: winogradLanes, SrcNext: form.Taps() * winogradLanes,
			DstRow: form.Edge() * planes, DstCol: planes, DstNext: next,
		}
		if first > 0 {
			w.strides.SrcRow, w.strides.SrcCol = -w.strides.SrcRow, -w.strides.SrcCol
		}
		simd.Winograd(form, simd.WinogradWeights, made, taps, first, &w.strides, inputs, nil, scratch)
	}
	c.Store(&target, made)
	return nil
}

// turn brings the outputs of each weight side by side, zero where there are none, and returns where the first weight of
// the kernels lies: at their end, if they are turned.
func (f *filters) turn(taps, data []float32, row, lanes, inputs int) (first int) {
	each := f.conv.grid.form.Taps()
	if lanes < winogradLanes {
		clear(taps)
	}
	if f.conv.direction != InputGradient {
		simd.Transpose(taps, data, winogradLanes, row, lanes, inputs*each)
		return 0
	}
	for i := range inputs {
		simd.Transpose(taps[i*each*winogradLanes:], data[i*row:], winogradLanes, each, lanes, each)
	}
	return (each - 1) * winogradLanes
}

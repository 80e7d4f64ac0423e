package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// winogradGradPanels is the weight gradient of Winograd's convolution where weights are many: natively a core group multiplies a piece
// of the outputs with a panel of the inputs at all points, so that the sums stay in L2, and maps them to kernels at once.
type winogradGradPanels struct {
	*winogradGrads
	v, y pointPlanes // of the inputs and the outputs of a group, in panels
	sums pointPlanes // of a piece and a panel
}

// gradPanel is the number of inputs of a panel: what is mapped to kernels together.
const gradPanel = collectSlices * winogradLanes

// gradRows is what pieces of outputs are multiples of: of a slice, and of the rows of all micro-kernels.
const gradRows = 48

// newWinogradGradPanels cuts the outputs so that sums take little more than half of L2.
func newWinogradGradPanels(c *winogradGrads, spec *cpe.Spec) *winogradGradPanels {
	v := &winogradGradPanels{winogradGrads: c}
	points, tiles := v.grid.form.Points(), v.grid.most(v.block)
	outs := max(1, spec.LDMBytes*3/5/4/points/gradPanel/gradRows) * gradRows
	v.v, v.y = newPointPanels(points, tiles, v.in, gradPanel), newPointPanels(points, tiles, v.out, outs)
	v.sums = newPointPanels(points, outs, gradPanel, gradPanel)
	v.conv.takes(WeightGradient, cpe.Scratch{Common: v.v.size + v.y.size, Group: v.memory()})
	return v
}

// memory is the number of values of a core group's own memory.
func (v *winogradGradPanels) memory() int { return v.grid.ownMemory() + v.sums.size }

// stages lists the steps.
func (v *winogradGradPanels) stages() []stage {
	var list []stage
	for group := range v.conv.shape.Group {
		for first := 0; first < v.grid.patches(); first += v.block {
			b := gradPanelsBlock{v, group, first, min(v.grid.patches(), first+v.block)}
			list = append(list, stage{&gradPanelsEnter{b}, 0}, stage{&gradPanelsMultiply{b}, 0})
		}
	}
	return list
}

// gradPanelsBlock is what is done with patches [first, last) of a group.
type gradPanelsBlock struct {
	*winogradGradPanels
	group, first, last int
}

// planes gives the points of inputs and results their values.
func (b *gradPanelsBlock) planes(g *cpe.CoreGroup) (inputs, results pointPlanes) {
	common := g.Common(b.v.size + b.y.size)
	inputs, results = b.v, b.y
	inputs.data, results.data = part(common, 0, b.v.size), part(common, b.v.size, b.y.size)
	return inputs, results
}

// gradPanelsEnter maps the inputs and the outputs' gradient.
type gradPanelsEnter struct{ gradPanelsBlock }

// Name names the stage.
func (b *gradPanelsEnter) Name() string {
	return "convolution " + WeightGradient.String() + ", mapping images"
}

// RunGroup maps a core group's share.
func (b *gradPanelsEnter) RunGroup(g *cpe.CoreGroup) error {
	b.workers[g.Index()].use(g, part(g.Memory(b.memory()), 0, b.grid.ownMemory()))
	inputs, results := b.planes(g)
	return b.enter(g, b.group, b.first, b.last, &inputs, &results)
}

// gradPanelsMultiply makes the gradients.
type gradPanelsMultiply struct{ gradPanelsBlock }

// Name names the stage.
func (b *gradPanelsMultiply) Name() string { return "convolution " + WeightGradient.String() }

// RunGroup works out a core group's share of the panels' rows of outputs.
func (b *gradPanelsMultiply) RunGroup(g *cpe.CoreGroup) error {
	w, memory, own := &b.workers[g.Index()], g.Memory(b.memory()), b.grid.ownMemory()
	w.use(g, part(memory, 0, own))
	inputs, results := b.planes(g)
	sums := b.sums
	sums.data = part(memory, own, b.sums.size)
	mr, _ := simd.Micro()
	rows := blocks(b.out, mr)
	at, end := g.Share(blocks(b.in, gradPanel) * rows)
	for at < end {
		first := at % rows * mr
		piece := min(b.y.width-first%b.y.width, (end-at)*mr, b.out-first)
		ins := span{at / rows * gradPanel, min(gradPanel, b.in-at/rows*gradPanel)}
		b.multiply(&inputs, &results, &sums, span{first, piece}, ins)
		for i := range piece {
			if err := b.collect(g.CPEs()[0], w, sums.at(i, 0, 1), b.group*b.out+first+i, ins.at, ins.n, b.conv.args.add || b.first > 0); err != nil {
				return err
			}
		}
		at += blocks(piece, mr)
	}
	return nil
}

// multiply makes the sums of some outputs and inputs at all points. The operands of the next point are fetched meanwhile.
func (b *gradPanelsMultiply) multiply(inputs, results, sums *pointPlanes, outs, ins span) {
	_, nr := simd.Micro()
	made := blocks(ins.n, winogradLanes) * winogradLanes
	tiles := b.grid.patch(b.last).first - b.grid.patch(b.first).first
	for point := range inputs.points {
		y, v, s := results.matrix(point, outs.at), inputs.matrix(point, ins.at), sums.matrix(point, 0)
		after := min(point+1, inputs.points-1)
		next, then := inputs.matrix(after, ins.at).Data, results.matrix(after, outs.at).Data
		left := tiles * inputs.ld
		for col := 0; col < made; col += nr {
			if left <= 0 {
				next, left = then, tiles*results.ld
			}
			simd.StridedPanel(outs.n, min(nr, made-col), tiles, y.Data, 1, y.Ld, v.Data[col:], v.Ld, s.Data[col:], s.Ld, false, next)
			n := simd.StridedFetch(outs.n, tiles)
			next, left = next[min(n, len(next)-1):], left-n
		}
	}
}

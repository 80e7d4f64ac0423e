package kernel

import "github.com/swcaffe/swcaffe/cpe"

// Where mapped weights are many and tiles few, reading weights is what takes the time: each core group would read all of them for its
// own blocks of tiles. Natively core groups then share the points of one block after the other, so that each weight passes once for
// all tiles of a block. The steps of a block are stages.

// sharedTiles is the number of tiles of such a block.
const sharedTiles = 200

// sharedBlock is a step of the convolution of a block: patches [first, last) of a group of channels, for the outputs of a round.
type sharedBlock struct {
	*winogradConv
	made        span
	group       int
	first, last int
}

// sharedStages lists the steps of a round. Inputs that all stand in one block are mapped in the first round only.
func (v *winogradConv) sharedStages(made span) []stage {
	var list []stage
	for group := range v.conv.shape.Group {
		for first := 0; first < v.grid.patches(); first += v.block {
			b := sharedBlock{v, made, group, first, min(v.grid.patches(), first+v.block)}
			if made.at == 0 || v.conv.shape.Group > 1 || v.block < v.grid.patches() {
				list = append(list, stage{&sharedEnter{b}, 0})
			}
			list = append(list, stage{&sharedMultiply{b}, 0}, stage{&sharedLeave{b}, 0})
		}
	}
	return list
}

// planes gives the points of inputs and results their values, behind the mapped weights.
func (b *sharedBlock) planes(g *cpe.CoreGroup) (inputs, results pointPlanes) {
	v, weights := b.winogradConv, b.filters.size()
	inputs, results = v.v, v.r
	common := g.Common(weights + inputs.size + results.size)
	inputs.data, results.data = part(common, weights, inputs.size), part(common, weights+inputs.size, results.size)
	return inputs, results
}

// worker returns a core group's own.
func (b *sharedBlock) worker(g *cpe.CoreGroup) *winogradWorker {
	w := &b.workers[g.Index()]
	w.use(g, g.Memory(b.memory()))
	return w
}

// before is the number of tiles before the block.
func (b *sharedBlock) before() int { return b.grid.patch(b.first).first }

// sharedEnter maps the inputs.
type sharedEnter struct{ sharedBlock }

// RunGroup maps a core group's share of the patches' slices.
func (b *sharedEnter) RunGroup(g *cpe.CoreGroup) error {
	w, slices := b.worker(g), b.read.slices()
	x, _ := b.arrays(b.group)
	inputs, _ := b.planes(g)
	lo, hi := g.Share((b.last - b.first) * slices)
	return deal(g, hi-lo, func(c *cpe.CPE, i int) error {
		p := b.grid.patch(b.first + (lo+i)/slices)
		return b.read.read(c, w, &b.grid, p, (lo+i)%slices, x, &inputs, p.first-b.before())
	})
}

// sharedMultiply makes the results at every point.
type sharedMultiply struct{ sharedBlock }

// RunGroup does a core group's share of the points' panels of outputs.
func (b *sharedMultiply) RunGroup(g *cpe.CoreGroup) error {
	u := g.Common(b.filters.size())
	inputs, results := b.planes(g)
	panels, tiles := blocks(b.made.n, panel), b.grid.patch(b.last).first-b.before()
	lo, hi := g.Share(b.grid.form.Points() * panels)
	for i := lo; i < hi; i++ {
		point := i / panels
		b.multiplyPanel(inputs.matrix(point, 0), b.filters.at(u, b.group, point), results.matrix(point, 0), tiles, i%panels*panel, b.made.n)
	}
	return nil
}

// sharedLeave maps the results to outputs.
type sharedLeave struct{ sharedBlock }

// RunGroup maps a core group's share of the patches' slices.
func (b *sharedLeave) RunGroup(g *cpe.CoreGroup) error {
	w, slices := b.worker(g), blocks(b.made.n, winogradLanes)
	_, results := b.planes(g)
	y, bias := b.outputs(b.group, b.made)
	lo, hi := g.Share((b.last - b.first) * slices)
	return deal(g, hi-lo, func(c *cpe.CPE, i int) error {
		p, slice := b.grid.patch(b.first+(lo+i)/slices), (lo+i)%slices
		lanes := min(winogradLanes, b.made.n-slice*winogradLanes)
		return b.write.write(c, w, &b.grid, p, slice, lanes, y, bias, &results, p.first-b.before())
	})
}

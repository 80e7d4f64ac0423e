package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// winogradConv is Winograd's convolution forward, and for the input gradient, which is the convolution of the output's gradient
// with turned kernels. A core group maps a block of patches to points, multiplies, and maps the results back, before it goes to
// the next: natively blocks fit L2 where channels are few, and otherwise are as small as reading all weights for each of
// them allows. Where mapped weights are many, the outputs are made in rounds, and inputs are mapped in each. Sums over channels have
// one order, whichever block and round an output is in.
type winogradConv struct {
	conv      *Conv
	direction Direction
	grid      tileGrid
	in, out   int    // channels of a group that are read and made
	rounds    []span // of the channels that are made
	read      squares
	write     tilesOut
	block     int         // patches of a block
	shared    bool        // core groups share the points of a block, not the blocks
	v, r      pointPlanes // layouts of inputs and results; each worker has its own values
	depth     int         // inputs that are multiplied at once: a panel of weights then stays in L1 while tiles pass
	filters   *filters
	workers   []winogradWorker
}

const (
	// fewTiles is the least number of tiles of a block.
	fewTiles = 24
	// meshPoints bounds the values of the points of a block on a model, whose main memory this computer must hold.
	meshPoints = 1 << 24
)

func newWinogradConv(c *Conv, d Direction) (*winogradConv, error) {
	s, form := c.shape, c.shape.winogradForm(c.plan.Strategy[d])
	if d == InputGradient {
		s = s.mirrored()
	}
	spec := c.machine.Spec()
	if err := checkCore(&spec, form); err != nil {
		return nil, err
	}
	v := &winogradConv{conv: c, direction: d, in: s.C / s.Group, out: s.Out / s.Group}
	out := s.OutSize()
	v.grid = newTileGrid(form, s.N, out[0], out[1], fitsCore(&spec, form))
	v.read = squares{kind: simd.WinogradInput, edge: form.Edge(), padH: s.Pad[0], padW: s.Pad[1], h: s.In[0], w: s.In[1], channels: v.in, image: s.C * size(s.In), blocks: c.blocked[0]}
	v.write = tilesOut{h: out[0], w: out[1], image: s.Out * size(out), blocks: c.blocked[1]}
	if d == InputGradient {
		v.read.blocks, v.write.blocks = v.write.blocks, v.read.blocks
	}
	v.cut(&spec)
	v.rounds = c.shape.rounds(&spec, form.Points(), v.in, v.out)
	tiles, made := v.grid.most(v.block), v.rounds[0].n
	v.v, v.r = newPointPlanes(form.Points(), tiles, v.in), newPointPlanes(form.Points(), tiles, made)
	v.depth = even(v.in, max(64, spec.L1Bytes/4/4*3/panel), 1)
	v.filters = newFilters(v)
	v.workers = make([]winogradWorker, spec.CoreGroups)
	if !spec.Native() {
		products, err := newProducts(c.machine, GemmShape{M: tiles, N: made, K: v.in})
		if err != nil {
			return nil, err
		}
		for i, p := range products {
			v.workers[i].product = p
		}
	}
	common := v.filters.size()
	if v.shared {
		common += v.v.size + v.r.size
	}
	c.takes(d, cpe.Scratch{Common: common, Group: v.memory()})
	return v, nil
}

// cut chooses the patches of a block.
func (v *winogradConv) cut(spec *cpe.Spec) {
	points := v.grid.form.Points()
	each := points * (v.in + v.out)
	tiles, least := spec.LDMBytes/2/4/each, 4*spec.CoreGroups
	switch {
	case !spec.Native():
		tiles, least = meshPoints/each, spec.CoreGroups
	case 4*points*v.in*v.out > spec.LDMBytes/2:
		v.shared, tiles, least = true, sharedTiles, 1
	}
	patches, n := v.grid.patches(), max(fewTiles, tiles)/(v.grid.rows*v.grid.cols)
	v.block = even(patches, max(1, min(n, blocks(patches, least))), 1)
}

// memory is the number of values of a core group's own memory.
func (v *winogradConv) memory() int {
	if v.shared {
		return v.grid.ownMemory()
	}
	return v.grid.ownMemory() + v.v.size + v.r.size
}

// stages lists the steps: for each round, mapping its weights, and convolving.
func (v *winogradConv) stages() []stage {
	var list []stage
	for _, made := range v.rounds {
		list = append(list, stage{&filtersRound{v.filters, made}, 0})
		if v.shared {
			list = append(list, v.sharedStages(made)...)
		} else {
			list = append(list, stage{&winogradRound{v, made}, 0})
		}
	}
	return list
}

// winogradRound makes some of the output channels of each group.
type winogradRound struct {
	*winogradConv
	made span
}

// Name returns "convolution" and the direction.
func (v *winogradConv) Name() string { return "convolution " + v.direction.String() }

// RunGroup convolves a core group's share of the blocks.
func (v *winogradRound) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()]
	memory := g.Memory(v.memory())
	own := v.grid.ownMemory()
	w.use(g, part(memory, 0, own))
	inputs, results := v.v, v.r
	inputs.data, results.data = part(memory, own, v.v.size), part(memory, own+v.v.size, v.r.size)
	patches := v.grid.patches()
	lo, hi := g.Share(blocks(patches, v.block))
	for block := lo; block < hi; block++ {
		first, last := block*v.block, min(patches, (block+1)*v.block)
		for group := range v.conv.shape.Group {
			if err := v.enter(g, w, &inputs, group, first, last); err != nil {
				return err
			}
			tiles := v.grid.patch(last).first - v.grid.patch(first).first
			if err := v.multiply(g, w, &inputs, &results, group, tiles); err != nil {
				return err
			}
			if err := v.leave(g, w, &results, group, first, last); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrays are the images that are read and made, from a group's first channel on.
func (v *winogradConv) arrays(group int) (x, y []float32) {
	x, y = v.conv.args.x, v.conv.args.y
	if v.direction == InputGradient {
		x, y = y, x
	}
	return from(x, group*v.in*v.read.h*v.read.w), from(y, group*v.out*v.write.h*v.write.w)
}

// enter maps the inputs of patches.
func (v *winogradConv) enter(g *cpe.CoreGroup, w *winogradWorker, to *pointPlanes, group, first, last int) error {
	x, _ := v.arrays(group)
	slices, before := v.read.slices(), v.grid.patch(first).first
	return deal(g, (last-first)*slices, func(c *cpe.CPE, i int) error {
		p := v.grid.patch(first + i/slices)
		return v.read.read(c, w, &v.grid, p, i%slices, x, to, p.first-before)
	})
}

// outputs are the images that are made and the biases, from the first channel of a group's round on.
func (v *winogradConv) outputs(group int, made span) (y, bias []float32) {
	_, y = v.arrays(group)
	if bias = v.conv.args.bias; bias != nil {
		bias = bias[group*v.out+made.at:]
	}
	return from(y, made.at*v.write.h*v.write.w), bias
}

// leave maps results to the outputs of patches.
func (v *winogradRound) leave(g *cpe.CoreGroup, w *winogradWorker, src *pointPlanes, group, first, last int) error {
	y, bias := v.outputs(group, v.made)
	slices, before := blocks(v.made.n, winogradLanes), v.grid.patch(first).first
	return deal(g, (last-first)*slices, func(c *cpe.CPE, i int) error {
		p := v.grid.patch(first + i/slices)
		lanes := min(winogradLanes, v.made.n-i%slices*winogradLanes)
		return v.write.write(c, w, &v.grid, p, i%slices, lanes, y, bias, src, p.first-before)
	})
}

// multiply makes the results at every point.
func (v *winogradRound) multiply(g *cpe.CoreGroup, w *winogradWorker, inputs, results *pointPlanes, group, tiles int) error {
	u := g.Common(v.filters.size())
	for point := range v.grid.form.Points() {
		weights := v.filters.at(u, group, point)
		if g.Native() {
			for first := 0; first < v.made.n; first += panel {
				v.multiplyPanel(inputs.matrix(point, 0), weights, results.matrix(point, 0), tiles, first, v.made.n)
			}
			continue
		}
		w.a.set(inputs.matrix(point, 0), false)
		w.b.set(cpe.Matrix{Data: weights, Ld: panel, Run: panel, Jump: v.in * panel}, false)
		w.job = productJob{a: &w.a, b: &w.b, c: results.matrix(point, 0), m1: tiles, n1: v.made.n, k1: v.in}
		if err := w.product.run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

// multiplyPanel makes the results of a panel of outputs at one point natively: the operands lie as the micro-kernel reads them.
func (v *winogradConv) multiplyPanel(inputs cpe.Matrix, weights []float32, results cpe.Matrix, tiles, first, made int) {
	mr, nr := simd.Micro()
	for k0 := 0; k0 < v.in; k0 += v.depth {
		k := min(v.depth, v.in-k0)
		for col := first; col < min(first+panel, made); col += nr {
			b := weights[(first/panel*v.in+k0)*panel+col%panel:]
			simd.StridedPanel(blocks(tiles, mr), k, inputs.Data[k0:], inputs.Ld, 1, b, panel, results.Data[col:], results.Ld, k0 > 0)
		}
	}
}

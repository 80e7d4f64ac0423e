package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// winogradGrads is the weight gradient of Winograd's convolution. Inputs and the outputs' gradient of a block of patches are mapped
// to points; there they are multiplied, and the products added up over the blocks, one after the other; at the end the sums
// are mapped to kernels and added to the weights' gradient. Each of these steps is a stage that core groups share, so that every
// sum has one order. Where weights are many, their gradients are worked out in rounds of inputs, and the
// outputs' gradient is mapped in each.
type winogradGrads struct {
	conv    *Conv
	grid    tileGrid
	in, out int    // channels of a group
	rounds  []span // of the inputs of a group
	images  squares
	results squares
	block   int         // patches of a block
	v, y    pointPlanes // of the inputs of a round, and of all outputs
	sums    pointPlanes // of a group in a round: output x input channels
	workers []winogradWorker
}

// gradTiles is the number of tiles of a block natively, so that panels of both operands stay in L1.
const gradTiles = 128

// collectSlices is how many slices of inputs of one output are mapped to kernels together.
const collectSlices = 4

// collectNeed is the number of values of LDM that takes: sums, kernels, these turned, and what they are added to.
func collectNeed(f simd.WinogradForm) int {
	return collectSlices*winogradLanes*(f.Points()+3*f.Taps()) + simd.WinogradScratch
}

func newWinogradGrads(c *Conv) (*winogradGrads, error) {
	s, form := &c.shape, c.shape.winogradForm(c.plan.Strategy[WeightGradient])
	spec := c.machine.Spec()
	if err := checkCore(&spec, form); err != nil {
		return nil, err
	}
	v := &winogradGrads{conv: c, in: s.C / s.Group, out: s.Out / s.Group}
	out := s.OutSize()
	v.grid = newTileGrid(form, s.N, out[0], out[1], fitsCore(&spec, form))
	v.images = squares{kind: simd.WinogradInput, edge: form.Edge(), padH: s.Pad[0], padW: s.Pad[1], h: s.In[0], w: s.In[1], image: s.C * size(s.In), blocks: c.blocked[0]}
	v.results = squares{kind: simd.WinogradOutputGrad, edge: form.Tile, h: out[0], w: out[1], channels: s.Out, image: s.Out * size(out), blocks: c.blocked[1]}
	tiles := gradTiles
	if !spec.Native() {
		tiles = max(gradTiles, meshPoints/form.Points()/(s.C+s.Out))
	}
	v.block = even(v.grid.patches(), max(1, tiles/(v.grid.rows*v.grid.cols)), 1)
	tiles = v.grid.most(v.block)
	v.rounds = s.rounds(&spec, form.Points(), v.out, v.in)
	most := v.rounds[0].n
	v.v, v.y = newPointPlanes(form.Points(), tiles, s.Group*most), newPointPlanes(form.Points(), tiles, s.Out)
	v.sums = newPointPlanes(form.Points(), v.out, most)
	v.workers = make([]winogradWorker, spec.CoreGroups)
	if !spec.Native() {
		products, err := newProducts(c.machine, GemmShape{M: v.out, N: most, K: tiles, TransA: true, Accumulate: true})
		if err != nil {
			return nil, err
		}
		for i, p := range products {
			v.workers[i].product = p
		}
	}
	c.takes(WeightGradient, cpe.Scratch{Common: v.memory(), Group: v.grid.ownMemory()})
	return v, nil
}

// stages lists the steps.
func (v *winogradGrads) stages() []stage {
	var list []stage
	for _, ins := range v.rounds {
		for first := 0; first < v.grid.patches(); first += v.block {
			last := min(v.grid.patches(), first+v.block)
			list = append(list, stage{&gradsEnter{v, ins, first, last}, 0}, stage{&gradsMultiply{v, ins, first, last}, 0})
		}
		list = append(list, stage{&gradsCollect{v, ins}, 0})
	}
	return list
}

// memory is the number of values that all core groups see.
func (v *winogradGrads) memory() int { return v.conv.shape.Group*v.sums.size + v.v.size + v.y.size }

// planes gives the points of inputs, results and a group's sums their values.
func (v *winogradGrads) planes(g *cpe.CoreGroup, group int) (inputs, results, sums pointPlanes) {
	common := g.Common(v.memory())
	inputs, results, sums = v.v, v.y, v.sums
	inputs.data = part(common, 0, v.v.size)
	results.data = part(common, v.v.size, v.y.size)
	sums.data = part(common, v.v.size+v.y.size+group*v.sums.size, v.sums.size)
	return inputs, results, sums
}

// gradsEnter maps the inputs of a round and the outputs' gradient, of patches [first, last).
type gradsEnter struct {
	*winogradGrads
	ins         span
	first, last int
}

// Name names the stage.
func (e *gradsEnter) Name() string {
	return "convolution " + WeightGradient.String() + ", mapping images"
}

// RunGroup maps a core group's share.
func (e *gradsEnter) RunGroup(g *cpe.CoreGroup) error {
	v, w := e.winogradGrads, &e.workers[g.Index()]
	w.use(g, g.Memory(v.grid.ownMemory()))
	inputs, results, _ := v.planes(g, 0)
	images, x := v.images, from(v.conv.args.x, e.ins.at*v.images.h*v.images.w)
	images.channels = v.conv.shape.Group * e.ins.n
	slices := images.slices() + v.results.slices()
	before := v.grid.patch(e.first).first
	lo, hi := g.Share((e.last - e.first) * slices)
	return deal(g, hi-lo, func(c *cpe.CPE, i int) error {
		i += lo
		p, slice, n := v.grid.patch(e.first+i/slices), i%slices, images.slices()
		if slice < n {
			return images.read(c, w, &v.grid, p, slice, x, &inputs, p.first-before)
		}
		return v.results.read(c, w, &v.grid, p, slice-n, v.conv.args.y, &results, p.first-before)
	})
}

// gradsMultiply adds the products of patches [first, last) to the sums of a round.
type gradsMultiply struct {
	*winogradGrads
	ins         span
	first, last int
}

// Name names the stage.
func (p *gradsMultiply) Name() string { return "convolution " + WeightGradient.String() }

// RunGroup multiplies at a core group's share of the points: natively of their panels of inputs.
func (p *gradsMultiply) RunGroup(g *cpe.CoreGroup) error {
	v, w := p.winogradGrads, &p.workers[g.Index()]
	tiles := v.grid.patch(p.last).first - v.grid.patch(p.first).first
	points, panels := v.grid.form.Points(), 1
	if g.Native() {
		panels = blocks(p.ins.n, panel)
	}
	lo, hi := g.Share(v.conv.shape.Group * points * panels)
	for i := lo; i < hi; i++ {
		group, point, first := i/panels/points, i/panels%points, i%panels*panel
		inputs, results, sums := v.planes(g, group)
		a, b, c := results.matrix(point, group*v.out), inputs.matrix(point, group*p.ins.n), sums.matrix(point, 0)
		if g.Native() {
			p.multiplyPanel(a, b, c, first, tiles)
			continue
		}
		w.a.set(a, true)
		w.b.set(b, false)
		w.job = productJob{a: &w.a, b: &w.b, c: c, m1: v.out, n1: p.ins.n, k1: tiles, accumulate: p.first > 0}
		if err := w.product.run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

// multiplyPanel does a panel of inputs of one point natively.
func (p *gradsMultiply) multiplyPanel(results, inputs, sums cpe.Matrix, first, tiles int) {
	mr, nr := simd.Micro()
	for col := first; col < min(first+panel, p.ins.n); col += nr {
		simd.StridedPanel(blocks(p.out, mr), tiles, results.Data, 1, results.Ld, inputs.Data[col:], inputs.Ld, sums.Data[col:], sums.Ld, p.first > 0)
	}
}

// gradsCollect maps the sums of a round to kernels and adds them to the weights' gradient.
type gradsCollect struct {
	*winogradGrads
	ins span
}

// Name names the stage.
func (s *gradsCollect) Name() string {
	return "convolution " + WeightGradient.String() + ", collecting"
}

// RunGroup does a core group's share of the output channels.
func (s *gradsCollect) RunGroup(g *cpe.CoreGroup) error {
	v, w := s.winogradGrads, &s.workers[g.Index()]
	w.use(g, g.Memory(v.grid.ownMemory()))
	chunks := blocks(s.ins.n, collectSlices*winogradLanes)
	lo, hi := g.Share(v.conv.shape.Out * chunks)
	return deal(g, hi-lo, func(c *cpe.CPE, i int) error {
		i += lo
		return s.collect(g, c, w, i/chunks, i%chunks*collectSlices*winogradLanes)
	})
}

// collect adds the kernels of an output and some of its inputs, counted from the first of the round.
func (s *gradsCollect) collect(g *cpe.CoreGroup, c *cpe.CPE, w *winogradWorker, out, first int) error {
	v, form := s.winogradGrads, s.grid.form
	r, taps := form.Kernel, form.Taps()
	_, _, sums := v.planes(g, out/v.out)
	lanes := min(collectSlices*winogradLanes, s.ins.n-first)
	slices := blocks(lanes, winogradLanes)
	n := slices * winogradLanes
	c.Free()
	block := sums.at(out%v.out, first/winogradLanes, 1)
	block.Cols = n
	came, err := c.Alloc("winograd", block.Count())
	if err != nil {
		return err
	}
	buffer, err := w.take(c, w.pixels, 2*taps*n)
	if err != nil {
		return err
	}
	scratch, err := w.take(c, w.scratch, simd.WinogradScratch)
	if err != nil {
		return err
	}
	target := cpe.Block{Data: from(v.conv.args.w, (out*v.in+s.ins.at+first)*taps), Planes: 1, Rows: 1, Cols: lanes * taps}
	grads, err := c.Alloc("winograd", target.Count())
	if err != nil {
		return err
	}
	data, planes, _ := c.Load(came, &block)
	grads, _, _ = c.Load(grads, &target)
	c.Wait()
	c.Compute(winogradFlops(form, simd.WinogradWeightsGrad, form.Edge(), r, slices)+float64(target.Count()), 0)
	if c.Values() {
		kernels, turned := buffer[:taps*n], buffer[taps*n:]
		w.strides = simd.WinogradStrides{
			SrcRow: form.Edge() * planes, SrcCol: planes, SrcNext: winogradLanes,
			DstRow: r * winogradLanes, DstCol: winogradLanes, DstNext: taps * winogradLanes,
		}
		simd.Winograd(form, simd.WinogradWeightsGrad, kernels, data, 0, &w.strides, slices, nil, scratch)
		for i := range slices {
			simd.Transpose(turned[i*taps*winogradLanes:], kernels[i*taps*winogradLanes:], taps, winogradLanes, taps, winogradLanes)
		}
		simd.Add(grads[:lanes*taps], grads[:lanes*taps], turned)
	}
	c.Store(&target, grads)
	return nil
}

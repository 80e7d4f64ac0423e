package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// winogradSums is the weight gradient of Winograd's convolution that adds up products at all points over the blocks of patches, one
// after the other, before it maps the sums to kernels. Each of these steps is a stage that core groups share, so that every sum has
// one order.
type winogradSums struct {
	*winogradGrads
	v, y pointPlanes // of the inputs and outputs of a group
	sums pointPlanes // of a group: output x input channels
}

func newWinogradSums(c *winogradGrads, spec *cpe.Spec) (*winogradSums, error) {
	v := &winogradSums{winogradGrads: c}
	points, tiles := v.grid.form.Points(), v.grid.most(v.block)
	v.v, v.y = newPointPlanes(points, tiles, v.in), newPointPlanes(points, tiles, v.out)
	v.sums = newPointPlanes(points, v.out, v.in)
	if !spec.Native() {
		products, err := newProducts(c.conv.machine, GemmShape{M: v.out, N: v.in, K: tiles, TransA: true, Accumulate: true})
		if err != nil {
			return nil, err
		}
		for i, p := range products {
			v.workers[i].product = p
		}
	}
	v.conv.takes(WeightGradient, cpe.Scratch{Common: v.memory(), Group: v.grid.ownMemory()})
	return v, nil
}

// stages lists the steps.
func (v *winogradSums) stages() []stage {
	var list []stage
	for group := range v.conv.shape.Group {
		for first := 0; first < v.grid.patches(); first += v.block {
			b := sumsBlock{v, group, first, min(v.grid.patches(), first+v.block)}
			list = append(list, stage{&sumsEnter{b}, 0}, stage{&sumsMultiply{b}, 0})
		}
		list = append(list, stage{&sumsCollect{v, group}, 0})
	}
	return list
}

// memory is the number of values that all core groups see.
func (v *winogradSums) memory() int { return v.sums.size + v.v.size + v.y.size }

// planes gives the points of inputs, results and sums their values.
func (v *winogradSums) planes(g *cpe.CoreGroup) (inputs, results, sums pointPlanes) {
	common := g.Common(v.memory())
	inputs, results, sums = v.v, v.y, v.sums
	inputs.data = part(common, 0, v.v.size)
	results.data = part(common, v.v.size, v.y.size)
	sums.data = part(common, v.v.size+v.y.size, v.sums.size)
	return inputs, results, sums
}

// sumsBlock is what is done with patches [first, last) of a group.
type sumsBlock struct {
	*winogradSums
	group       int
	first, last int
}

// sumsEnter maps the inputs and the outputs' gradient.
type sumsEnter struct{ sumsBlock }

// Name names the stage.
func (e *sumsEnter) Name() string {
	return "convolution " + WeightGradient.String() + ", mapping images"
}

// RunGroup maps a core group's share.
func (e *sumsEnter) RunGroup(g *cpe.CoreGroup) error {
	e.workers[g.Index()].use(g, g.Memory(e.grid.ownMemory()))
	inputs, results, _ := e.planes(g)
	return e.enter(g, e.group, e.first, e.last, &inputs, &results)
}

// sumsMultiply adds the products to the sums.
type sumsMultiply struct{ sumsBlock }

// Name names the stage.
func (p *sumsMultiply) Name() string { return "convolution " + WeightGradient.String() }

// RunGroup multiplies at a core group's share of the points: natively of their panels of inputs.
func (p *sumsMultiply) RunGroup(g *cpe.CoreGroup) error {
	w := &p.workers[g.Index()]
	tiles := p.grid.patch(p.last).first - p.grid.patch(p.first).first
	inputs, results, sums := p.planes(g)
	panels := 1
	if g.Native() {
		panels = blocks(p.in, panel)
	}
	lo, hi := g.Share(p.grid.form.Points() * panels)
	for i := lo; i < hi; i++ {
		point := i / panels
		a, b, c := results.matrix(point, 0), inputs.matrix(point, 0), sums.matrix(point, 0)
		if g.Native() {
			p.multiplyPanel(a, b, c, i%panels*panel, tiles)
			continue
		}
		w.a.set(a, true)
		w.b.set(b, false)
		w.job = productJob{a: &w.a, b: &w.b, c: c, m1: p.out, n1: p.in, k1: tiles, accumulate: p.first > 0}
		if err := w.product.run(g, &w.job); err != nil {
			return err
		}
	}
	return nil
}

// multiplyPanel does a panel of inputs of one point natively.
func (p *sumsMultiply) multiplyPanel(results, inputs, sums cpe.Matrix, first, tiles int) {
	_, nr := simd.Micro()
	made := blocks(p.in, winogradLanes) * winogradLanes
	for col := first; col < min(first+panel, made); col += nr {
		simd.StridedPanel(p.out, min(nr, made-col), tiles, results.Data, 1, results.Ld, inputs.Data[col:], inputs.Ld, sums.Data[col:], sums.Ld, p.first > 0, nil)
	}
}

// sumsCollect maps a group's sums to kernels and adds them to the weights' gradient.
type sumsCollect struct {
	*winogradSums
	group int
}

// Name names the stage.
func (s *sumsCollect) Name() string {
	return "convolution " + WeightGradient.String() + ", collecting"
}

// RunGroup does a core group's share of the output channels.
func (s *sumsCollect) RunGroup(g *cpe.CoreGroup) error {
	w := &s.workers[g.Index()]
	w.use(g, g.Memory(s.grid.ownMemory()))
	_, _, sums := s.planes(g)
	const most = collectSlices * winogradLanes
	chunks := blocks(s.in, most)
	lo, hi := g.Share(s.out * chunks)
	return deal(g, hi-lo, func(c *cpe.CPE, i int) error {
		out, first := (lo+i)/chunks, (lo+i)%chunks*most
		return s.collect(c, w, sums.at(out, first/winogradLanes, 1), s.group*s.out+out, first, min(most, s.in-first), s.conv.args.add)
	})
}

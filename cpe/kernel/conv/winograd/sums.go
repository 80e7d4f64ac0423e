package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// Sums returns the algorithm sums with the tiles of a strategy.
func Sums(st shape.Strategy) *conv.Algorithm { return sumsKind.algorithm(st) }

var sumsKind = kind{
	name: "sums", doc: "sums over all blocks of tiles in the transform domain, then transforms the weight gradient back",
	directions: []shape.Direction{shape.WeightGradient},
	supports: func(p *conv.Problem, f vwinograd.Form) error {
		return op.Unless(p.Direction == shape.WeightGradient && !newGradients(sketch(p, f)).sumsByPanels(), "the sums do not fit L2, or there is only one block of tiles")
	},
	build: func(t *task) { newSums(newGradients(t)) },
}

// sumsKernel is Winograd's weight gradient for few weights. It sums the products of all points over one block of patches after the other,
// and then transforms the sums to kernels. Each step is a stage that core groups share, so that every sum has one order.
type sumsKernel struct {
	*gradients
	v, y pointPlanes // points of a group's X and DY
	sums pointPlanes // sums of a group: output x input channels
	rows int         // output channels of a unit
}

func newSums(c *gradients) {
	v := &sumsKernel{gradients: c}
	points := v.grid.form.Points()
	panels := points * tiling.Blocks(v.in, v.wide())
	mr, _ := vconv.PixelSumSize()
	v.rows = tiling.Even(v.out, max(mr, v.out/tiling.Blocks(evenUnits*v.Spec.CoreGroups, panels)), mr)
	v.planStage()
	v.v, v.y = v.points(v.in), v.points(v.out)
	v.sums = newPointPlanes(points, v.out, v.in)
	v.Plan = blocking{v.grid, v.block}
	v.Reserved = cpe.Scratch{Common: v.memory(), Group: v.grid.ownMemory()}
	v.Task.Stages = v.list()
}

// wide is the number of input channels of a unit.
func (v *sumsKernel) wide() int { return tiling.Even(v.in, sumColumns(), sliceLanes) }

// list returns the stages.
func (v *sumsKernel) list() []conv.Stage {
	var list []conv.Stage
	for group := range v.Shape.Group {
		for first := 0; first < v.grid.patches(); first += v.stage {
			b := sumsBlock{v, group, first, min(v.grid.patches(), first+v.stage)}
			list = append(list, conv.Stages(&sumsEnter{b}, &sumsMultiply{b})...)
		}
		list = append(list, conv.Stages(&sumsCollect{v, group})...)
	}
	return list
}

// memory is the number of values of shared memory.
func (v *sumsKernel) memory() int { return v.sums.size + v.v.size + v.y.size }

// planes returns the points of X and of DY, and the sums, in shared memory.
func (v *sumsKernel) planes(g *cpe.CoreGroup) (inputs, results, sums pointPlanes) {
	common := g.Common(v.memory())
	inputs, results, sums = v.v, v.y, v.sums
	inputs.data = tiling.Part(common, 0, v.v.size)
	results.data = tiling.Part(common, v.v.size, v.y.size)
	sums.data = tiling.Part(common, v.v.size+v.y.size, v.sums.size)
	return inputs, results, sums
}

// sumsBlock is the work on patches [first, last) of a group, in blocks.
type sumsBlock struct {
	*sumsKernel
	group       int
	first, last int
}

// sumsEnter is the stage that transforms X and DY.
type sumsEnter struct{ sumsBlock }

// Name names the stage.
func (e *sumsEnter) Name() string {
	return "convolution " + shape.WeightGradient.String() + ", mapping images"
}

// RunGroup transforms a core group's share.
func (e *sumsEnter) RunGroup(g *cpe.CoreGroup) error {
	e.workers[g.Index()].use(g.Memory(e.grid.ownMemory()))
	inputs, results, _ := e.planes(g)
	e.enter(g, e.group, e.first, e.last, &inputs, &results)
	return nil
}

// sumsMultiply is the stage that adds the products to the sums.
type sumsMultiply struct{ sumsBlock }

// Name names the stage.
func (p *sumsMultiply) Name() string { return "convolution " + shape.WeightGradient.String() }

// RunGroup computes a core group's share: rows of output channels of the points' panels of input channels.
func (p *sumsMultiply) RunGroup(g *cpe.CoreGroup) error {
	inputs, results, sums := p.planes(g)
	p.addPanels(g, &inputs, &results, &sums)
	p.addBiases(g, p.group, p.first, p.last, &results)
	return nil
}

// addPanels computes a core group's share of the panels, block by block. It prefetches the operands of the next block or panel.
func (p *sumsMultiply) addPanels(g *cpe.CoreGroup, inputs, results, sums *pointPlanes) {
	wide := p.wide()
	panels, parts := tiling.Blocks(p.in, wide), tiling.Blocks(p.out, p.rows)
	lo, hi := g.Share(p.grid.form.Points() * panels * parts)
	at := func(i, first int) (y, v sliceRun) {
		point, panel, part := i/parts/panels, i/parts%panels, i%parts
		tile := p.tiles(p.first, first)
		return results.run(point, tiling.Nth(part, p.rows, p.out), tile), inputs.run(point, tiling.Nth(panel, wide, p.in), tile)
	}
	var s sliceSums
	for i := lo; i < hi; i++ {
		outs := tiling.Nth(i%parts, p.rows, p.out)
		to := sums.matrix(i/parts/panels, i/parts%panels*wide)
		to.Data = to.Data[outs.At*to.Ld:]
		for first := p.first; first < p.last; first += p.block {
			y, v := at(i, first)
			s.ahead = [2]sliceRun{}
			if next := first + p.block; next < p.last {
				s.ahead[1], s.ahead[0] = at(i, next)
			} else if i+1 < hi {
				s.ahead[1], s.ahead[0] = at(i+1, p.first)
				if parts == 1 && (i+1)%panels > 0 && p.first+p.block >= p.last {
					s.ahead[1] = sliceRun{} // the next panel has the same results
				}
			}
			s.add(y, v, outs, p.tiles(first, min(p.last, first+p.block)), to, first > 0)
		}
	}
}

// sumsCollect is the stage that transforms a group's sums to kernels and stores them in the weight gradient, or adds them.
type sumsCollect struct {
	*sumsKernel
	group int
}

// Name names the stage.
func (s *sumsCollect) Name() string {
	return "convolution " + shape.WeightGradient.String() + ", collecting"
}

// RunGroup collects a core group's share of the output channels.
func (s *sumsCollect) RunGroup(g *cpe.CoreGroup) error {
	w := &s.workers[g.Index()]
	w.use(g.Memory(s.grid.ownMemory()))
	_, _, sums := s.planes(g)
	const most = collectSlices * sliceLanes
	chunks := tiling.Blocks(s.in, most)
	lo, hi := g.Share(s.out * chunks)
	for i := lo; i < hi; i++ {
		out, first := i/chunks, i%chunks*most
		s.collect(w, s.Args.DW, sums.at(out, first/sliceLanes, 1), s.group*s.out+out, first, min(most, s.in-first), s.Args.Add)
	}
	return nil
}

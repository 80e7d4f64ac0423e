package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// pointWeights is the weight gradient of a pointwise convolution on blocks of channels:
//
//	dW (Out x C) += dY (Out x pixels) * X' (pixels x C)
//
// Both operands are read where they lie, span by span of pixels, in the same order for every weight; core groups share the outputs or the
// inputs.
type pointWeights struct {
	conv  *Conv
	x, y  pointImages
	spans pointSpans
	rows  bool             // core groups share the outputs
	runs  []simd.PixelRuns // a core group each
}

// How many pixels are added up before the sums are added to the gradient: as many as fit L1 with a panel of inputs, or more, lest the
// gradient pass too often where it takes much of L2.
const pointSums, manyPointSums = 128, 400

func newPointWeights(c *Conv, x, y pointImages) *pointWeights {
	spec := c.machine.Spec()
	v := &pointWeights{conv: c, x: x, y: y, runs: make([]simd.PixelRuns, spec.CoreGroups)}
	sums := pointSums
	if 4*x.channels*y.channels > spec.LDMBytes/2 {
		sums = manyPointSums
	}
	v.spans = newPointSpans(c.shape.N, x.pixels(), sums, 1, 1)
	v.rows = x.direct() && (!y.direct() || y.channels >= x.channels)
	c.takes(WeightGradient, cpe.Scratch{Group: v.xScratch() + v.yScratch()})
	return v
}

// xScratch and yScratch are the values of a core group's scratch that a span takes.
func (v *pointWeights) xScratch() int { return v.spans.images * v.x.scratch(v.x.blocks(), v.spans.n) }
func (v *pointWeights) yScratch() int { return v.spans.images * v.y.scratch(v.y.blocks(), v.spans.n) }

// stages lists the steps.
func (v *pointWeights) stages() []stage { return []stage{{v, 0}} }

// Name names the direction.
func (v *pointWeights) Name() string { return "convolution " + WeightGradient.String() }

// RunGroup works out a core group's share of the gradient.
func (v *pointWeights) RunGroup(g *cpe.CoreGroup) error {
	args := &v.conv.args
	memory := g.Memory(v.xScratch() + v.yScratch())
	near, far := memory[:v.xScratch()], memory[v.xScratch():]
	rows, cols := span{0, v.y.blocks()}, span{0, v.x.blocks()}
	if v.rows {
		lo, hi := g.Share(rows.n)
		rows = span{lo, hi - lo}
	} else {
		lo, hi := g.Share(cols.n)
		cols = span{lo, hi - lo}
	}
	if rows.n == 0 || cols.n == 0 {
		return nil
	}
	for i := range v.spans.count() {
		s := v.spans.span(i)
		v.x.gather(args.x, s, cols.at, cols.n, near)
		v.y.gather(args.y, s, rows.at, rows.n, far)
		x, y := v.x.at(args.x, s, cols.at, cols.n, near), v.y.at(args.y, s, rows.at, rows.n, far)
		v.add(&v.runs[g.Index()], s, x, y, rows, cols)
	}
	return nil
}

// add adds the products of a span to the gradient of some blocks of outputs and of inputs.
func (v *pointWeights) add(runs *simd.PixelRuns, s pointSpan, x, y pointBlocks, rows, cols span) {
	*runs = simd.PixelRuns{Runs: s.images, N: s.n, NextA: y.image, NextB: x.image, JumpB: x.jump}
	mr, wide := simd.PixelSumSize()
	panels := blocks(cols.n, wide)
	for p := range panels {
		first, last := p*cols.n/panels, (p+1)*cols.n/panels
		col := (cols.at + first) * BlockLanes
		n := min((last-first)*BlockLanes, v.x.channels-col)
		for row := 0; row < rows.n*BlockLanes; row += mr {
			out := rows.at*BlockLanes + row
			if out >= v.y.channels {
				break
			}
			a := y.data[row/BlockLanes*y.jump+row%BlockLanes:]
			simd.PixelSums(runs, a, x.data[first*x.jump:], v.conv.args.w[out*v.x.channels+col:], v.x.channels, min(mr, v.y.channels-out), n, true)
		}
	}
}

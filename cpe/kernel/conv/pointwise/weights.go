package pointwise

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
)

// BlockedWeights is the algorithm pointwise-blocked-weights.
var BlockedWeights = conv.Algorithm{
	Name: "pointwise-blocked-weights", Doc: "the weight gradient of 1x1 kernels from images in blocks of channels", Family: shape.Implicit,
	Directions: []shape.Direction{shape.WeightGradient}, Supports: pointwiseInBlocks, Cost: conv.ProductCost, Works: conv.ComputesInBlocks,
	Steps: op.Only[shape.Conv](op.Overwrite), Kernel: conv.Staged(newBlocked),
}

// BlockedWeightsBFloat16 is the algorithm pointwise-blocked-weights-bf16.
var BlockedWeightsBFloat16 = conv.Algorithm{
	Name: "pointwise-blocked-weights-bf16", Doc: "pointwise-blocked-weights with factors rounded to bfloat16", Family: shape.Implicit, Types: op.RoundedFactors,
	Directions: []shape.Direction{shape.WeightGradient}, Supports: pointwise, Works: conv.ComputesInBlocks,
	Cost:  func(p *conv.Problem) float64 { return conv.ProductCost(p) / 2 },
	Steps: op.Only[shape.Conv](op.Overwrite), Kernel: conv.Staged(newBlockedPairs),
}

// pointWeights is the weight gradient of a pointwise convolution on blocks of channels:
//
//	dW (Out x C) += dY (Out x pixels) * X' (pixels x C)
//
// It reads both operands in place, span by span, in the same order for every weight. Core groups share output channels or input channels and, if these are
// few and images many, parts of the spans, whose sums are added last. With factors in
// bfloat16 each core group rounds its blocks of both operands into scratch memory, two neighbouring pixels in the place of one.
type pointWeights struct {
	*conv.Task
	weightsPlan
	sums    conv.SumsOfDW
	workers []pointSums
}

// weightsPlan is the blocking of pointWeights.
type weightsPlan struct {
	x, y   tensor.Images
	pairs  bool // factors are rounded to bfloat16 (vconv.PairSums)
	spans  tensor.Spans
	byRows bool // core groups share output channels, else input channels
	parts  int  // of the spans
}

// planWeights computes the blocking for n images.
func planWeights(spec *cpe.Spec, n int, x, y tensor.Images, pairs bool) weightsPlan {
	sums := fewPoints
	if 4*x.Channels*y.Channels > spec.LDMBytes/2 {
		sums = manyPoints
	}
	v := weightsPlan{x, y, pairs, tensor.NewSpans(n, x.Pixels(), sums, 1, 1), x.Direct() && (!y.Direct() || y.Channels >= x.Channels), 1}
	if n > conv.FewImages {
		v.parts = max(1, min(mostSpanParts, tiling.Blocks(manyUnits, v.blocks()), v.spans.Count()/partSpans))
	}
	return v
}

// manyUnits is the number of blocks of channels from which on parts of the spans are not worth their memory, mostSpanParts the largest number of
// parts of the spans, and partSpans the least number of spans in one.
const manyUnits, mostSpanParts, partSpans = 448, 16, 8

// blocks is the number of blocks of channels that core groups share.
func (v *weightsPlan) blocks() int {
	if v.byRows {
		return v.y.Blocks()
	}
	return v.x.Blocks()
}

// String describes the plan.
func (v weightsPlan) String() string {
	shared := "input"
	if v.byRows {
		shared = "output"
	}
	if v.parts > 1 {
		shared = fmt.Sprintf("%d parts of the spans and %s", v.parts, shared)
	}
	return fmt.Sprintf("%v; core groups share %s channels", v.spans, shared)
}

// pointSums is the state of one core group: the blocks of output and input channels of its share, where they lie in the current span, and
// where in the next.
type pointSums struct {
	rows, cols tiling.Span
	dw         []float32
	now, next  pointOperands
	runs       vconv.PixelRuns
}

// pointOperands locates the pixels of a span.
type pointOperands struct{ x, y tensor.Blocks }

// fewPoints and manyPoints are numbers of pixels that are summed before the sums are added to DW. fewPoints pixels fit L1 together with a
// panel of inputs. manyPoints is for weight gradients that take much of L2, and should not pass through it too often.
const fewPoints, manyPoints = 128, 400

func newPointWeights(t *conv.Task, x, y tensor.Images, pairs bool) *pointWeights {
	spec := t.Machine.Spec()
	v := &pointWeights{Task: t, weightsPlan: planWeights(&spec, t.Shape.N, x, y, pairs), workers: make([]pointSums, spec.CoreGroups)}
	v.sums = conv.SumsOfDW{Task: t, Sums: conv.Sums{Parts: v.parts, Size: x.Channels * y.Channels}}
	t.Reserved = cpe.Scratch{Common: v.sums.Values(), Group: v.xScratch() + v.yScratch()}
	t.Plan, t.Stages = v.weightsPlan, conv.Stages(v)
	if v.parts > 1 {
		t.Stages = conv.Stages(v, &v.sums)
	}
	return v
}

// xScratch and yScratch are the numbers of values of a core group's scratch memory for a span of X and of DY.
func (v *weightsPlan) xScratch() int { return v.scratch(&v.x) }
func (v *weightsPlan) yScratch() int { return v.scratch(&v.y) }

func (v *weightsPlan) scratch(p *tensor.Images) int {
	if v.pairs {
		return p.Scratch(p.Blocks(), v.spans.N) + v.spans.Images*p.Blocks()*vconv.PairRows(v.spans.N)*shape.BlockLanes
	}
	return v.spans.Images * p.Scratch(p.Blocks(), v.spans.N)
}

// Name returns "convolution" and the direction.
func (v *pointWeights) Name() string { return "convolution " + shape.WeightGradient.String() }

// RunGroup computes a core group's share of the gradient: blocks of channels of the parts.
func (v *pointWeights) RunGroup(g *cpe.CoreGroup) error {
	w, blocks := &v.workers[g.Index()], v.blocks()
	at, end := g.Share(v.parts * blocks)
	for at < end {
		part, some := at/blocks, tiling.Span{At: at % blocks, N: min(blocks-at%blocks, end-at)}
		w.rows, w.cols = tiling.Span{At: 0, N: v.y.Blocks()}, tiling.Span{At: 0, N: v.x.Blocks()}
		if v.byRows {
			w.rows = some
		} else {
			w.cols = some
		}
		if w.rows.N > 0 && w.cols.N > 0 {
			v.part(g, w, part)
		}
		at += some.N
	}
	return nil
}

// part computes a part of the sums for the blocks of channels in w.
func (v *pointWeights) part(g *cpe.CoreGroup, w *pointSums, part int) {
	args, memory := v.Args, g.Memory(v.xScratch()+v.yScratch())
	near, far := memory[:v.xScratch()], memory[v.xScratch():]
	first, last := part*v.spans.Count()/v.parts, (part+1)*v.spans.Count()/v.parts
	w.dw = v.sums.Part(g, part)
	accumulate := func(i int) bool { return i > first || v.parts == 1 && args.Add }
	at := func(s tensor.Span) pointOperands {
		return pointOperands{v.x.At(args.X, s, w.cols.At, w.cols.N, near), v.y.At(args.DY, s, w.rows.At, w.rows.N, far)}
	}
	for i := first; i < last; i++ {
		s := v.spans.At(i)
		if v.pairs {
			w.now = pointOperands{v.round(&v.x, args.X, s, w.cols, near), v.round(&v.y, args.DY, s, w.rows, far)}
			v.add(w, s, accumulate(i))
			continue
		}
		v.x.Load(args.X, s, w.cols.At, w.cols.N, near)
		v.y.Load(args.DY, s, w.rows.At, w.rows.N, far)
		w.now = at(s)
		w.next = pointOperands{}
		if i+1 < last {
			w.next = at(v.spans.At(i + 1))
		}
		v.add(w, s, accumulate(i))
	}
}

// round returns some blocks of channels of a span as pairs of pixels, which it makes in scratch memory.
func (v *pointWeights) round(p *tensor.Images, data []float32, s tensor.Span, blocks tiling.Span, scratch []float32) tensor.Blocks {
	loaded, rounded := scratch[:p.Scratch(p.Blocks(), v.spans.N)], scratch[p.Scratch(p.Blocks(), v.spans.N):]
	jump := vconv.PairRows(s.N) * shape.BlockLanes
	to := tensor.Blocks{Data: rounded, Jump: jump, Image: blocks.N * jump}
	for i := range s.Images {
		one := s
		one.Image, one.Images = s.Image+i, 1
		p.Load(data, one, blocks.At, blocks.N, loaded)
		from := p.At(data, one, blocks.At, blocks.N, loaded)
		for b := range blocks.N {
			vconv.RoundRows(to.Data[i*to.Image+b*jump:], from.Data[b*from.Jump:], s.N)
		}
	}
	return to
}

// add adds the products of a span to a part; with accumulate false it overwrites the part.
func (v *pointWeights) add(w *pointSums, s tensor.Span, accumulate bool) {
	x, y, inputs := &w.now.x, &w.now.y, v.x.Channels
	sums := vconv.PixelSums
	w.runs = vconv.PixelRuns{Runs: s.Images, N: s.N, NextA: y.Image, NextB: x.Image, JumpA: y.Jump, JumpB: x.Jump}
	if v.pairs {
		sums, w.runs.N = vconv.PairSums, vconv.PairRows(s.N)
	}
	mr, wide := vconv.PixelSumSize()
	first, rows := w.rows.At*shape.BlockLanes, min(w.rows.N*shape.BlockLanes, v.y.Channels-w.rows.At*shape.BlockLanes)
	panels, tiles := tiling.Blocks(w.cols.N, wide), tiling.Blocks(rows, mr)
	for p := range panels {
		from, to := p*w.cols.N/panels, (p+1)*w.cols.N/panels
		col := (w.cols.At + from) * shape.BlockLanes
		n := min((to-from)*shape.BlockLanes, inputs-col)
		for tile := 0; tile < tiles; {
			some := w.fetch(to, tile, tiles-tile, wide)
			row := tile * mr
			sums(&w.runs, y.Data, x.Data[from*x.Jump:], w.dw[(first+row)*inputs+col:], inputs, row, min(some*mr, rows-row), n, accumulate)
			tile += some
		}
	}
}

// fetch selects blocks to prefetch while tiles of a panel are computed. to is the panel's last block of inputs. These are the blocks of the
// next panel; during the last panel those of the next span's first panel, then the next span's DY. fetch returns for how many of the n
// remaining tiles, from number tile on, its selection holds.
func (w *pointSums) fetch(to, tile, n, wide int) int {
	from, block, end := &w.now.x, to+tile, min(to+wide, w.cols.N)
	if to == w.cols.N {
		from, block, end = &w.next.x, tile, min(wide, to)
	}
	if to == w.cols.N && tile >= end {
		from, block, end = &w.next.y, tile-end, w.rows.N
	}
	w.runs.Ahead = nil
	if block >= end || len(from.Data) == 0 {
		return n
	}
	w.runs.Ahead, w.runs.NextAhead, w.runs.JumpAhead = from.Data[block*from.Jump:], from.Image, from.Jump
	return min(n, end-block)
}

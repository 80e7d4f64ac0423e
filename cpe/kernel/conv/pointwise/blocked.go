package pointwise

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
)

// Blocked is the algorithm pointwise-blocked.
var Blocked = conv.Algorithm{
	Name: "pointwise-blocked", Doc: "GEMM on images in blocks of channels, read in place, for 1x1 kernels", Family: shape.Implicit,
	Directions: []shape.Direction{shape.Forward, shape.InputGradient}, Supports: pointwiseInBlocks, Cost: conv.ProductCost, Works: conv.ComputesInBlocks,
	Steps:  stepsOfBlocks,
	Kernel: conv.Staged(newBlocked),
}

// BlockedBFloat16 is the algorithm pointwise-blocked-bf16.
var BlockedBFloat16 = conv.Algorithm{
	Name: "pointwise-blocked-bf16", Doc: "pointwise-blocked with factors rounded to bfloat16", Family: shape.Implicit, Types: op.RoundedFactors, Stores: true,
	Directions: []shape.Direction{shape.Forward, shape.InputGradient}, Supports: pointwise, Works: conv.ComputesInBlocks,
	Cost:   func(p *conv.Problem) float64 { return conv.ProductCost(p) / 2 },
	Steps:  stepsOfBlocks,
	Kernel: conv.Staged(newBlockedPairs),
}

// BlockedInt8 is the algorithm pointwise-blocked-int8.
var BlockedInt8 = conv.Algorithm{
	Name: "pointwise-blocked-int8", Doc: "pointwise-blocked with factors rounded to 8 bits, sums in int32", Family: shape.Implicit, Types: op.Quantised,
	Directions: []shape.Direction{shape.Forward}, Supports: pointwiseInBytes, Works: conv.ComputesInBlocks,
	Cost:   costOfBytes,
	Steps:  stepsOfBlocks,
	Kernel: conv.Staged(newBlockedIntegers),
}

// costOfBytes is a quarter of the cost of whole blocks.
func costOfBytes(p *conv.Problem) float64 {
	const lanes, bytes = shape.BlockLanes, vconv.ByteBlock
	s := &p.Shape
	return 2 * float64(s.N*tiling.Size(s.OutSize())) * float64(tiling.Blocks(s.C, bytes)*bytes*tiling.Blocks(s.Out, lanes)*lanes) / 4
}

// stepsOfBlocks: the input gradient can add.
func stepsOfBlocks(p *conv.Problem, s op.Step) error {
	if p.Direction == shape.InputGradient {
		return op.Among(s, op.Add)
	}
	return conv.StepsForward(p, s)
}

// Blockable reports whether newBlocked supports the shape: 1x1 kernels, with or without strides, and one group.
func Blockable(s *shape.Conv) bool {
	return s.Group == 1 && len(s.In) <= 2 && (s.Pointwise() || conv.StridedPointwise(*s)) && tiling.Size(s.OutSize()) > 0 && s.N > 0
}

// newBlocked prepares a direction of a pointwise convolution whose images, results or both are stored in blocks of channels.
// Operands stored by planes are converted on the fly, span by span.
func newBlocked(t *conv.Task) error { return prepareBlocked(t, factors.Float32) }

// newBlockedPairs and newBlockedIntegers are newBlocked for factors in bfloat16, and for integers.
func newBlockedPairs(t *conv.Task) error { return prepareBlocked(t, factors.BFloat16) }
func newBlockedIntegers(t *conv.Task) error {
	return prepareBlocked(t, factors.Int8(t.Scales))
}

func prepareBlocked(t *conv.Task, packing factors.Packing) error {
	s, in, out := &t.Shape, t.Images != shape.Planes, t.Results != shape.Planes
	if in && s.C%shape.BlockLanes > 0 || out && s.Out%shape.BlockLanes > 0 {
		return fmt.Errorf("convolution %v: channels in blocks must be multiples of %d", s, shape.BlockLanes)
	}
	x := tensor.NewImages(s.C, inMemory(t.Images), s.In, s.Stride)
	y := tensor.NewImages(s.Out, inMemory(t.Results), s.OutSize(), tiling.Ones(len(s.In)))
	switch t.Direction {
	case shape.WeightGradient:
		newPointWeights(t, x, y, packing.Rounded())
	case shape.InputGradient:
		newPointProduct(t, y, x, packing)
	default:
		newPointProduct(t, x, y, packing)
	}
	return nil
}

// inMemory is the layout that images would have in float32. productPlan.stored describes rounded blocks, and round writes them.
func inMemory(l shape.Layout) shape.Layout {
	if l == shape.RoundedBlocks {
		return shape.Blocks
	}
	return l
}

// pointProduct is a pointwise convolution on blocks of channels, and its input gradient:
//
//	forward         Y' (pixels x Out) = X' (pixels x C) * W' (C x Out) + bias
//	input gradient  dX' (pixels x C)  = dY' (pixels x Out) * W (Out x C)
//
// The left operand is read in place, 16 channels of a pixel at a time. Weights are packed in panels of 32 output channels. A part of a panel
// stays in L1 while a span of pixels, which stays in L2, is multiplied by it. Core groups claim spans dynamically, or a few panels of a span where there
// are few, and share all packed weights. Where these are more than the pixels, a core group begins with some panels of all spans, so that its cache needs only
// these. If there are many weights, a core group packs each part of a panel when it multiplies by it, so that packed
// weights never go to memory. Weights that are fixed are packed once (op.Kept).
//
// In other number types (factors.Packing) the pixels of a span are packed into scratch memory: 32 or 64 channels of a pixel in the place of 16 values. Packed
// weights take as much less.
type pointProduct struct {
	*conv.Task
	productPlan
	workers []pointWorker
	kept    op.Kept
}

// productPlan is the blocking of pointProduct.
type productPlan struct {
	in, out   tensor.Images
	packing   factors.Packing
	depth     int // blocks of factors of one pass
	spans     tensor.Spans
	parts     int  // parts of the panels of a span that core groups claim one by one
	byPanels  bool // a core group's part of the work is some panels of all spans, and not all panels of some spans
	ownPanels bool // each core group packs the panels that it uses

	asStored bool          // the factors are the places of images in rounded blocks
	stored   tensor.Images // these, as if each place held one value
	rounds   bool          // results become rounded blocks
	piece    int           // with rounds, the pixels whose results are in L1
}

// planProduct computes the blocking for a problem.
func planProduct(p *conv.Problem, in, out tensor.Images, packing factors.Packing) productPlan {
	spec := p.Spec
	v := productPlan{in: in, out: out, packing: packing, rounds: p.Results == shape.RoundedBlocks}
	if v.asStored = p.Images == shape.RoundedBlocks && factors.Pairs(); v.asStored {
		v.stored = tensor.NewImages(packing.Places(p.Shape.C), shape.Blocks, p.Shape.In, p.Shape.Stride)
	}
	v.depth = tiling.Even(v.blocks(), pointDepth, 1)
	v.ownPanels = packing.Head() == 0 && 4*v.all() > spec.LDMBytes/2 && v.panels() >= ownPanels*spec.CoreGroups
	held, unit, groups := v.depth, vconv.PixelRows(), 1
	if !v.ownPanels {
		held, groups = held+out.Blocks(), spec.CoreGroups
	}
	if v.rounds {
		v.piece, held = max(1, spec.L1Bytes/2/4/conv.Panel/unit)*unit, v.depth
	}
	if in.Strided() || out.Strided() {
		unit = in.Cols()
	}
	v.spans = tensor.NewSpans(p.Shape.N, in.Pixels(), max(unit, spec.LDMBytes/2/4/shape.BlockLanes/held), unit, groups)
	v.parts = parts(v.panels(), v.spans.Count(), spec.CoreGroups)
	inPlace := v.asStored || !packing.Rounded() && in.Direct()
	v.byPanels = inPlace && v.all() > p.Shape.N*in.Pixels()*in.Channels
	return v
}

// parts is the number of parts of the panels of some spans that cores claim: parts of partPanels panels or more, or smaller ones where the busiest core
// then has fewer panels, as where one core would have two parts of three.
func parts(panels, spans, cores int) int {
	wanted := tiling.Blocks(conv.GroupUnits*cores, spans)
	busiest := func(n int) int { return tiling.Blocks(spans*n, cores) * tiling.Blocks(panels, n) }
	best := max(1, min(tiling.Blocks(panels, partPanels), wanted))
	for n := best; n <= min(panels, wanted); n++ {
		if busiest(n) < busiest(best) {
			best = n
		}
	}
	return best
}

// String describes the plan.
func (v productPlan) String() string {
	return fmt.Sprintf("%v, passes of %d of %d blocks of input channels, %d panels of output channels in %d parts", v.spans, v.depth, v.blocks(), v.panels(), v.parts)
}

// pointWorker is the state of one core group.
type pointWorker struct {
	start    [conv.Panel]float32
	panels   []float32 // packed weights: its own part of a panel, or all panels
	gathered int       // the span whose pixels are in scratch memory, or -1
}

// pointDepth is the number of blocks of input channels of one pass. Core groups pack the panels that they use if there are ownPanels of them for each. Spans
// are claimed in parts of partPanels panels or more (see parts).
const pointDepth, ownPanels, partPanels = 16, 4, 2

func newPointProduct(t *conv.Task, in, out tensor.Images, packing factors.Packing) *pointProduct {
	spec := t.Machine.Spec()
	v := &pointProduct{Task: t, productPlan: planProduct(&t.Problem, in, out, packing), workers: make([]pointWorker, spec.CoreGroups)}
	t.Reserved = cpe.Scratch{Common: v.common(), Group: v.own() + v.inScratch() + v.outScratch()}
	t.Plan, t.Stages, t.Kept = v.productPlan, v.list(), &v.kept
	v.kept = op.Kept{Layout: fmt.Sprint("pointwise ", t.Direction, in.Channels, out.Channels, packing.Layout()), Size: v.all(), Rounds: packing.Rounded()}
	if packing.Restores() {
		v.kept.Restore = (&pointProduct{Task: t.Bare(), productPlan: v.productPlan}).unpack
	}
	return v
}

// panels is the number of panels of weights.
func (v *productPlan) panels() int { return tiling.Blocks(v.out.Channels, conv.Panel) }

// blocks is the number of blocks of factors.
func (v *productPlan) blocks() int { return tiling.Blocks(v.in.Channels, v.packing.Block()) }

// places is the number of places of a pixel's factors of a block.
func (v *productPlan) places() int { return v.packing.Places(v.packing.Block()) }

// weights is where the rows of block k of panel p of packed weights begin; all is the size of all of them.
func (v *productPlan) weights(p, k int) int {
	return p*v.packing.Size(v.blocks()) + v.packing.Head() + v.packing.Rows(k)
}
func (v *productPlan) all() int { return v.panels() * v.packing.Size(v.blocks()) }

// common and own are the numbers of values of packed weights: shared by all core groups, and of each.
func (v *pointProduct) common() int {
	if v.ownPanels {
		return 0
	}
	return v.all()
}

// packsOwn reports whether core groups pack the panels that they use in this run.
func (v *pointProduct) packsOwn() bool { return v.ownPanels && v.Args.Fixed == nil }

func (v *pointProduct) own() int {
	if v.ownPanels {
		return v.packing.Rows(v.depth)
	}
	return 0
}

// inScratch and outScratch are the numbers of values of a core group's scratch memory for the source and the destination of a span.
func (v *pointProduct) inScratch() int {
	if v.asStored {
		return v.spans.Images * v.stored.Scratch(v.stored.Blocks(), v.spans.N)
	}
	loaded := v.in.Scratch(v.in.Blocks(), v.spans.N)
	if v.packing.Rounded() {
		return loaded + v.spans.Images*v.blocks()*v.places()*v.spans.N
	}
	return v.spans.Images * loaded
}

func (v *pointProduct) outScratch() int {
	if v.rounds {
		return conv.Panel * v.piece
	}
	return v.spans.Images * v.out.Scratch(v.out.Blocks(), v.spans.N)
}

// list returns the stages.
func (v *pointProduct) list() []conv.Stage {
	return []conv.Stage{{Program: &packPoints{v}, Skipped: v.packsOwn, Packs: &v.kept}, {Program: v}}
}

// Name returns "convolution" and the direction.
func (v *pointProduct) Name() string { return "convolution " + v.Direction.String() }

// RunGroup computes the spans, or parts of the panels of spans, that a core group claims.
func (v *pointProduct) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()]
	memory := g.Memory(v.own() + v.inScratch() + v.outScratch())
	w.panels, w.gathered = v.kept.Memory(g, v.Args.Fixed, v.common()), -1
	own, memory := memory[:v.own()], memory[v.own():]
	if v.packsOwn() {
		w.panels = own
	}
	all := v.spans.Count() * v.parts
	for i, end := g.Claim(all, 1); i < end; i, end = g.Claim(all, 1) {
		span, part := i/v.parts, i%v.parts
		if v.byPanels {
			span, part = i%v.spans.Count(), i/v.spans.Count()
		}
		v.make(w, span, part*v.panels()/v.parts, (part+1)*v.panels()/v.parts, memory)
	}
	return nil
}

// make computes panels [first, last) of a span.
func (v *pointProduct) make(w *pointWorker, span, first, last int, memory []float32) {
	args := &v.Args
	x, y := args.Through(v.Direction)
	s, near, far := v.spans.At(span), memory[:v.inScratch()], memory[v.inScratch():]
	left := v.factors(x, s, near, w.gathered != span)
	w.gathered = span
	at, n := 2*first, min(2*last, v.out.Blocks())-2*first
	if v.rounds {
		for p := first; p < last; p++ {
			v.round(w, y, s, left, p, far)
		}
		return
	}
	results := v.out.At(y, s, at, n, far)
	var ahead vconv.Ahead
	if v.out.Direct() {
		ahead.Beside = v.beside(y)
	}
	for k := 0; k < v.blocks(); k += v.depth {
		for p := first; p < last; p++ {
			v.multiply(w, s, left, results.From(2*(p-first)), ahead, p, k)
		}
	}
	v.out.Store(y, s, at, n, far, args.Add)
	if args.Finish != nil {
		v.out.Finish(args.Finish, y, s, at, n)
	}
}

// round computes panel p of a span, some pixels at a time, and stores the results in rounded blocks.
func (v *pointProduct) round(w *pointWorker, y []float32, s tensor.Span, left tensor.Blocks, p int, memory []float32) {
	pixels, blocks := v.out.Pixels(), v.out.Blocks()
	for image := range s.Images {
		for at := 0; at < s.N; at += v.piece {
			one := tensor.Span{Image: s.Image + image, Images: 1, First: s.First + at, N: min(v.piece, s.N-at)}
			from := tensor.Blocks{Data: left.Data[image*left.Image+at*shape.BlockLanes:], Jump: left.Jump}
			results := tensor.Blocks{Data: memory, Jump: one.N * shape.BlockLanes}
			place := ((one.Image*blocks+2*p)*pixels + one.First) * shape.BlockLanes
			ahead := vconv.Ahead{At: factors.Lines(y, place, pixels), Beside: v.beside(y)}
			for k := 0; k < v.blocks(); k += v.depth {
				v.multiply(w, one, from, results, ahead, p, k)
			}
			for b := 0; b < 2 && v.Args.Finish != nil; b++ {
				v.Args.Finish(memory[b*results.Jump:][:results.Jump], place+b*pixels*shape.BlockLanes, 2*p+b)
			}
			factors.Round(y, memory, place, results.Jump, 2, one.N, pixels)
		}
	}
}

// beside returns the bytes from results to what is read along with them, 0 if there is nothing.
func (v *pointProduct) beside(y []float32) int {
	if v.Args.Beside == nil {
		return 0
	}
	return vconv.Beside(y, v.Args.Beside)
}

// factors returns the blocks of factors of a span's pixels: in place, or in near, which is filled if load is set.
func (v *pointProduct) factors(x []float32, s tensor.Span, near []float32, load bool) tensor.Blocks {
	blocks := v.in.Blocks()
	if v.asStored {
		all := v.stored.Blocks()
		if load {
			v.stored.Load(x, s, 0, all, near)
		}
		return v.stored.At(x, s, 0, all, near)
	}
	if !v.packing.Rounded() {
		if load {
			v.in.Load(x, s, 0, blocks, near)
		}
		return v.in.At(x, s, 0, blocks, near)
	}
	near, rounded := near[:v.in.Scratch(blocks, v.spans.N)], near[v.in.Scratch(blocks, v.spans.N):]
	to := tensor.Blocks{Data: rounded, Jump: v.places() * s.N, Image: v.blocks() * v.places() * s.N}
	if !load {
		return to
	}
	for i := range s.Images {
		one := s
		one.Image, one.Images = s.Image+i, 1
		v.in.Load(x, one, 0, blocks, near)
		from := v.in.At(x, one, 0, blocks, near)
		v.packing.Pixels(rounded[i*to.Image:], from.Data, from.Jump, blocks, s.N)
	}
	return to
}

// multiply computes panel p of a span for the blocks of factors from block k on, and fetches lines ahead. It adds to the results if k > 0.
func (v *pointProduct) multiply(w *pointWorker, s tensor.Span, left, results tensor.Blocks, ahead vconv.Ahead, p, k int) {
	deep, n := min(v.depth, v.blocks()-k), min(2, v.out.Blocks()-2*p)
	panel, head := w.panels, w.panels
	if v.packsOwn() {
		v.pack(panel, p, k, deep)
	} else {
		panel, head = panel[v.weights(p, k):], panel[v.weights(p, 0)-v.packing.Head():]
	}
	clear(w.start[:])
	if bias := v.Args.Bias; bias != nil {
		copy(w.start[:], bias[p*conv.Panel:])
	}
	tile := vconv.Tile{Blocks: deep, JumpA: left.Jump, Head: head, B: panel, Bias: w.start[:], JumpC: results.Jump, Ahead: ahead, Rows: s.N, N: n,
		First: k == 0, Last: k+deep == v.blocks(), Add: v.Args.Add && v.out.Direct(), Floor: v.Args.Floor}
	for image := range s.Images {
		tile.A, tile.C = left.Data[image*left.Image+k*left.Jump:], results.Data[image*results.Image:]
		v.packing.Multiply(&tile)
	}
}

// pointwiseInBytes: sums must not leave int32.
func pointwiseInBytes(p *conv.Problem) error {
	return op.FirstReason(quant.Fits(p.Shape.Depth()), pointwise(p))
}

func pointwiseInBlocks(p *conv.Problem) error {
	return op.FirstReason(op.Unless(!p.AllPlanes(), "neither images nor results are in blocks of channels"), pointwise(p))
}

func pointwise(p *conv.Problem) error {
	s := &p.Shape
	return op.FirstReason(op.OnHost(p), op.Unless(Blockable(s), "it computes only 1x1 kernels without padding, of one group, over one or two axes"),
		conv.WholeBlocks(p.Images, s.C), conv.WholeBlocks(p.Results, s.Out))
}

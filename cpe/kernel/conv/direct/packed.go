package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// ImplicitBFloat16 is the algorithm implicit-bf16.
var ImplicitBFloat16 = conv.Algorithm{
	Name: "implicit-bf16", Doc: "kernel offsets are shifts of a padded copy of the images, rounded to bfloat16, in a net for inference", Family: shape.Implicit,
	Types: op.RoundedFactors, Directions: []shape.Direction{shape.Forward}, Supports: packable, Cost: packedCost,
	Works: conv.ComputesInBlocks, Steps: conv.StepsForward, Kernel: conv.Staged(newPacked),
}

func packable(p *conv.Problem) error {
	s := &p.Shape
	return op.FirstReason(op.OnHost(p), op.Unless(p.Inference, "it is for weights that do not change"),
		op.Unless(s.UnitStride() && len(s.In) <= 2 && !s.Pointwise(), "it computes only kernels larger than 1x1, without strides, over one or two axes"),
		op.Unless(s.C/s.Group >= shape.BlockLanes, "it computes only groups of %d channels or more", shape.BlockLanes),
		op.Unless(s.Group == 1 || s.C/s.Group%shape.BlockLanes == 0 && s.Out/s.Group%shape.BlockLanes == 0, "the channels of a group are not multiples of %d", shape.BlockLanes),
		conv.WholeBlocks(p.Images, s.C), conv.WholeBlocks(p.Results, s.Out))
}

// packedCost is the cost of whole panels and of lines with the zeros between them, and of copies.
func packedCost(p *conv.Problem) float64 {
	const rate = 1.75 // products in the time of one of float32
	v := planPacked(p)
	pixels := float64(p.Shape.N * v.rows.Units * v.width)
	return pixels*float64(v.groups*v.panels*conv.Panel)*float64(len(v.taps)*v.blocks*v.packing.Block())*2/rate + conv.PairCopies(p)
}

// packed is a convolution without strides whose images are copied, a band of lines at a time, to packed blocks (factors.Packing) with zeros around them. There a
// kernel offset is a shift, and lines follow one another with the zeros between them, so that a pointwise convolution of all pixels of the band with the weights
// of an offset adds that offset's products; the results between lines are dropped. Core groups claim bands, or some panels of output channels of a band.
type packed struct {
	*conv.Task
	packedPlan
	kept op.Kept
}

// packedPlan is the blocking of packed.
type packedPlan struct {
	packing factors.Packing
	in, out tensor.Images
	rows    tensor.Axis
	band    tensor.BlockBand
	taps    []int // the shifts of kernel offsets, in pixels, in the order of the weights
	width   int   // pixels from one line of a band to the next
	behind  int   // pixels behind the last line
	lines   int   // lines of results of a band
	bands   int   // bands of an image
	parts   int   // parts of a group's panels that core groups claim
	groups  int
	blocks  int // blocks of factors of a group's channels
	panels  int // panels of a group's output channels
}

// planPacked computes the blocking for a problem.
func planPacked(p *conv.Problem) packedPlan {
	s := &p.Shape
	one := tiling.Ones(len(s.In))
	v := packedPlan{packing: factors.BFloat16, in: tensor.NewImages(s.C, p.Images, s.In, one), out: tensor.NewImages(s.Out, p.Results, s.OutSize(), one), groups: s.Group}
	rows, cols := tensor.Axes(s, shape.Forward)
	v.rows, v.width = rows, cols.Pitch()
	v.behind = max(0, cols.Extent-v.width)
	cols.Extent = v.width
	v.blocks, v.panels = tiling.Blocks(s.C/s.Group, v.packing.Block()), tiling.Blocks(s.Out/s.Group, conv.Panel)
	for _, y := range rows.Phases[0] {
		for _, x := range cols.Phases[0] {
			v.taps = append(v.taps, y.Shift*v.width+x.Shift)
		}
	}
	// Pixels of all blocks of channels and the results of a panel take half of L2.
	line := v.width * shape.BlockLanes * (v.blocks + 2)
	fit := p.Spec.LDMBytes/2/4/line - rows.Reach
	if v.panels < p.Spec.CoreGroups { // else they share the panels of a band
		fit = min(fit, tiling.Blocks(s.N*rows.Units, p.Spec.CoreGroups))
	}
	v.lines = tiling.Even(rows.Units, max(1, fit), 1)
	v.bands = tiling.Blocks(rows.Units, v.lines)
	v.band = tensor.NewBlockBand(v.in, rows, cols, v.lines)
	if v.parts = 1; s.N*v.bands*v.groups < 2*p.Spec.CoreGroups {
		v.parts = min(v.panels, p.Spec.CoreGroups)
	}
	return v
}

// String describes the plan.
func (v packedPlan) String() string {
	return fmt.Sprintf("bands of %d of %d lines of %d pixels, %d blocks of %d channels, %d panels of output channels in %d parts", v.lines, v.rows.Units, v.width, v.blocks, v.packing.Block(), v.panels, v.parts)
}

func newPacked(t *conv.Task) error {
	v := &packed{Task: t, packedPlan: planPacked(&t.Problem)}
	t.Plan, t.Kept = v.packedPlan, &v.kept
	v.kept = op.Kept{Layout: fmt.Sprint("implicit ", t.Shape.Group, t.Shape.C, t.Shape.Out, len(v.taps), v.packing.Layout()), Size: v.weights(), Rounds: true,
		Restore: (&packed{Task: t.Bare(), packedPlan: v.packedPlan}).restore}
	t.Stages = []conv.Stage{{Program: &packWeights{v}, Packs: &v.kept}, {Program: v}}
	t.Reserved = cpe.Scratch{Common: v.weights(), Group: v.group()}
	return nil
}

// pixels is the number of pixels that some lines of results need, with those behind the last; jump is the distance of blocks of factors.
func (v *packedPlan) pixels(lines int) int { return v.rows.Lines(lines)*v.width + v.behind }
func (v *packedPlan) jump(pixels int) int  { return v.packing.Places(v.packing.Block() * pixels) }

// run is the number of pixels of the results of a band, with those between lines.
func (v *packedPlan) run(lines int) int { return (lines-1)*v.width + v.out.Cols() }

// rowsOf is where the weights of panel p for kernel offset tap begin; panel is the size of all of a panel, weights that of all panels.
func (v *packedPlan) rowsOf(p, tap int) int {
	return p*v.panel() + v.packing.Head() + v.packing.Rows(tap*v.blocks)
}
func (v *packedPlan) panel() int   { return v.packing.Size(len(v.taps) * v.blocks) }
func (v *packedPlan) weights() int { return v.groups * v.panels * v.panel() }

// group is the number of values of a core group's memory: channels of a block of factors, the band, results with those between lines, and without them.
func (v *packedPlan) group() int {
	return v.loads()*v.loaded() + v.rounded() + v.results() + v.out.Scratch(2, v.lines*v.out.Cols())
}

func (v *packedPlan) loads() int   { return v.packing.Block() / shape.BlockLanes }
func (v *packedPlan) loaded() int  { return v.pixels(v.lines) * shape.BlockLanes }
func (v *packedPlan) rounded() int { return v.blocks * v.jump(v.pixels(v.lines)) }
func (v *packedPlan) results() int { return 2 * v.run(v.lines) * shape.BlockLanes }

// Name returns "convolution" and the direction.
func (v *packed) Name() string { return "convolution " + v.Direction.String() }

// RunGroup computes the bands, or some panels of bands, that a core group claims.
func (v *packed) RunGroup(g *cpe.CoreGroup) error {
	memory, weights := g.Memory(v.group()), v.kept.Memory(g, v.Args.Fixed, v.weights())
	near, memory := memory[:v.loads()*v.loaded()], memory[v.loads()*v.loaded():]
	band, memory := memory[:v.rounded()], memory[v.rounded():]
	clear(near)
	loaded, all := -1, v.Shape.N*v.bands*v.groups*v.parts
	for i, end := g.Claim(all, 1); i < end; i, end = g.Claim(all, 1) {
		part, group, first := i%v.parts, i/v.parts%v.groups, i/v.parts/v.groups%v.bands*v.lines
		image, lines := i/v.parts/v.groups/v.bands, min(v.lines, v.rows.Units-first)
		if loaded != i/v.parts {
			v.load(near, band, image, group, first, lines)
			loaded = i / v.parts
		}
		for p := part * v.panels / v.parts; p < (part+1)*v.panels/v.parts; p++ {
			v.multiply(band, weights, memory, image, group, p, first, lines)
		}
	}
	return nil
}

// load packs the lines of a band that some lines of results need. near has been cleared: zeros at the ends of lines are never written.
func (v *packed) load(near, band []float32, image, group, first, lines int) {
	const lanes = shape.BlockLanes
	per, need, pixels := v.Shape.C/v.groups, v.rows.Lines(lines), v.pixels(lines)
	blocks := tiling.Blocks(per, lanes)
	for b := 0; b < blocks; b += v.loads() {
		n := min(v.loads(), blocks-b)
		for i := range n {
			to := near[i*v.loaded():][:pixels*lanes]
			v.band.Fill(to, v.Args.X, image, group*(per/lanes)+b+i, 0, first, need)
			clear(to[need*v.width*lanes:])
			if missing := lanes*(b+i+1) - per; missing > 0 {
				for end := lanes; end <= need*v.width*lanes; end += lanes {
					clear(to[end-missing : end])
				}
			}
		}
		v.packing.Pixels(band[b/v.loads()*v.jump(pixels):], near, v.loaded(), n, pixels)
	}
}

// multiply computes a panel of some lines of results.
func (v *packed) multiply(band, weights, memory []float32, image, group, p, first, lines int) {
	args, run := &v.Args, v.run(lines)
	results, scratch := memory[:v.results()], memory[v.results():]
	channel := group*(v.Shape.Out/v.groups) + p*conv.Panel
	n := tiling.Blocks(min(conv.Panel, v.Shape.Out/v.groups-p*conv.Panel), shape.BlockLanes)
	var start [conv.Panel]float32
	if args.Bias != nil {
		copy(start[:n*shape.BlockLanes], args.Bias[channel:])
	}
	panel := group*v.panels + p
	tile := vconv.Tile{Blocks: v.blocks, JumpA: v.jump(v.pixels(lines)), Head: weights[v.rowsOf(panel, 0)-v.packing.Head():], Bias: start[:],
		C: results, JumpC: run * shape.BlockLanes, Rows: run, N: n, Floor: args.Floor}
	for i, tap := range v.taps {
		tile.A, tile.B, tile.First, tile.Last = band[tap*shape.BlockLanes:], weights[v.rowsOf(panel, i):], i == 0, i == len(v.taps)-1
		v.packing.Multiply(&tile)
	}
	at := tensor.Span{Image: image, Images: 1, First: first * v.out.Cols(), N: lines * v.out.Cols()}
	block, width := channel/shape.BlockLanes, v.out.Cols()*shape.BlockLanes
	to := v.out.At(args.Y, at, block, n, scratch)
	for b := range n {
		vec.CopyRows(to.Data[b*to.Jump:], width, results[b*run*shape.BlockLanes:], v.width*shape.BlockLanes, lines, width)
	}
	v.out.Store(args.Y, at, block, n, scratch, false)
	if args.Finish != nil {
		v.out.Finish(args.Finish, args.Y, at, block, n)
	}
}

// packWeights is the stage that packs all weights.
type packWeights struct{ *packed }

// Name names the stage.
func (v *packWeights) Name() string { return v.packed.Name() + ", packing weights" }

// RunGroup packs a core group's share of the panels.
func (v *packWeights) RunGroup(g *cpe.CoreGroup) error {
	memory := v.kept.Memory(g, v.Args.Fixed, v.weights())
	lo, hi := g.Share(v.groups * v.panels)
	for i := lo; i < hi; i++ {
		first, n := v.outputs(i)
		v.packing.Fill(memory[i*v.panel():], v.Args.W, first, n, v.Shape.C/v.groups, len(v.taps), v.blocks*v.packing.Block())
	}
	return nil
}

// restore writes the rounded weights of all panels.
func (v *packed) restore(w, memory []float32) {
	rows := make([]float32, v.packing.Block()*conv.Panel)
	for i := range v.groups * v.panels {
		for tap := range v.taps {
			for b := range v.blocks {
				v.packing.Unpack(rows, memory[v.rowsOf(i, tap)+v.packing.Rows(b):], 1)
				v.each(i, tap, b, func(weight, at int) { w[weight] = rows[at] })
			}
		}
	}
}

// outputs are the output channels of panel i, which are numbered by group and then by output channels.
func (v *packed) outputs(i int) (first, n int) {
	out := v.Shape.Out / v.groups
	at := i % v.panels * conv.Panel
	return i/v.panels*out + at, min(conv.Panel, out-at)
}

// each calls f for the weights of block b of channels of panel i for a kernel offset, with their places there: 32 output channels side by side.
func (v *packed) each(i, tap, b int, f func(weight, at int)) {
	per, block := v.Shape.C/v.groups, v.packing.Block()
	first, n := v.outputs(i)
	for o := range n {
		for c := range min(block, per-b*block) {
			f(((first+o)*per+b*block+c)*len(v.taps)+tap, c*conv.Panel+o)
		}
	}
}

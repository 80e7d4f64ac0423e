package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// ImplicitBFloat16 is the algorithm implicit-bf16.
var ImplicitBFloat16 = conv.Algorithm{
	Name: "implicit-bf16", Doc: "kernel offsets are shifts of a padded copy of the images, rounded to bfloat16, in a net for inference", Family: shape.Implicit,
	Types: op.RoundedFactors, Directions: []shape.Direction{shape.Forward}, Supports: pairable, Cost: pairedCost,
	Works: conv.ComputesInBlocks, Steps: conv.StepsForward, Kernel: conv.Staged(newPaired),
}

func pairable(p *conv.Problem) error {
	s := &p.Shape
	return op.FirstReason(op.OnHost(p), op.Unless(p.Inference, "it is for weights that do not change"),
		op.Unless(s.UnitStride() && len(s.In) <= 2 && !s.Pointwise(), "it computes only kernels larger than 1x1, without strides, over one or two axes"),
		op.Unless(s.C/s.Group >= vconv.PairBlock/2, "it computes only groups of %d channels or more", vconv.PairBlock/2),
		op.Unless(s.Group == 1 || s.C/s.Group%shape.BlockLanes == 0 && s.Out/s.Group%shape.BlockLanes == 0, "the channels of a group are not multiples of %d", shape.BlockLanes),
		conv.WholeBlocks(p.Images, s.C), conv.WholeBlocks(p.Results, s.Out))
}

// pairedCost is half the cost of whole panels and of lines with the zeros between them.
func pairedCost(p *conv.Problem) float64 {
	v := planPaired(p)
	pixels := v.rows.Units * v.width
	return float64(p.Shape.N*pixels) * float64(v.groups*v.panels*conv.Panel) * float64(len(v.taps)*v.blocks*vconv.PairBlock)
}

// paired is a convolution without strides whose images are copied, a band of lines at a time, to blocks of bfloat16 pairs with zeros around them. There a
// kernel offset is a shift, and lines follow one another with the zeros between them, so that a pointwise convolution of all pixels of the band with the weights
// of an offset adds that offset's products; the results between lines are dropped. Core groups claim bands, or some panels of output channels of a band.
type paired struct {
	*conv.Task
	pairedPlan
	kept op.Kept
}

// pairedPlan is the blocking of paired.
type pairedPlan struct {
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
	blocks  int // blocks of pairs of a group's channels
	panels  int // panels of a group's output channels
}

// planPaired computes the blocking for a problem.
func planPaired(p *conv.Problem) pairedPlan {
	s := &p.Shape
	one := tiling.Ones(len(s.In))
	v := pairedPlan{in: tensor.NewImages(s.C, p.Images, s.In, one), out: tensor.NewImages(s.Out, p.Results, s.OutSize(), one), groups: s.Group}
	rows, cols := tensor.Axes(s, shape.Forward)
	v.rows, v.width = rows, cols.Pitch()
	v.behind = max(0, cols.Extent-v.width)
	cols.Extent = v.width
	v.blocks, v.panels = tiling.Blocks(s.C/s.Group, vconv.PairBlock), tiling.Blocks(s.Out/s.Group, conv.Panel)
	for _, y := range rows.Phases[0] {
		for _, x := range cols.Phases[0] {
			v.taps = append(v.taps, y.Shift*v.width+x.Shift)
		}
	}
	// Pixels of all blocks of channels and the results of a panel take half of L2.
	line := v.width * shape.BlockLanes * (v.blocks + 2)
	v.lines = tiling.Even(rows.Units, max(1, p.Spec.LDMBytes/2/4/line-rows.Reach), 1)
	v.bands = tiling.Blocks(rows.Units, v.lines)
	v.band = tensor.NewBlockBand(v.in, rows, cols, v.lines)
	if v.parts = 1; s.N*v.bands*v.groups < 2*p.Spec.CoreGroups {
		v.parts = min(v.panels, p.Spec.CoreGroups)
	}
	return v
}

// String describes the plan.
func (v pairedPlan) String() string {
	return fmt.Sprintf("bands of %d of %d lines of %d pixels, %d blocks of %d channels, %d panels of output channels in %d parts", v.lines, v.rows.Units, v.width, v.blocks, vconv.PairBlock, v.panels, v.parts)
}

func newPaired(t *conv.Task) error {
	v := &paired{Task: t, pairedPlan: planPaired(&t.Problem)}
	t.Plan, t.Kept = v.pairedPlan, &v.kept
	v.kept.Restore = v.restore
	pack := conv.Stage{Program: &packPaired{v}, Skipped: func() bool { return v.kept.Fresh(t.Args.Fixed, v.weights()) }}
	t.Stages = []conv.Stage{pack, {Program: v}}
	t.Reserved = cpe.Scratch{Common: v.weights(), Group: v.group()}
	return nil
}

// pixels is the number of pixels that some lines of results need, with those behind the last; jump is the distance of blocks of pairs.
func (v *pairedPlan) pixels(lines int) int { return v.rows.Lines(lines)*v.width + v.behind }
func (v *pairedPlan) jump(pixels int) int  { return vconv.PairPlaces(vconv.PairBlock * pixels) }

// run is the number of pixels of the results of a band, with those between lines.
func (v *pairedPlan) run(lines int) int { return (lines-1)*v.width + v.out.Cols() }

// panel is the size of the weights of a panel for one kernel offset, weights of all.
func (v *pairedPlan) panel() int { return v.blocks * vconv.PairPlaces(vconv.PairBlock*conv.Panel) }
func (v *pairedPlan) weights() int {
	return v.groups * v.panels * len(v.taps) * v.panel()
}

// group is the number of values of a core group's memory: two blocks of channels, the band, results with those between lines, and without them.
func (v *pairedPlan) group() int {
	return 2*v.loaded() + v.rounded() + v.results() + v.out.Scratch(2, v.lines*v.out.Cols())
}

func (v *pairedPlan) loaded() int  { return v.pixels(v.lines) * shape.BlockLanes }
func (v *pairedPlan) rounded() int { return v.blocks * v.jump(v.pixels(v.lines)) }
func (v *pairedPlan) results() int { return 2 * v.run(v.lines) * shape.BlockLanes }

// Name returns "convolution" and the direction.
func (v *paired) Name() string { return "convolution " + v.Direction.String() }

// RunGroup computes the bands, or some panels of bands, that a core group claims.
func (v *paired) RunGroup(g *cpe.CoreGroup) error {
	memory, weights := g.Memory(v.group()), v.kept.Memory(g, v.Args.Fixed, v.weights())
	two, memory := memory[:2*v.loaded()], memory[2*v.loaded():]
	band, memory := memory[:v.rounded()], memory[v.rounded():]
	clear(two)
	loaded, all := -1, v.Shape.N*v.bands*v.groups*v.parts
	for i, end := g.Claim(all, 1); i < end; i, end = g.Claim(all, 1) {
		part, group, first := i%v.parts, i/v.parts%v.groups, i/v.parts/v.groups%v.bands*v.lines
		image, lines := i/v.parts/v.groups/v.bands, min(v.lines, v.rows.Units-first)
		if loaded != i/v.parts {
			v.load(two, band, image, group, first, lines)
			loaded = i / v.parts
		}
		for p := part * v.panels / v.parts; p < (part+1)*v.panels/v.parts; p++ {
			v.multiply(band, weights, memory, image, group, p, first, lines)
		}
	}
	return nil
}

// load rounds the lines of a band that some lines of results need. two has been cleared: zeros at the ends of lines are never written.
func (v *paired) load(two, band []float32, image, group, first, lines int) {
	const lanes = shape.BlockLanes
	per, need, pixels := v.Shape.C/v.groups, v.rows.Lines(lines), v.pixels(lines)
	blocks := tiling.Blocks(per, lanes)
	for b := 0; b < blocks; b += 2 {
		n := min(2, blocks-b)
		for half := range n {
			to := two[half*v.loaded():][:pixels*lanes]
			v.band.Fill(to, v.Args.X, image, group*(per/lanes)+b+half, 0, first, need)
			clear(to[need*v.width*lanes:])
			if missing := lanes*(b+half+1) - per; missing > 0 {
				for end := lanes; end <= need*v.width*lanes; end += lanes {
					clear(to[end-missing : end])
				}
			}
		}
		vconv.RoundPixels(band[b/2*v.jump(pixels):], two, v.loaded(), n, pixels)
	}
}

// multiply computes a panel of some lines of results.
func (v *paired) multiply(band, weights, memory []float32, image, group, p, first, lines int) {
	args, run := &v.Args, v.run(lines)
	results, scratch := memory[:v.results()], memory[v.results():]
	channel := group*(v.Shape.Out/v.groups) + p*conv.Panel
	n := tiling.Blocks(min(conv.Panel, v.Shape.Out/v.groups-p*conv.Panel), shape.BlockLanes)
	var start [conv.Panel]float32
	if args.Bias != nil {
		copy(start[:n*shape.BlockLanes], args.Bias[channel:])
	}
	for i, tap := range v.taps {
		panel, last := weights[((group*v.panels+p)*len(v.taps)+i)*v.panel():], i == len(v.taps)-1
		vconv.PairKernel(v.blocks, band[tap*shape.BlockLanes:], v.jump(v.pixels(lines)), panel, start[:], results, run*shape.BlockLanes, run, n, i > 0, args.Floor && last)
		clear(start[:])
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

// packPaired is the stage that packs all weights.
type packPaired struct{ *paired }

// Name names the stage.
func (v *packPaired) Name() string { return v.paired.Name() + ", packing weights" }

// RunGroup packs a core group's share: a panel for one kernel offset at a time.
func (v *packPaired) RunGroup(g *cpe.CoreGroup) error {
	memory := v.kept.Memory(g, v.Args.Fixed, v.weights())
	lo, hi := g.Share(v.groups * v.panels * len(v.taps))
	var rows [vconv.PairBlock * conv.Panel]float32
	for i := lo; i < hi; i++ {
		for b := range v.blocks {
			clear(rows[:])
			v.each(i, b, func(weight, at int) { rows[at] = v.Args.W[weight] })
			vconv.RoundPanel(memory[i*v.panel()+b*v.panel()/v.blocks:], rows[:], vconv.PairBlock)
		}
	}
	return nil
}

// restore writes the rounded weights of all panels.
func (v *paired) restore(w, packed []float32) {
	rows := make([]float32, vconv.PairBlock*conv.Panel)
	for i := range v.groups * v.panels * len(v.taps) {
		for b := range v.blocks {
			vconv.UnroundPanel(rows, packed[i*v.panel()+b*v.panel()/v.blocks:], vconv.PairBlock)
			v.each(i, b, func(weight, at int) { w[weight] = rows[at] })
		}
	}
}

// each calls f for the weights of block b of channels of panel i, with their places there: 32 output channels side by side. Panels are numbered by group, by
// output channels and by kernel offset.
func (v *paired) each(i, b int, f func(weight, at int)) {
	taps, per, out := len(v.taps), v.Shape.C/v.groups, v.Shape.Out/v.groups
	tap, first, group := i%taps, i/taps%v.panels*conv.Panel, i/taps/v.panels
	for o := range min(conv.Panel, out-first) {
		from := (group*out + first + o) * per
		for c := range min(vconv.PairBlock, per-b*vconv.PairBlock) {
			f((from+b*vconv.PairBlock+c)*taps+tap, c*conv.Panel+o)
		}
	}
}

package explicit

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
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Int8 is the algorithm explicit-int8, which computes every shape.
var Int8 = conv.Algorithm{
	Name: "explicit-int8", Doc: "images rounded to 8 bits, of which the column matrix of some rows of results is made, times the weights, sums in int32", Family: shape.Explicit,
	Types: op.Quantised, Directions: []shape.Direction{shape.Forward}, Supports: func(p *conv.Problem) error { return op.FirstReason(quant.Fits(p.Shape.Depth()), packable(p)) },
	Cost: packedCost(factors.Int8(nil), 4), Works: worksPacked, Steps: conv.StepsForward,
	Kernel: conv.Staged(func(t *conv.Task) error { return newPacked(t, factors.Int8(t.Scales)) }),
}

// BFloat16 is the algorithm explicit-bf16.
var BFloat16 = conv.Algorithm{
	Name: "explicit-bf16", Doc: "explicit-int8 with factors rounded to bfloat16 and sums in float32, in a net for inference", Family: shape.Explicit,
	Types: op.RoundedFactors, Directions: []shape.Direction{shape.Forward},
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(packable(p), op.Unless(p.Inference, "it is for weights that do not change"), op.Unless(tiling.Size(p.Shape.Kernel) > 1, "it computes only kernels larger than 1x1"),
			op.Unless(p.Shape.C/p.Shape.Group >= shape.BlockLanes, "it computes only groups of %d channels or more", shape.BlockLanes))
	},
	Cost: func(p *conv.Problem) float64 { return pairCost(p) + conv.PairCopies(p) }, Works: worksPacked, Steps: conv.StepsForward,
	Kernel: conv.Staged(func(t *conv.Task) error { return newPacked(t, factors.BFloat16) }),
}

var pairCost = packedCost(factors.BFloat16, 1.5)

func packable(p *conv.Problem) error {
	s := &p.Shape
	whole := s.Group == 1 || s.C/s.Group%shape.BlockLanes == 0 && s.Out/s.Group%shape.BlockLanes == 0
	return op.FirstReason(op.OnHost(p), conv.WholeBlocks(p.Images, s.C), conv.WholeBlocks(p.Results, s.Out),
		op.Unless(p.AllPlanes() || whole && len(s.In) <= 2, "it computes in blocks only over one or two axes and groups of whole blocks"))
}

// worksPacked: the channels of a pixel become neighbours, as they are in blocks; a few channels would be a block of zeros for the most part.
func worksPacked(p *conv.Problem) (images, results shape.Layout) {
	if p.Shape.C < shape.BlockLanes {
		return conv.ReadsPlanes(p)
	}
	return conv.ComputesInBlocks(p)
}

// packedCost is the cost of whole blocks, rate products in the time of one, and that of rounding images and making columns: a value takes as long as some operations.
// The columns of bfloat16 values, unlike the images that implicit-bf16 reads, are not in L1. It does not depend on the number of core groups, as bands do.
func packedCost(packing factors.Packing, rate float64) func(p *conv.Problem) float64 {
	const round, column = 8, 1
	return func(p *conv.Problem) float64 {
		v := planPacked(p, packing)
		parts := p.Shape.N * v.groups * len(v.parts)
		columns := float64(parts/v.sections*v.rows.Units*v.out.W) * float64(v.blocks*packing.Block())
		outputs := tiling.Blocks(p.Shape.Out/v.groups, shape.BlockLanes) * shape.BlockLanes
		return columns*(2*float64(outputs)/rate+column) + round*float64(parts*v.rows.Extent*v.cols.Extent)*float64(tiling.Blocks(v.per(), shape.BlockLanes)*shape.BlockLanes)
	}
}

// packed multiplies the columns of some rows of results with packed weights (factors.Packing). The rows of images that they need are rounded first, with zeros
// around them and the channels of a pixel side by side, so that the factors of a result are some runs of pixels, which are copied. Core groups claim rows.
type packed struct {
	*conv.Task
	packedPlan
	kept op.Kept
}

// packedPlan is the blocking of packed. With more than two axes, a part of the images or of the results has one position along the axes before the last two. A part of
// the results reads a part of the images for each kernel offset along those axes; these are its sections, which lie one behind another in memory.
type packedPlan struct {
	packing    factors.Packing
	in, out    tensor.Images // of a group, if they are planes
	rows, cols tensor.Axis
	band       tensor.BlockBand
	groups     int
	parts      []int // the part of the images for each part of the results and section; -1: padding
	sections   int
	lines      int // rows of results that are computed together
	bands      int // of a part
	shares     int // of a group's panels, which core groups claim
	places     int // values of memory that a pixel's packed channels take
	blocks     int // blocks of factors of a result
	panels     int // panels of a group's output channels
	deep       int // blocks that are multiplied with all pixels of a band before the next ones
}

func planPacked(p *conv.Problem, packing factors.Packing) packedPlan {
	s := &p.Shape
	out, outer := s.OutSize(), max(0, len(s.In)-2)
	height := func(size []int) []int { return append([]int{tiling.Size(size[:len(size)-1])}, size[len(size)-1]) }
	one := tiling.Ones(2)
	v := packedPlan{packing: packing, groups: s.Group, in: tensor.NewImages(s.C, p.Images, height(s.In), one), out: tensor.NewImages(s.Out, p.Results, height(out), one), sections: tiling.Size(s.Kernel[:outer])}
	if p.Images == shape.Planes {
		v.in.Channels = s.C / s.Group
	}
	if p.Results == shape.Planes {
		v.out.Channels = s.Out / s.Group
	}
	v.rows, v.cols = tensor.Axes(s, shape.Forward)
	for part := range tiling.Size(out[:outer]) {
		for section := range v.sections {
			v.parts = append(v.parts, partOf(s, out, outer, part, section))
		}
	}
	v.places = packing.Places(v.wide())
	v.blocks = tiling.Blocks(tiling.Size(s.Kernel)*v.wide(), packing.Block())
	v.panels = tiling.Blocks(s.Out/s.Group, conv.Panel)
	v.deep = 16 // blocks of 32 columns, as many as L1 has
	// Images' rows, as they are and packed, and columns take half of L2; several bands for each core group, and parts of panels where there are too few.
	units := max(1, s.N*v.groups*len(v.parts)/v.sections)
	fair := tiling.Blocks(v.rows.Units, max(1, 2*p.Spec.CoreGroups/units))
	for v.lines = tiling.Even(v.rows.Units, fair, 1); ; v.lines = tiling.Even(v.rows.Units, v.lines-1, 1) {
		v.band = tensor.NewBlockBand(v.in, v.rows, v.cols, v.lines)
		if v.lines == 1 || 4*v.group() <= p.Spec.LDMBytes/2 {
			break
		}
	}
	v.bands = tiling.Blocks(v.rows.Units, v.lines)
	if v.shares = 1; units*v.bands < p.Spec.CoreGroups {
		v.shares = min(v.panels, p.Spec.CoreGroups)
	}
	return v
}

// partOf returns the part of images that a section of a part of results reads, -1 if it lies outside.
func partOf(s *shape.Conv, out []int, outer, part, section int) (of int) {
	size := 1
	for i := outer - 1; i >= 0; i-- {
		at := part%out[i]*s.Stride[i] - s.Pad[i] + section%s.Kernel[i]*s.Dilation[i]
		if at < 0 || at >= s.In[i] {
			return -1
		}
		of += at * size
		size, part, section = size*s.In[i], part/out[i], section/s.Kernel[i]
	}
	return of
}

// per is the number of channels of a group; wide is that with those that fill up a place in memory.
func (v *packedPlan) per() int {
	if v.in.Direct() {
		return v.in.Channels / v.groups
	}
	return v.in.Channels
}
func (v *packedPlan) wide() int {
	return tiling.Blocks(v.per(), v.packing.Together()) * v.packing.Together()
}

// String describes the plan.
func (v packedPlan) String() string {
	return fmt.Sprintf("bands of %d of %d rows of %d results, %d blocks of %d factors, %d panels of output channels in %d parts", v.lines, v.rows.Units, v.out.W, v.blocks, v.packing.Block(), v.panels, v.shares)
}

func newPacked(t *conv.Task, packing factors.Packing) error {
	v := &packed{Task: t, packedPlan: planPacked(&t.Problem, packing)}
	t.Plan, t.Kept = v.packedPlan, &v.kept
	v.kept = op.Kept{Layout: fmt.Sprint("explicit ", t.Shape.Group, t.Shape.C, t.Shape.Out, t.Shape.Kernel, packing.Layout()), Size: v.weights(), Rounds: packing.Rounded()}
	if packing.Restores() {
		v.kept.Restore = (&packed{Task: t.Bare(), packedPlan: v.packedPlan}).restore
	}
	t.Stages = []conv.Stage{{Program: &packWeights{v}, Packs: &v.kept}, {Program: v}}
	t.Reserved = cpe.Scratch{Common: v.weights(), Group: v.group()}
	return nil
}

// weights is the size of all packed weights, and panel that of one panel.
func (v *packedPlan) weights() int { return v.groups * v.panels * v.panel() }
func (v *packedPlan) panel() int   { return v.packing.Size(v.blocks) }

// pixels is the number of pixels of images, with zeros around them, that a band needs, results that of its results.
func (v *packedPlan) pixels() int  { return v.sections * v.band.Size() / shape.BlockLanes }
func (v *packedPlan) results() int { return v.lines * v.out.W }

// The parts of a core group's memory: a block of channels of these pixels; the same packed; all channels packed, side by side; columns; and results.
func (v *packedPlan) near() int    { return v.packing.Block() * v.pixels() }
func (v *packedPlan) packed() int  { return v.packing.Places(v.near()) }
func (v *packedPlan) joined() int  { return v.places * v.pixels() }
func (v *packedPlan) columns() int { return v.blocks * v.jump(v.results()) }
func (v *packedPlan) group() int {
	return v.near() + v.packed() + v.joined() + v.columns() + v.out.Scratch(2, v.results())
}

// jump is the distance of blocks of n results' factors.
func (v *packedPlan) jump(n int) int { return v.packing.Places(v.packing.Block() * n) }

// Name returns "convolution" and the direction.
func (v *packed) Name() string { return "convolution " + v.Direction.String() }

// RunGroup computes the bands, or some panels of bands, that a core group claims.
func (v *packed) RunGroup(g *cpe.CoreGroup) error {
	memory, weights := g.Memory(v.group()), v.kept.Memory(g, v.Args.Fixed, v.weights())
	near, memory := memory[:v.near()], memory[v.near():]
	bytes, memory := memory[:v.packed()], memory[v.packed():]
	joined, memory := memory[:v.joined()], memory[v.joined():]
	columns, scratch := memory[:v.columns()], memory[v.columns():]
	clear(near)
	parts, made := len(v.parts)/v.sections, -1
	all := v.Shape.N * v.groups * parts * v.bands * v.shares
	for i, end := g.Claim(all, 1); i < end; i, end = g.Claim(all, 1) {
		at := i / v.shares
		band, part, group, image := at%v.bands, at/v.bands%parts, at/v.bands/parts%v.groups, at/v.bands/parts/v.groups
		lines := min(v.lines, v.rows.Units-band*v.lines)
		if made != at {
			v.join(joined, bytes, near, image, group, part, band*v.lines, lines)
			v.fill(columns, joined, lines)
			made = at
		}
		share := i % v.shares
		for p := share * v.panels / v.shares; p < (share+1)*v.panels/v.shares; p++ {
			v.multiply(columns, weights, scratch, image, group, p, (part*v.rows.Units+band*v.lines)*v.out.W, lines*v.out.W)
		}
	}
	return nil
}

// place returns the index of an image, or of a group of it if they are planes, and its first block of channels.
func (v *packedPlan) place(of *tensor.Images, image, group int) (index, block int) {
	if of.Direct() {
		return image, group * of.Blocks() / v.groups
	}
	return image*v.groups + group, 0
}

// join packs the rows of images that some rows of results need, a block of channels at a time, and puts the channels of a pixel side by side. near has been cleared: the padding at
// the ends of rows is never written.
func (v *packed) join(joined, bytes, near []float32, image, group, part, first, lines int) {
	const lanes = shape.BlockLanes
	pixels, loads, blocks := v.pixels(), v.packing.Block()/lanes, tiling.Blocks(v.per(), lanes)
	image, block := v.place(&v.in, image, group)
	for b := 0; b < blocks; b += loads {
		n := min(loads, blocks-b)
		for section := range v.sections {
			for i := range n {
				to := near[i*pixels*lanes+section*v.band.Size():][:v.band.Size()]
				if from := v.parts[part*v.sections+section]; from >= 0 {
					v.band.Fill(to, v.Args.X, image, block+b+i, from, first*v.rows.Step, v.rows.Lines(lines))
				} else {
					clear(to)
				}
			}
		}
		if missing := v.wide() - v.per(); missing > 0 && b+n == blocks { // for the sake of NaN, which zeros do not make zeros
			last := near[(n-1)*pixels*lanes+(v.per()-1)%lanes+1:]
			for at := 0; at < pixels*lanes; at += lanes {
				clear(last[at:][:missing])
			}
		}
		v.packing.Pixels(bytes, near, pixels*lanes, n, pixels)
		// Blocks of places, one behind another, become neighbours.
		from := v.packing.Places(b * lanes)
		for to := from; to < min(v.places, from+v.packing.Places(v.packing.Block())); to += lanes {
			vec.CopyRows(joined[to:], v.places, bytes[(to-from)*pixels:], lanes, pixels, min(lanes, v.places-to))
		}
	}
}

// fill makes the columns of some rows of results: for each result the places of its factors, in blocks.
func (v *packed) fill(columns, joined []float32, lines int) {
	const lanes = shape.BlockLanes
	n, line := lines*v.out.W, v.band.Shift(1, 0)/lanes*v.places
	run, taps := v.places, v.cols.Phases[0]
	if v.cols.Reach == len(taps)-1 { // pixels of neighbouring kernel offsets are neighbours
		run, taps = len(taps)*v.places, taps[:1]
	}
	at := 0
	for section := range v.sections {
		for _, y := range v.rows.Phases[0] {
			for _, x := range taps {
				from := joined[section*v.band.Size()/lanes*v.places+y.Shift*line+x.Shift*v.places:]
				for done := 0; done < run; {
					size := min(run-done, lanes-at%lanes)
					for i := range lines {
						vec.CopyRows(columns[at/lanes*n*lanes+i*v.out.W*lanes+at%lanes:], lanes, from[i*v.rows.Step*line+done:], v.cols.Step*v.places, v.out.W, size)
					}
					done, at = done+size, at+size
				}
			}
		}
	}
	for end := v.blocks * v.packing.Places(v.packing.Block()); at < end; { // their weights are zero
		size := min(end-at, lanes-at%lanes)
		vec.CopyRows(columns[at/lanes*n*lanes+at%lanes:], lanes, zeros[:], 0, n, size)
		at += size
	}
}

var zeros [shape.BlockLanes]float32

// multiply computes a panel of n results from result first on.
func (v *packed) multiply(columns, weights, scratch []float32, image, group, p, first, n int) {
	const lanes = shape.BlockLanes
	args := &v.Args
	image, block := v.place(&v.out, image, group)
	block += p * conv.Panel / lanes
	outputs := min(conv.Panel, v.Shape.Out/v.groups-p*conv.Panel)
	var bias [conv.Panel]float32
	if args.Bias != nil {
		copy(bias[:outputs], args.Bias[group*(v.Shape.Out/v.groups)+p*conv.Panel:])
	}
	at, blocks := tensor.Span{Image: image, Images: 1, First: first, N: n}, tiling.Blocks(outputs, lanes)
	to := v.out.At(args.Y, at, block, blocks, scratch)
	panel, jump := weights[(group*v.panels+p)*v.panel():], v.jump(n)
	tile := vconv.Tile{JumpA: jump, Head: panel, Bias: bias[:], C: to.Data, JumpC: to.Jump, Rows: n, N: blocks, Floor: args.Floor}
	for done := 0; done < v.blocks; done += tile.Blocks {
		tile.Blocks = min(v.deep, v.blocks-done)
		tile.A, tile.B, tile.First, tile.Last = columns[done*jump:], panel[v.packing.Head()+v.packing.Rows(done):], done == 0, done+tile.Blocks == v.blocks
		v.packing.Multiply(&tile)
	}
	v.out.Store(args.Y, at, block, blocks, scratch, false)
	if args.Finish != nil {
		v.out.Finish(args.Finish, args.Y, at, block, blocks)
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
		v.packing.Fill(memory[i*v.panel():], v.Args.W, first, n, v.per(), tiling.Size(v.Shape.Kernel), v.wide())
	}
	return nil
}

// outputs are the output channels of panel i, which are numbered by group and then by output channels.
func (v *packed) outputs(i int) (first, n int) {
	out, at := v.Shape.Out/v.groups, i%v.panels*conv.Panel
	return i/v.panels*out + at, min(conv.Panel, out-at)
}

// restore writes the rounded weights of all panels.
func (v *packed) restore(w, memory []float32) {
	block, taps := v.packing.Block(), tiling.Size(v.Shape.Kernel)
	rows := make([]float32, block*conv.Panel)
	for i := range v.groups * v.panels {
		first, n := v.outputs(i)
		for b := range v.blocks {
			v.packing.Unpack(rows, memory[i*v.panel()+v.packing.Head()+v.packing.Rows(b):], 1)
			for j := range block {
				if tap, c := (b*block+j)/v.wide(), (b*block+j)%v.wide(); tap < taps && c < v.per() {
					for o := range n {
						w[((first+o)*v.per()+c)*taps+tap] = rows[j*conv.Panel+o]
					}
				}
			}
		}
	}
}

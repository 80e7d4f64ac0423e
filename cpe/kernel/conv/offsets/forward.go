package offsets

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

// Forward is the algorithm offsets.
var Forward = conv.Algorithm{
	Name: "offsets", Doc: "vectors of output channels, from single values of a padded band, for images of few channels or few pixels, and in inference for strides", Family: shape.Implicit,
	Directions: []shape.Direction{shape.Forward}, Supports: func(p *conv.Problem) error { return byVectors(p, op.FirstReason(inBlocks(p), suits(p))) },
	Cost: conv.OffsetCost, Works: works, Steps: conv.StepsForward, Kernel: conv.Staged(newForward),
	Special: true,
	General: true,
}

// Kernel is the host's forward convolution for images of few channels or few pixels, and in inference for strides:
//
//	Y' (pixels x Out) = X' (pixels x C*offsets) * W' (C*offsets x Out) + bias
//
// Images lie by planes or, in inference, in blocks of channels. A band of rows of an image is copied with its padding, so that a kernel offset is
// the same shift for every pixel (see tensor.Band). The kernel broadcasts single values of this band; the left operand is never gathered. Weights
// are packed in panels of 32 output channels; a part of a panel stays in L1 for a whole band. Results are computed in blocks of channels. If they
// are stored by planes, they are transposed band by band.
type Kernel struct {
	*conv.Task
	forwardPlan
	workers []worker
	kept    op.Kept
}

// forwardPlan is the blocking of Kernel.
type forwardPlan struct {
	Padded tensor.Band
	shifts []int
	depth  int // shifts of one pass over a band
	Out    tensor.Images
	Rows   int  // result rows in a band, at most
	parts  int  // parts of the panels of a row that core groups share out
	rounds bool // images and weights are rounded to bfloat16 (rounded.go)
}

// String describes the plan.
func (v forwardPlan) String() string {
	return fmt.Sprintf("bands of %d of %d result rows, passes of %d of %d weights of an output channel, %d panels of output channels in %d parts", v.Rows, v.Out.Rows(), v.depth, len(v.shifts), v.panels(), v.parts)
}

// worker is the state of one core group.
type worker struct {
	start [conv.Panel]float32
	tiles vconv.OffsetTiles
}

// passDepth bounds the number of shifts of one pass, so that their part of a panel of weights takes about half of L1.
const passDepth = 160

func newForward(t *conv.Task) error { return prepare(t, false) }

func prepare(t *conv.Task, rounds bool) error {
	v, spec := New(t, rounds), t.Machine.Spec()
	fit := max(1, min(spec.LDMBytes/2/4/v.Line(), tiling.Blocks(t.Shape.N*v.Out.Rows(), spec.CoreGroups)))
	v.Cut(tiling.Even(v.Out.Rows(), fit, 1))
	v.parts = max(1, min(v.panels(), tiling.Blocks(conv.GroupUnits*spec.CoreGroups, t.Shape.N*v.Out.Rows())))
	t.Reserved = cpe.Scratch{Common: v.Weights(), Group: v.Band() + v.results()}
	t.Plan, t.Stages = v.forwardPlan, []conv.Stage{v.Packing(), {Program: v}}
	return nil
}

// New describes images and results, which are rounded to bfloat16 with rounds; Cut then cuts them into bands.
func New(t *conv.Task, rounds bool) *Kernel {
	s := &t.Shape
	v := &Kernel{Task: t, forwardPlan: forwardPlan{Padded: tensor.NewBand(*s, t.Images, 1), rounds: rounds}, workers: make([]worker, t.Machine.Spec().CoreGroups)}
	v.Out = tensor.NewImages(s.Out, t.Results, s.OutSize(), tiling.Ones(len(s.In)))
	t.Kept = &v.kept
	return v
}

// Line is the number of values of a result row and of the input rows that one more result row needs.
func (v *Kernel) Line() int {
	return v.Out.Blocks()*shape.BlockLanes*v.Out.Cols() + v.Padded.Channels/v.Padded.Lanes*v.Padded.StrideH*v.Padded.Width
}

// Cut cuts images into bands of the given number of result rows.
func (v *Kernel) Cut(rows int) {
	v.Rows = rows
	if v.rounds {
		v.cutRounded(rows)
		return
	}
	v.Padded = tensor.NewBand(v.Shape, v.Images, rows)
	v.shifts = v.Padded.Shifts()
	v.depth = tiling.Even(len(v.shifts), passDepth, 1)
	v.kept = op.Kept{Layout: fmt.Sprint("offsets ", v.Images, v.Out.Channels, len(v.shifts)), Size: v.Weights(), Restore: v.forwardPlan.unpack}
}

// panels is the number of panels of weights; weights is their number of values.
func (v forwardPlan) panels() int  { return tiling.Blocks(v.Out.Channels, conv.Panel) }
func (v forwardPlan) Weights() int { return v.panels() * len(v.shifts) * conv.Panel }

// Band is the number of values of memory that Convolve needs for a band.
func (v *Kernel) Band() int {
	if v.rounds {
		return v.roundedBand()
	}
	return v.Padded.Size()
}

// results is the number of values of a core group's scratch memory for a band of results.
func (v *Kernel) results() int { return v.Out.Scratch(v.Out.Blocks(), v.Rows*v.Out.Cols()) }

// Name returns "convolution" and the direction.
func (v *Kernel) Name() string { return "convolution " + shape.Forward.String() }

// RunGroup convolves a core group's share of the rows of all images: whole rows in bands, and parts of the rows at both ends of the share.
func (v *Kernel) RunGroup(g *cpe.CoreGroup) error {
	y, width := v.Args.Y, v.Out.Cols()
	memory := g.Memory(v.Band() + v.results())
	images, scratch := memory[:v.Band()], memory[v.Band():]
	clear(images)
	all := v.Out.Rows()
	lo, hi := g.Share(v.Shape.N * all * v.parts)
	for lo < hi {
		image, row, part := lo/v.parts/all, lo/v.parts%all, lo%v.parts
		rows, end := 1, min(v.parts, part+hi-lo)
		if part == 0 && end == v.parts {
			rows = tiling.Even(min(all-row, (hi-lo)/v.parts), v.Rows, 1)
		}
		lo += (rows-1)*v.parts + end - part
		at := tensor.Span{Image: image, Images: 1, First: row * width, N: rows * width}
		panels := tiling.Span{At: part * v.panels() / v.parts}
		panels.N = end*v.panels()/v.parts - panels.At
		block := 2 * panels.At
		blocks := min(2*panels.End(), v.Out.Blocks()) - block
		v.Convolve(g, image, row, rows, panels, images, v.Out.At(y, at, block, blocks, scratch))
		v.Out.Store(y, at, block, blocks, scratch, false)
		if v.Args.Finish != nil {
			v.Out.Finish(v.Args.Finish, y, at, block, blocks)
		}
	}
	return nil
}

// Convolve computes some panels of some result rows of an image; images is memory for the band.
func (v *Kernel) Convolve(g *cpe.CoreGroup, image, row, rows int, panels tiling.Span, images []float32, results tensor.Blocks) {
	x := v.band(image, row, rows, images)
	for k := 0; k < len(v.shifts); k += v.depth {
		for p := panels.At; p < panels.End(); p++ {
			v.multiply(g, x, results.From(2*(p-panels.At)), p, k, rows)
		}
	}
}

// band returns the padded rows of an image.
func (v *Kernel) band(image, row, rows int, memory []float32) []float32 {
	if v.rounds {
		return v.rounded(image, row, rows, memory)
	}
	return v.Padded.Of(v.Args.X, image, row, rows, memory)
}

// Panels is all panels of output channels.
func (v *Kernel) Panels() tiling.Span { return tiling.Span{N: v.panels()} }

// multiply computes one panel of output channels of a band, for the shifts from number k on. It adds to the results if k > 0.
func (v *Kernel) multiply(g *cpe.CoreGroup, x []float32, results tensor.Blocks, p, k, rows int) {
	w, b := &v.workers[g.Index()], &v.Padded
	shifts := v.shifts[k:min(k+v.depth, len(v.shifts))]
	panel := v.kept.Memory(g, v.Args.Fixed, v.Weights())[(p*len(v.shifts)+k)*conv.Panel:]
	clear(w.start[:])
	if bias := v.Args.Bias; bias != nil && k == 0 {
		copy(w.start[:], bias[p*conv.Panel:])
	}
	n, width, per := min(2, v.Out.Blocks()-2*p), v.Out.Cols(), v.valuesOfPlace()
	step, next := b.StrideW*b.Lanes/per, b.StrideH*b.Width/per
	if width == 1 { // treat a column as a row with a larger step
		rows, width, step = 1, rows, next
	}
	floor := v.Args.Floor && k+len(shifts) == len(v.shifts)
	tiles := tiling.Blocks(width, vconv.OffsetPixels())
	for row := range rows {
		for at, tile := 0, 0; tile < tiles; tile += w.tiles.Tiles {
			w.tiles = tilesOf(width, tile, tiles)
			w.tiles.Step, w.tiles.JumpC, w.tiles.Pairs = step, results.Jump, per > 1
			vconv.OffsetKernel(&w.tiles, shifts, x[row*next+at*step:], panel, w.start[:], results.Data[(row*width+at)*shape.BlockLanes:], n, k > 0, floor)
			at += w.tiles.Tiles * w.tiles.N
		}
	}
}

// tilesOf describes the tiles of a row of pixels, cut evenly into the given number of tiles. It returns the run of equal tiles that starts
// with tile first: leading tiles may have one pixel more than the others.
func tilesOf(pixels, first, tiles int) vconv.OffsetTiles {
	few, more := pixels/tiles, pixels%tiles
	t := vconv.OffsetTiles{Tiles: tiles - more, N: few}
	if first < more {
		t.Tiles, t.N = more, few+1
	}
	return t
}

// PackWeights is the stage that packs all weights: output channels side by side, shifts one below another, zeros in lanes
// past the last channel.
type PackWeights struct{ *Kernel }

// Packing returns the stage that packs the weights.
func (v *Kernel) Packing() conv.Stage {
	return conv.Stage{Program: PackWeights{v}, Packs: &v.kept}
}

// Name names the stage.
func (p PackWeights) Name() string { return p.Kernel.Name() + ", packing weights" }

// RunGroup packs a core group's share of the blocks of output channels.
func (p PackWeights) RunGroup(g *cpe.CoreGroup) error {
	memory, k := p.kept.Memory(g, p.Args.Fixed, p.Weights()), len(p.shifts)
	lo, hi := g.Share(2 * p.panels())
	if p.rounds {
		p.packRounded(memory, lo, hi)
		return nil
	}
	for block := lo; block < hi; block++ {
		dst := memory[block/2*k*conv.Panel+block%2*shape.BlockLanes:]
		n := max(0, min(shape.BlockLanes, p.Out.Channels-block*shape.BlockLanes))
		if n < shape.BlockLanes {
			for i := range k {
				clear(dst[i*conv.Panel:][:shape.BlockLanes])
			}
		}
		if n > 0 {
			p.eachWeights(dst, p.Args.W[block*shape.BlockLanes*k:], func(dst, w []float32, ld, depth int) { vec.Transpose(dst, w, ld, k, n, depth) })
		}
	}
	return nil
}

// eachWeights calls do with packed weights and those they are made of, for runs of depth weights of an output channel that are packed ld values apart: all
// weights at once, or those of one channel of a block of images after the other.
func (v *forwardPlan) eachWeights(packed, w []float32, do func(packed, w []float32, ld, depth int)) {
	b := &v.Padded
	depth := b.KH * b.KW
	if b.Lanes == 1 {
		do(packed, w, conv.Panel, len(v.shifts))
		return
	}
	for c := range b.Channels {
		do(packed[(c/b.Lanes*depth*b.Lanes+c%b.Lanes)*conv.Panel:], w[c*depth:], b.Lanes*conv.Panel, depth)
	}
}

// unpack writes all packed weights back to the order of Arrays.W.
func (v forwardPlan) unpack(w, packed []float32) {
	k := len(v.shifts)
	for p := range v.panels() {
		n := min(conv.Panel, v.Out.Channels-p*conv.Panel)
		v.eachWeights(packed[p*k*conv.Panel:], w[p*conv.Panel*k:], func(packed, w []float32, ld, depth int) { vec.Transpose(w, packed, k, ld, depth, n) })
	}
}

// fewChannels refuses shapes that do not suit vectors of output channels.
func fewChannels(p *conv.Problem) error {
	return op.Unless(conv.FewChannels(&p.Shape), "it computes only images of fewer than %d channels or of few pixels, one group, no dilation, and at least %d output channels", conv.ManyChannels, conv.SomeOutputs)
}

// suits refuses problems that suit vectors of output channels neither for few channels nor, in inference, for strides.
func suits(p *conv.Problem) error {
	return op.Unless(conv.FewChannels(&p.Shape) || p.Inference && conv.Strides(&p.Shape),
		"it computes only images of fewer than %d channels or of few pixels, one group, no dilation, and at least %d output channels; in inference also more channels, if there are strides",
		conv.ManyChannels, conv.SomeOutputs)
}

// works: images are read as they lie.
func works(p *conv.Problem) (images, results shape.Layout) { return p.Images, shape.Blocks }

// inBlocks refuses images in blocks, but for whole ones in inference.
func inBlocks(p *conv.Problem) error {
	return op.FirstReason(op.Unless(p.Images == shape.Planes || p.Inference, "it reads images in %v only in inference", p.Images), conv.WholeBlocks(p.Images, p.Shape.C))
}

// onlyPlanes refuses images in blocks.
func onlyPlanes(p *conv.Problem) error {
	return op.Unless(p.Images == shape.Planes, "it reads only planes; images are in %v", p.Images)
}

// byVectors refuses what the kernels with vectors of output channels cannot compute, or what a shape does not suit.
func byVectors(p *conv.Problem, unsuited error) error {
	return op.FirstReason(op.OnHost(p), unsuited, conv.WholeBlocks(p.Results, p.Shape.Out))
}

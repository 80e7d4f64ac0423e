package depthwise

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Bands is the algorithm depthwise-bands.
var Bands = conv.Algorithm{
	Name: "depthwise-bands", Doc: "depthwise convolution in bands of blocks of channels", Family: shape.Implicit,
	Directions: []shape.Direction{shape.Forward, shape.InputGradient}, Supports: supports, Cost: conv.VectorCost, Works: conv.ComputesInBlocks,
	Steps: conv.StepsForward, Kernel: conv.Staged(newBands),
	Special: true,
}

// bandsKernel is the host's depthwise convolution, forward and for the input gradient. It copies a band of rows of 16 channels with its
// padding into blocks of channels. There a kernel offset is a constant shift, and a pixel is one vector of channels. Images stored by planes
// are transposed to blocks while they are copied; results are transposed back.
//
// With several outputs per channel, the output planes of a channel are treated as one tall image of several parts, each with a kernel of its
// own. The input gradient sums over parts as well as over kernel offsets.
//
// With strides, a pixel of the input gradient receives only the kernel offsets with its remainder modulo the stride: its phase. Each phase is
// computed by itself.
type bandsKernel struct {
	*conv.Task
	bandsPlan
	workers []worker
}

// bandsPlan is the blocking of bandsKernel.
type bandsPlan struct {
	rows, cols tensor.Axis
	phases     [][]tapPhase // of each part of the destination
	source     tensor.BlockBand
	parts      int           // parts of the source
	images     tensor.Images // of the source
	dst        tensor.Images
	units      int // rows of units in a band
	bands      int // bands in an image
}

// planBands computes the blocking for a problem.
func planBands(p *conv.Problem) bandsPlan {
	s, v := &p.Shape, bandsPlan{parts: 1}
	v.rows, v.cols = tensor.Axes(s, p.Direction)
	x, y := imagesOf(p)
	outs := s.Out / s.C
	if v.dst = y; p.Direction == shape.InputGradient {
		x, v.dst, v.parts, outs = y, x, outs, 1
	}
	v.images = x
	v.cut(fittingRows(p.Spec, v.rows, v.cols, v.dst.Cols()))
	for part := range outs {
		v.phases = append(v.phases, v.findPhases(part, s.Kernel))
	}
	return v
}

// String describes the plan.
func (v bandsPlan) String() string {
	return fmt.Sprintf("bands of %d of %d rows of 16 channels, %d phases", v.units, v.rows.Units, len(v.phases)*len(v.phases[0]))
}

// tapPhase describes the results at one place of every unit: the shifts of the source values to be summed, and the kernel offset of each.
type tapPhase struct {
	row, col int
	shifts   []int
	taps     []int
}

// worker is the state of one core group.
type worker struct {
	start  []float32 // initial sums (biases) of each part
	pixels vconv.TapPixels
}

func newBands(t *conv.Task) error {
	v := &bandsKernel{Task: t, bandsPlan: planBands(&t.Problem)}
	v.ready(1)
	t.Stages = conv.Stages(v)
	return nil
}

// ready makes the workers, some for each core group, once images are cut.
func (v *bandsKernel) ready(each int) {
	v.workers = make([]worker, each*v.Spec.CoreGroups)
	for i := range v.workers {
		v.workers[i].start = pages.Make[float32](len(v.phases) * shape.BlockLanes)
	}
	v.Plan, v.Reserved = v.bandsPlan, cpe.Scratch{Group: v.sources() + 2*v.weights() + v.results()}
}

// imagesOf describes the images and the results. The results' parts lie one below another.
func imagesOf(p *conv.Problem) (x, y tensor.Images) {
	s := &p.Shape
	one, out := tiling.Ones(len(s.In)), s.OutSize()
	h, w := tiling.Two(out, 1)
	return tensor.NewImages(s.C, p.Images, s.In, one), tensor.NewImages(s.C, p.Results, []int{s.Out / s.C * h, w}, tiling.Ones(2))
}

// fittingRows returns the number of rows of units in a band whose source lines and results fill about a quarter of L2.
func fittingRows(spec *cpe.Spec, rows, cols tensor.Axis, width int) int {
	line := shape.BlockLanes * (rows.Step*cols.Extent + rows.Results*width)
	return max(1, spec.LDMBytes/4/4/line)
}

// cut cuts images into even bands of a number of rows of units or fewer.
func (v *bandsPlan) cut(rows int) {
	v.units = tiling.Even(v.rows.Units, rows, 1)
	v.bands = tiling.Blocks(v.rows.Units, v.units)
	v.source = tensor.NewBlockBand(v.images, v.rows, v.cols, v.units)
}

// findPhases returns all phases of one part.
func (v *bandsPlan) findPhases(part int, kernel []int) []tapPhase {
	var list []tapPhase
	_, kw := tiling.Two(kernel, 1)
	for row, down := range v.rows.Phases {
		for col, along := range v.cols.Phases {
			p := tapPhase{row: row, col: col}
			for source := range v.parts {
				for _, y := range down {
					for _, x := range along {
						p.shifts = append(p.shifts, source*v.source.Size()+v.source.Shift(y.Shift, x.Shift))
						p.taps = append(p.taps, (part+source)*tiling.Size(kernel)+y.Offset*kw+x.Offset)
					}
				}
			}
			list = append(list, p)
		}
	}
	return list
}

// sources, weights and results return numbers of values: of a band of all source parts, of the weights of a block of channels, and of the
// scratch memory for a band of results. taps returns the number of weights of one channel.
func (v *bandsKernel) sources() int { return v.parts * v.source.Size() }
func (v *bandsKernel) weights() int { return v.taps() * shape.BlockLanes }
func (v *bandsKernel) taps() int {
	return v.Shape.Out / v.Shape.C * tiling.Size(v.Shape.Kernel)
}
func (v *bandsKernel) results() int {
	return v.dst.Scratch(1, v.units*v.rows.Results*v.dst.Cols())
}

// Name returns "convolution" and the direction.
func (v *bandsKernel) Name() string { return "convolution " + v.Direction.String() }

// RunGroup convolves a core group's share of the bands, image by image, and in an image one block of channels after the other.
func (v *bandsKernel) RunGroup(g *cpe.CoreGroup) error {
	each := v.dst.Blocks() * v.bands
	x, y := v.Args.Through(v.Direction)
	memory := g.Memory(v.sources() + 2*v.weights() + v.results())
	lines, memory := memory[:v.sources()], memory[v.sources():]
	weights, scratch := memory[:2*v.weights()], memory[2*v.weights():]
	clear(lines)
	w := &v.workers[g.Index()]
	lo, hi := g.Share(v.Shape.N * each)
	for i := lo; i < hi; i++ {
		image, block, unit := i/each, i%each/v.bands, i%v.bands*v.units
		if i == lo || i%v.bands == 0 {
			v.load(w, weights, block)
		}
		units := min(v.units, v.rows.Units-unit)
		for part := range v.parts {
			v.source.Fill(lines[part*v.source.Size():], x, image, block, part, unit*v.rows.Step, v.rows.Lines(units))
		}
		first, height, width := unit*v.rows.Results, v.dst.Rows()/len(v.phases), v.dst.Cols()
		packed := weights
		for part := range v.phases {
			at := tensor.Span{Image: image, Images: 1, First: (part*height + first) * width, N: (min((unit+units)*v.rows.Results, height) - first) * width}
			packed = v.convolve(w, part, lines, packed, v.dst.At(y, at, block, 1, scratch).Data[:at.N*shape.BlockLanes])
			v.dst.Store(y, at, block, 1, scratch, false)
			if v.Args.Finish != nil {
				v.dst.Finish(v.Args.Finish, y, at, block, 1)
			}
		}
	}
	return nil
}

// load packs the biases and the weights of a block of channels, phase by phase. The weights' memory has as much room again.
func (v *bandsKernel) load(w *worker, weights []float32, block int) {
	args, taps, first, parts := v.Args, v.taps(), block*shape.BlockLanes, len(v.phases)
	n := min(shape.BlockLanes, v.dst.Channels-first)
	clear(weights)
	clear(w.start)
	if args.Bias != nil {
		vec.Transpose(w.start, args.Bias[first*parts:], shape.BlockLanes, parts, n, parts)
	}
	channels := weights[v.weights():]
	vec.Transpose(channels, args.W[first*taps:], shape.BlockLanes, taps, n, taps)
	for _, phases := range v.phases {
		for _, p := range phases {
			for _, tap := range p.taps {
				weights = weights[copy(weights, channels[tap*shape.BlockLanes:][:shape.BlockLanes]):]
			}
		}
	}
}

// convolve computes one part of the results of a band. It returns the packed weights that follow.
func (v *bandsKernel) convolve(w *worker, part int, lines, weights, results []float32) []float32 {
	width := v.dst.Cols()
	for i := range v.phases[part] {
		p := &v.phases[part][i]
		n, rows := tiling.Blocks(width-p.col, v.cols.Results), tiling.Blocks(len(results)/(width*shape.BlockLanes)-p.row, v.rows.Results)
		if n > 0 && rows > 0 {
			w.pixels = vconv.TapPixels{
				Rows: rows, N: n, Step: v.cols.Step * shape.BlockLanes, NextX: v.source.Shift(v.rows.Step, 0),
				To: v.cols.Results * shape.BlockLanes, NextC: v.rows.Results * width * shape.BlockLanes,
			}
			vconv.TapKernel(&w.pixels, p.shifts, lines, weights, w.start[part*shape.BlockLanes:], results[(p.row*width+p.col)*shape.BlockLanes:], v.Args.Floor)
		}
		weights = weights[len(p.taps)*shape.BlockLanes:]
	}
	return weights
}

func supports(p *conv.Problem) error {
	s := &p.Shape
	return op.FirstReason(op.OnHost(p), op.Unless(conv.IsDepthwise(s), "it computes only depthwise convolutions (one channel a group) with kernels larger than 1x1, over one or two axes"),
		op.Unless(p.AllPlanes() || s.Out == s.C, "%d output channels of %d input channels are computed only by planes", s.Out, s.C),
		conv.WholeBlocks(p.Images, s.C), conv.WholeBlocks(p.Results, s.Out))
}

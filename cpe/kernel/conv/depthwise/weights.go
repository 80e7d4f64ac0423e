package depthwise

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

// Weights is the algorithm depthwise-weights.
var Weights = conv.Algorithm{
	Name: "depthwise-weights", Doc: "the weight gradient of a depthwise convolution", Family: shape.Implicit,
	Directions: []shape.Direction{shape.WeightGradient}, Supports: supports, Cost: conv.VectorCost, Works: conv.ComputesInBlocks,
	Steps: op.Only[shape.Conv](op.Overwrite), Kernel: conv.Staged(newWeights),
	Special: true,
}

// weightsKernel is the weight gradient of a depthwise convolution on the host. For each kernel offset it sums, over all pixels, a vector
// of 16 channels. If there are few channels, core groups sum over chunks of the batch; the shape fixes the number of chunks, and they are
// added in order.
type weightsKernel struct {
	*conv.Task
	weightsPlan
	workers []vconv.TapRows
}

// weightsPlan is the blocking of weightsKernel.
type weightsPlan struct {
	rows, cols tensor.Axis
	source     tensor.BlockBand
	gradient   tensor.Images
	shifts     []int
	parts      int // outputs per channel
	units      int // output rows in a band
	chunks     int // partial sums
}

// planWeights computes the blocking for a problem.
func planWeights(p *conv.Problem) weightsPlan {
	s, v := &p.Shape, weightsPlan{}
	v.rows, v.cols = tensor.Axes(s, shape.Forward)
	var x tensor.Images
	x, v.gradient = imagesOf(p)
	v.units = tiling.Even(v.rows.Units, fittingRows(p.Spec, v.rows, v.cols, v.gradient.Cols()), 1)
	v.source = tensor.NewBlockBand(x, v.rows, v.cols, v.units)
	for _, y := range v.rows.Phases[0] {
		for _, x := range v.cols.Phases[0] {
			v.shifts = append(v.shifts, v.source.Shift(y.Shift, x.Shift))
		}
	}
	v.parts = s.Out / s.C
	v.chunks = min(s.N, tiling.Blocks(fewUnits, x.Blocks()))
	return v
}

// String describes the plan.
func (v weightsPlan) String() string {
	return fmt.Sprintf("bands of %d of %d result rows of 16 channels, %d partial sums", v.units, v.rows.Units, v.chunks)
}

// fewUnits is the number of pieces of work (blocks of channels times chunks) that suffices to keep the cores busy.
const fewUnits = 16

func newWeights(t *conv.Task) error {
	v := &weightsKernel{Task: t, weightsPlan: planWeights(&t.Problem), workers: make([]vconv.TapRows, t.Spec.CoreGroups)}
	t.Reserved = cpe.Scratch{Common: v.partial().Values(), Group: v.source.Size() + v.results()}
	t.Plan, t.Stages = v.weightsPlan, conv.Stages(v, collectTaps{v})
	return nil
}

// sums is the number of values of the gradient of a block of channels. results is the number of values of scratch memory for a band of DY.
func (v *weightsKernel) sums() int { return v.parts * len(v.shifts) * shape.BlockLanes }
func (v *weightsKernel) results() int {
	return v.gradient.Scratch(1, v.units*v.gradient.Cols())
}

// partial are the partial sums of all blocks of channels.
func (v *weightsKernel) partial() conv.Sums {
	return conv.Sums{Parts: v.chunks, Size: v.gradient.Blocks() * v.sums()}
}

// Name returns "convolution" and the direction.
func (v *weightsKernel) Name() string { return "convolution " + shape.WeightGradient.String() }

// RunGroup computes a core group's share of the partial sums.
func (v *weightsKernel) RunGroup(g *cpe.CoreGroup) error {
	memory := g.Memory(v.source.Size() + v.results())
	lines, scratch := memory[:v.source.Size()], memory[v.source.Size():]
	clear(lines)
	n := v.Shape.N
	lo, hi := g.Share(v.gradient.Blocks() * v.chunks)
	for i := lo; i < hi; i++ {
		block, chunk := i/v.chunks, i%v.chunks
		sums, first := v.partial().Of(g.Common(v.partial().Values()), chunk)[block*v.sums():][:v.sums()], chunk*n/v.chunks
		for image := first; image < (chunk+1)*n/v.chunks; image++ {
			for row := 0; row < v.rows.Units; row += v.units {
				v.add(&v.workers[g.Index()], lines, scratch, sums, image, block, row, image > first || row > 0)
			}
		}
	}
	return nil
}

// add adds the products of one band of a block of channels to the sums; with accumulate false it overwrites the sums.
func (v *weightsKernel) add(r *vconv.TapRows, lines, scratch, sums []float32, image, block, row int, accumulate bool) {
	args, y, rows := v.Args, &v.gradient, min(v.units, v.rows.Units-row)
	v.source.Fill(lines, args.X, image, block, 0, row*v.rows.Step, v.rows.Lines(rows))
	*r = vconv.TapRows{
		Rows: rows, N: y.Cols(), Step: v.cols.Step * shape.BlockLanes,
		NextX: v.source.Shift(v.rows.Step, 0), NextY: y.Cols() * shape.BlockLanes,
	}
	for part := range v.parts {
		at := tensor.Span{Image: image, Images: 1, First: (part*v.rows.Units + row) * y.Cols(), N: rows * y.Cols()}
		y.Load(args.DY, at, block, 1, scratch)
		part := sums[part*len(v.shifts)*shape.BlockLanes:]
		vconv.TapSums(r, v.shifts, lines, y.At(args.DY, at, block, 1, scratch).Data, part, accumulate)
	}
}

// collectTaps is the second stage: it adds up the chunks, then stores the sums in DW or adds them to it.
type collectTaps struct{ *weightsKernel }

// Name names the stage.
func (c collectTaps) Name() string { return c.weightsKernel.Name() + ", collecting" }

// RunGroup collects a core group's share of the blocks of channels.
func (c collectTaps) RunGroup(g *cpe.CoreGroup) error {
	taps, args, all := c.parts*len(c.shifts), c.Args, g.Common(c.partial().Values())
	lo, hi := g.Share(c.gradient.Blocks())
	for block := lo; block < hi; block++ {
		sums := c.partial().Collect(all, block*c.sums(), c.sums())
		for lane := range min(shape.BlockLanes, c.gradient.Channels-block*shape.BlockLanes) {
			dw := args.DW[(block*shape.BlockLanes+lane)*taps:][:taps]
			for tap := range dw {
				sum := sums[tap*shape.BlockLanes+lane]
				if args.Add {
					sum += dw[tap]
				}
				dw[tap] = sum
			}
		}
	}
	return nil
}

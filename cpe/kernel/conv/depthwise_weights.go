package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// depthwiseWeightsAlgorithm is the algorithm depthwise-weights.
var depthwiseWeightsAlgorithm = Algorithm{
	Name: "depthwise-weights", Doc: "the weight gradient of a depthwise convolution", Family: shape.Implicit,
	Directions: []shape.Direction{shape.WeightGradient}, Supports: depthwiseChannels, Cost: vectorCost, Works: worksInBlocks,
	Can: only(SetWeights), Kernel: staged(newDepthwiseWeights),
	Special: true,
}

// depthwiseWeights is the weight gradient of a depthwise convolution on the host. For each kernel offset it sums, over all pixels, a vector
// of 16 channels. If there are few channels, core groups sum over chunks of the batch; the shape fixes the number of chunks, and they are
// added in order.
type depthwiseWeights struct {
	*task
	rows, cols tapAxis
	source     tapBand
	gradient   pointImages
	shifts     []int
	parts      int // outputs per channel
	units      int // output rows in a band
	chunks     int
	workers    []vconv.TapRows
}

// depthwiseTasks is the number of pieces of work (blocks of channels times chunks) that suffices to keep the cores busy.
const depthwiseTasks = 16

func newDepthwiseWeights(t *task) error {
	s, spec := &t.Shape, t.machine.Spec()
	v := &depthwiseWeights{task: t, workers: make([]vconv.TapRows, spec.CoreGroups)}
	v.rows, v.cols = tapAxes(s, shape.Forward)
	var x pointImages
	x, v.gradient = t.depthwiseImages()
	v.units = cutBands(&spec, v.rows, v.cols, v.gradient.Cols())
	v.source = newTapBand(x, v.rows, v.cols, v.units)
	for _, y := range v.rows.phases[0] {
		for _, x := range v.cols.phases[0] {
			v.shifts = append(v.shifts, v.source.shift(y.shift, x.shift))
		}
	}
	v.parts = s.Out / s.C
	v.chunks = min(s.N, tiling.Blocks(depthwiseTasks, x.blocks()))
	t.takes(cpe.Scratch{Common: v.chunks * x.blocks() * v.sums(), Group: v.source.size() + v.results()})
	t.stages = []stage{{v, 0}, {collectTaps{v}, 0}}
	return nil
}

// sums is the number of values of the gradient of a block of channels. results is the number of values of scratch memory for a band of DY.
func (v *depthwiseWeights) sums() int { return v.parts * len(v.shifts) * shape.BlockLanes }
func (v *depthwiseWeights) results() int {
	return v.gradient.scratch(1, v.units*v.gradient.Cols())
}

// partial returns the sums of one chunk for a block of channels.
func (v *depthwiseWeights) partial(g *cpe.CoreGroup, block, chunk int) []float32 {
	n := v.sums()
	return g.Common(v.chunks * v.gradient.blocks() * n)[(block*v.chunks+chunk)*n:][:n]
}

// Name returns "convolution" and the direction.
func (v *depthwiseWeights) Name() string { return "convolution " + shape.WeightGradient.String() }

// RunGroup computes a core group's share of the partial sums.
func (v *depthwiseWeights) RunGroup(g *cpe.CoreGroup) error {
	memory := g.Memory(v.source.size() + v.results())
	lines, scratch := memory[:v.source.size()], memory[v.source.size():]
	clear(lines)
	n := v.Shape.N
	lo, hi := g.Share(v.gradient.blocks() * v.chunks)
	for i := lo; i < hi; i++ {
		block, chunk := i/v.chunks, i%v.chunks
		sums, first := v.partial(g, block, chunk), chunk*n/v.chunks
		for image := first; image < (chunk+1)*n/v.chunks; image++ {
			for row := 0; row < v.rows.units; row += v.units {
				v.add(&v.workers[g.Index()], lines, scratch, sums, image, block, row, image > first || row > 0)
			}
		}
	}
	return nil
}

// add adds the products of one band of a block of channels to the sums; with accumulate false it overwrites the sums.
func (v *depthwiseWeights) add(r *vconv.TapRows, lines, scratch, sums []float32, image, block, row int, accumulate bool) {
	args, y, rows := v.args, &v.gradient, min(v.units, v.rows.units-row)
	v.source.fill(lines, args.X, image, block, 0, row*v.rows.step, v.rows.lines(rows))
	*r = vconv.TapRows{
		Rows: rows, N: y.Cols(), Step: v.cols.step * shape.BlockLanes,
		NextX: v.source.shift(v.rows.step, 0), NextY: y.Cols() * shape.BlockLanes,
	}
	for part := range v.parts {
		at := pointSpan{image, 1, (part*v.rows.units + row) * y.Cols(), rows * y.Cols()}
		y.gather(args.DY, at, block, 1, scratch)
		part := sums[part*len(v.shifts)*shape.BlockLanes:]
		vconv.TapSums(r, v.shifts, lines, y.at(args.DY, at, block, 1, scratch).data, part, accumulate)
	}
}

// collectTaps is the second stage: it adds up the chunks, then stores the sums in DW or adds them to it.
type collectTaps struct{ *depthwiseWeights }

// Name names the stage.
func (c collectTaps) Name() string { return c.depthwiseWeights.Name() + ", collecting" }

// RunGroup collects a core group's share of the blocks of channels.
func (c collectTaps) RunGroup(g *cpe.CoreGroup) error {
	taps, args := c.parts*len(c.shifts), c.args
	lo, hi := g.Share(c.gradient.blocks())
	for block := lo; block < hi; block++ {
		sums := c.partial(g, block, 0)
		for chunk := 1; chunk < c.chunks; chunk++ {
			vec.Add(sums, sums, c.partial(g, block, chunk))
		}
		for lane := range min(shape.BlockLanes, c.gradient.channels-block*shape.BlockLanes) {
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

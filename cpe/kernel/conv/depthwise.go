package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// bandsAlgorithm is the algorithm depthwise-bands.
var bandsAlgorithm = Algorithm{
	Name: "depthwise-bands", Doc: "depthwise convolution in bands of blocks of channels", Family: shape.Implicit,
	Directions: []shape.Direction{shape.Forward, shape.InputGradient}, Supports: depthwiseChannels, Cost: vectorCost, Works: worksInBlocks,
	Can: only(FloorResults), Kernel: staged(newDepthwiseConv),
	Special: true,
}

// depthwiseConv is the host's depthwise convolution, forward and for the input gradient. It copies a band of rows of 16 channels with its
// padding into blocks of channels. There a kernel offset is a constant shift, and a pixel is one vector of channels. Images stored by planes
// are transposed to blocks while they are copied; results are transposed back.
//
// With several outputs per channel, the output planes of a channel are treated as one tall image of several parts, each with a kernel of its
// own. The input gradient sums over parts as well as over kernel offsets.
//
// With strides, a pixel of the input gradient receives only the kernel offsets with its remainder modulo the stride: its phase. Each phase is
// computed by itself.
type depthwiseConv struct {
	*task
	rows, cols tapAxis
	phases     [][]tapPhase // of each part of the destination
	source     tapBand
	parts      int // parts of the source
	made       pointImages
	units      int // rows of units in a band
	bands      int // bands in an image
	workers    []depthwiseWorker
}

// tapPhase describes the results at one place of every unit: the shifts of the source values to be summed, and the kernel offset of each.
type tapPhase struct {
	row, col int
	shifts   []int
	taps     []int
}

// depthwiseWorker is the state of one core group.
type depthwiseWorker struct {
	start  []float32 // initial sums (biases) of each part
	pixels vconv.TapPixels
}

func newDepthwiseConv(t *task) error {
	s, d, spec := &t.Shape, t.Direction, t.machine.Spec()
	v := &depthwiseConv{task: t, workers: make([]depthwiseWorker, spec.CoreGroups)}
	v.rows, v.cols = tapAxes(s, d)
	x, y := t.depthwiseImages()
	made := s.Out / s.C
	if v.made, v.parts = y, 1; d == shape.InputGradient {
		x, v.made, v.parts, made = y, x, made, 1
	}
	v.units = cutBands(&spec, v.rows, v.cols, v.made.Cols())
	v.bands = tiling.Blocks(v.rows.units, v.units)
	v.source = newTapBand(x, v.rows, v.cols, v.units)
	for part := range made {
		v.phases = append(v.phases, v.findPhases(part))
	}
	for i := range v.workers {
		v.workers[i].start = pages.Make[float32](made * shape.BlockLanes)
	}
	t.takes(cpe.Scratch{Group: v.sources() + v.weights() + v.results()})
	t.stages = []stage{{v, 0}}
	return nil
}

// depthwiseImages describes the images and the results. The results' parts lie one below another.
func (t *task) depthwiseImages() (x, y pointImages) {
	s := &t.Shape
	one, out := tiling.Ones(len(s.In)), s.OutSize()
	h, w := tiling.Two(out, 1)
	return newPointImages(s.C, t.Images, s.In, one), newPointImages(s.C, t.Results, []int{s.Out / s.C * h, w}, tiling.Ones(2))
}

// cutBands returns the number of rows of units in a band whose source lines and results fill about a quarter of L2.
func cutBands(spec *cpe.Spec, rows, cols tapAxis, width int) int {
	line := shape.BlockLanes * (rows.step*cols.extent + rows.results*width)
	return tiling.Even(rows.units, max(1, spec.LDMBytes/4/4/line), 1)
}

// findPhases returns all phases of one part.
func (v *depthwiseConv) findPhases(part int) []tapPhase {
	var list []tapPhase
	_, kw := tiling.Two(v.Shape.Kernel, 1)
	for row, down := range v.rows.phases {
		for col, along := range v.cols.phases {
			p := tapPhase{row: row, col: col}
			for source := range v.parts {
				for _, y := range down {
					for _, x := range along {
						p.shifts = append(p.shifts, source*v.source.size()+v.source.shift(y.shift, x.shift))
						p.taps = append(p.taps, (part+source)*tiling.Size(v.Shape.Kernel)+y.tap*kw+x.tap)
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
func (v *depthwiseConv) sources() int { return v.parts * v.source.size() }
func (v *depthwiseConv) weights() int { return v.taps() * shape.BlockLanes }
func (v *depthwiseConv) taps() int {
	return v.Shape.Out / v.Shape.C * tiling.Size(v.Shape.Kernel)
}
func (v *depthwiseConv) results() int {
	return v.made.scratch(1, v.units*v.rows.results*v.made.Cols())
}

// Name returns "convolution" and the direction.
func (v *depthwiseConv) Name() string { return "convolution " + v.Direction.String() }

// RunGroup convolves a core group's share of the bands, one block of channels after the other.
func (v *depthwiseConv) RunGroup(g *cpe.CoreGroup) error {
	each := v.Shape.N * v.bands
	x, y := v.args.through(v.Direction)
	memory := g.Memory(v.sources() + v.weights() + v.results())
	lines, memory := memory[:v.sources()], memory[v.sources():]
	weights, scratch := memory[:v.weights()], memory[v.weights():]
	clear(lines)
	w := &v.workers[g.Index()]
	lo, hi := g.Share(v.made.blocks() * each)
	for i := lo; i < hi; i++ {
		block, image, unit := i/each, i%each/v.bands, i%v.bands*v.units
		if i == lo || i%each == 0 {
			v.load(w, weights, block)
		}
		units := min(v.units, v.rows.units-unit)
		for part := range v.parts {
			v.source.fill(lines[part*v.source.size():], x, image, block, part, unit*v.rows.step, v.rows.lines(units))
		}
		first, height, width := unit*v.rows.results, v.made.Rows()/len(v.phases), v.made.Cols()
		packed := weights
		for part := range v.phases {
			at := pointSpan{image, 1, (part*height + first) * width, (min((unit+units)*v.rows.results, height) - first) * width}
			packed = v.convolve(w, part, lines, packed, v.made.at(y, at, block, 1, scratch).data[:at.n*shape.BlockLanes])
			v.made.spread(y, at, block, 1, scratch, false)
		}
	}
	return nil
}

// load packs the biases and the weights of a block of channels, phase by phase.
func (v *depthwiseConv) load(w *depthwiseWorker, weights []float32, block int) {
	args, taps, first, parts := v.args, v.taps(), block*shape.BlockLanes, len(v.phases)
	n := min(shape.BlockLanes, v.made.channels-first)
	clear(weights)
	clear(w.start)
	if args.Bias != nil {
		vec.Transpose(w.start, args.Bias[first*parts:], shape.BlockLanes, parts, n, parts)
	}
	k := 0
	for _, phases := range v.phases {
		for _, p := range phases {
			for _, tap := range p.taps {
				for lane := range n {
					weights[k*shape.BlockLanes+lane] = args.W[(first+lane)*taps+tap]
				}
				k++
			}
		}
	}
}

// convolve computes one part of the results of a band. It returns the packed weights that follow.
func (v *depthwiseConv) convolve(w *depthwiseWorker, part int, lines, weights, results []float32) []float32 {
	width := v.made.Cols()
	for i := range v.phases[part] {
		p := &v.phases[part][i]
		n := tiling.Blocks(width-p.col, v.cols.results)
		w.pixels = vconv.TapPixels{N: n, Step: v.cols.step * shape.BlockLanes, To: v.cols.results * shape.BlockLanes}
		for row, line := p.row, 0; n > 0 && row*width*shape.BlockLanes < len(results); row, line = row+v.rows.results, line+v.rows.step {
			x, y := lines[v.source.shift(line, 0):], results[(row*width+p.col)*shape.BlockLanes:]
			vconv.TapKernel(&w.pixels, p.shifts, x, weights, w.start[part*shape.BlockLanes:], y, v.args.Floor)
		}
		weights = weights[len(p.taps)*shape.BlockLanes:]
	}
	return weights
}

func depthwiseChannels(p *Problem) error {
	s := &p.Shape
	return firstReason(onHost(p), unless(depthwise(s), "it computes only depthwise convolutions (one channel a group) with kernels larger than 1x1, over one or two axes"),
		unless(p.planes() || s.Out == s.C, "%d output channels of %d input channels are computed only by planes", s.Out, s.C),
		wholeBlocks(p.Images, s.C), wholeBlocks(p.Results, s.Out))
}

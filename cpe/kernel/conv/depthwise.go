package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// depthwise reports whether every channel is convolved with kernels of its own: a group each.
func depthwise(s *shape.Conv) bool {
	return s.Group > 1 && s.Group == s.C && len(s.In) <= 2 && tiling.Size(s.Kernel) > 1 && tiling.Size(s.OutSize()) > 0 && s.N > 0 && s.StepsInside()
}

// depthwiseConv is the implicit strategy of a native machine where every channel has a kernel of its own, forward and for the input gradient.
// A band of lines of a block of 16 channels is copied with its padding, so that a kernel offset is a shift whatever the pixel, and every pixel
// is a vector of channels. Images that lie by planes are turned to blocks, and back, on the way.
//
// A channel's outputs, if there are several, are taken for one whose planes stand one below another: parts, each with a kernel. The images'
// gradient is a sum over these as it is over kernel offsets.
//
// With strides, pixels of the images' gradient take part in different kernel offsets: by phases, one for each pixel between those that
// strides meet.
type depthwiseConv struct {
	*task
	rows, cols tapAxis
	phases     [][]tapPhase // by part of what is made
	source     tapBand
	parts      int // of the source
	made       pointImages
	units      int // rows of units of a band
	bands      int // of an image
	workers    []depthwiseWorker
}

// tapPhase are the results at one place of every unit: the shifts of what they are sums of, and the kernel offsets of these.
type tapPhase struct {
	row, col int
	shifts   []int
	taps     []int
}

// depthwiseWorker is what a core group needs to itself.
type depthwiseWorker struct {
	start  []float32 // of each part
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

// depthwiseImages are the images and the results, whose parts stand one below another.
func (t *task) depthwiseImages() (x, y pointImages) {
	s := &t.Shape
	one, out := tiling.Ones(len(s.In)), s.OutSize()
	h, w := tiling.Two(out, 1)
	return newPointImages(s.C, t.Images, s.In, one), newPointImages(s.C, t.Results, []int{s.Out / s.C * h, w}, tiling.Ones(2))
}

// cutBands returns how many rows of units a band has whose lines, and whose results, take about a quarter of L2.
func cutBands(spec *cpe.Spec, rows, cols tapAxis, width int) int {
	line := shape.BlockLanes * (rows.step*cols.extent + rows.results*width)
	return tiling.Even(rows.units, max(1, spec.LDMBytes/4/4/line), 1)
}

// findPhases finds the shifts of every phase of a part.
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

// sources is the number of values of a band of all parts, weights that of a block's weights, taps that of a channel's, and results that of
// scratch for a band's results.
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

// RunGroup convolves a core group's share of the bands, block by block.
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

// load packs the weights of a block of channels, phase by phase, and its biases.
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

// convolve makes the results of a part of a band, and returns the weights of the next.
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

package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// tapAxis is one axis of a depthwise convolution. Units of results follow each other, one result forward, as many as a stride for the
// images' gradient. A result of the source, which is read with zeros around it, is a sum over places that lie step apart from one unit to the next.
type tapAxis struct {
	source  int // values that are read
	before  int // zeros ahead of them
	extent  int // with all zeros
	units   int
	results int // of a unit
	step    int
	phases  [][]axisTap // of each result of a unit
	reach   int         // greatest shift
}

// axisTap is a kernel offset of an axis, and how far what it meets is from a unit's place.
type axisTap struct{ tap, shift int }

// tapAxes describes both axes in a direction: those of the weights' gradient are forward's.
func tapAxes(s *shape.Conv, d shape.Direction) (rows, cols tapAxis) {
	first := len(s.In) - 2
	axis := func(i int) tapAxis {
		if i < 0 {
			return newTapAxis(d, 1, 1, 1, 1, 0, 1)
		}
		return newTapAxis(d, s.In[i], s.OutSize()[i], s.Kernel[i], s.Stride[i], s.Pad[i], s.Dilation[i])
	}
	return axis(first), axis(first + 1)
}

func newTapAxis(d shape.Direction, in, out, kernel, stride, pad, dilation int) tapAxis {
	a := tapAxis{source: in, before: pad, units: out, results: 1, step: stride, phases: make([][]axisTap, 1)}
	if d == shape.InputGradient {
		// Image i takes the gradient of result (i + pad - tap*dilation) / stride, where that is whole.
		a = tapAxis{source: out, units: tiling.Blocks(in, stride), results: stride, step: 1, phases: make([][]axisTap, stride)}
	}
	for tap := range kernel {
		if d != shape.InputGradient {
			a.phases[0] = append(a.phases[0], axisTap{tap, tap * dilation})
			continue
		}
		for phase := range a.phases {
			if at := phase + pad - tap*dilation; at%stride == 0 {
				a.phases[phase] = append(a.phases[phase], axisTap{tap, at / stride})
				a.before = max(a.before, -at/stride)
			}
		}
	}
	for _, taps := range a.phases {
		for i := range taps {
			if d == shape.InputGradient {
				taps[i].shift += a.before
			}
			a.reach = max(a.reach, taps[i].shift)
		}
	}
	a.extent = max(a.before+a.source, a.lines(a.units))
	return a
}

// lines is how many values of the source, zeros counted, some units need.
func (a *tapAxis) lines(units int) int { return (units-1)*a.step + a.reach + 1 }

// tapBand is a band of lines of a block of channels of an image, with zeros around it.
type tapBand struct {
	images        pointImages
	height        int // lines of a part of them, of which there are several below each other
	before, width int // zeros ahead of a line, a line's pixels with all zeros
	above, lines  int // zeros above the image, lines of a band
}

func newTapBand(images pointImages, rows, cols tapAxis, units int) tapBand {
	return tapBand{images, rows.source, cols.before, cols.extent, rows.before, rows.lines(units)}
}

// size is the number of values of a band; shift is how many values a pixel is from the first.
func (b *tapBand) size() int              { return b.lines * b.width * shape.BlockLanes }
func (b *tapBand) shift(row, col int) int { return (row*b.width + col) * shape.BlockLanes }

// fill copies some lines of a part from one on, zeros counted, to memory, which must have been cleared once: the ends of lines are never written. Of a last
// block that is not full, channels that do not exist are anything.
func (b *tapBand) fill(memory, x []float32, image, block, part, line, lines int) {
	p := &b.images
	plane, channels := p.H*p.W, min(shape.BlockLanes, p.channels-block*shape.BlockLanes)
	if p.blocked() {
		x = x[(image*p.blocks()+block)*plane*shape.BlockLanes:]
	} else {
		x = x[(image*p.channels+block*shape.BlockLanes)*plane+part*b.height*p.W:]
	}
	for i := range lines {
		at := line + i - b.above
		dst := memory[b.shift(i, b.before):][:p.W*shape.BlockLanes]
		switch {
		case at < 0 || at >= b.height:
			clear(dst)
		case p.blocked():
			copy(dst, x[at*p.W*shape.BlockLanes:])
		default:
			vec.Transpose(dst, x[at*p.W:], shape.BlockLanes, plane, channels, p.W)
		}
	}
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// tapAxis is one axis of a convolution whose results are grouped in units. Forward a unit is one result. For the input gradient it is as many
// results as the stride, one of each phase. The source is padded with zeros. A result sums source values at fixed shifts from its unit's
// place; consecutive units are step values apart.
type tapAxis struct {
	source  int // extent of the source
	before  int // zeros ahead of the source
	extent  int // extent of the source with all zeros
	units   int
	results int // results in a unit
	step    int
	phases  [][]axisTap // the kernel offsets of each result of a unit
	reach   int         // largest shift
}

// axisTap is a kernel offset along an axis, and the shift of its source value from the unit's place.
type axisTap struct{ tap, shift int }

// tapAxes describes both axes for a direction. The weight gradient uses those of the forward direction.
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
		// Pixel i receives the gradient of result (i + pad - tap*dilation) / stride, if that is an integer.
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

// lines returns the number of source values, zeros included, that some units need.
func (a *tapAxis) lines(units int) int { return (units-1)*a.step + a.reach + 1 }

// tapBand is a band of lines of a block of 16 channels of an image, with zeros around it.
type tapBand struct {
	images        pointImages
	height        int // lines of one part of the images; parts lie one below another
	before, width int // zeros ahead of a line; pixels of a line with all zeros
	above, lines  int // zeros above the image; lines of a band
}

func newTapBand(images pointImages, rows, cols tapAxis, units int) tapBand {
	return tapBand{images, rows.source, cols.before, cols.extent, rows.before, rows.lines(units)}
}

// size is the number of values of a band; shift is the distance of a pixel from the first one, in values.
func (b *tapBand) size() int              { return b.lines * b.width * shape.BlockLanes }
func (b *tapBand) shift(row, col int) int { return (row*b.width + col) * shape.BlockLanes }

// fill copies lines of one part, starting with the given line (zeros included), to memory. The caller has cleared memory once: the zeros at
// the ends of lines are never written. Lanes past the last channel hold undefined values.
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

package tensor

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Axis is one axis of a convolution whose results are grouped in units. Forward a unit is one result. For the input gradient it is as many
// results as the stride, one of each phase. The source is padded with zeros. A result sums source values at fixed shifts from its unit's
// place; consecutive units are step values apart.
type Axis struct {
	Source  int // extent of the source
	Before  int // zeros ahead of the source
	Extent  int // extent of the source with all zeros
	Units   int
	Results int // results in a unit
	Step    int
	Phases  [][]Tap // the kernel offsets of each result of a unit
	Reach   int     // largest shift
}

// Tap is a kernel offset along an axis, and the shift of its source value from the unit's place.
type Tap struct{ Offset, Shift int }

// Axes describes both axes for a direction. The weight gradient uses those of the forward direction.
func Axes(s *shape.Conv, d shape.Direction) (rows, cols Axis) {
	first := len(s.In) - 2
	axis := func(i int) Axis {
		if i < 0 {
			return newAxis(d, 1, 1, 1, 1, 0, 1)
		}
		return newAxis(d, s.In[i], s.OutSize()[i], s.Kernel[i], s.Stride[i], s.Pad[i], s.Dilation[i])
	}
	return axis(first), axis(first + 1)
}

func newAxis(d shape.Direction, in, out, kernel, stride, pad, dilation int) Axis {
	a := Axis{Source: in, Before: pad, Units: out, Results: 1, Step: stride, Phases: make([][]Tap, 1)}
	if d == shape.InputGradient {
		// Pixel i receives the gradient of result (i + pad - tap*dilation) / stride, if that is an integer.
		a = Axis{Source: out, Units: tiling.Blocks(in, stride), Results: stride, Step: 1, Phases: make([][]Tap, stride)}
	}
	for tap := range kernel {
		if d != shape.InputGradient {
			a.Phases[0] = append(a.Phases[0], Tap{tap, tap * dilation})
			continue
		}
		for phase := range a.Phases {
			if at := phase + pad - tap*dilation; at%stride == 0 {
				a.Phases[phase] = append(a.Phases[phase], Tap{tap, at / stride})
				a.Before = max(a.Before, -at/stride)
			}
		}
	}
	for _, taps := range a.Phases {
		for i := range taps {
			if d == shape.InputGradient {
				taps[i].Shift += a.Before
			}
			a.Reach = max(a.Reach, taps[i].Shift)
		}
	}
	a.Extent = max(a.Before+a.Source, a.Lines(a.Units))
	return a
}

// Lines returns the number of source values, zeros included, that some units need.
func (a *Axis) Lines(units int) int { return (units-1)*a.Step + a.Reach + 1 }

// BlockBand is a band of lines of a block of 16 channels of an image, with zeros around it.
type BlockBand struct {
	images        Images
	height        int // lines of one part of the images; parts lie one below another
	before, width int // zeros ahead of a line; pixels of a line with all zeros
	above, lines  int // zeros above the image; lines of a band
}

func NewBlockBand(images Images, rows, cols Axis, units int) BlockBand {
	return BlockBand{images, rows.Source, cols.Before, cols.Extent, rows.Before, rows.Lines(units)}
}

// Size is the number of values of a band; shift is the distance of a pixel from the first one, in values.
func (b *BlockBand) Size() int              { return b.lines * b.width * shape.BlockLanes }
func (b *BlockBand) Shift(row, col int) int { return (row*b.width + col) * shape.BlockLanes }

// Fill copies lines of one part, starting with the given line (zeros included), to memory. The caller has cleared memory once: the zeros at
// the ends of lines are never written. Lanes past the last channel hold undefined values.
//
// Images in blocks are copied as any padded plane. Planes are transposed on the way, line by line, so that each value is moved once; Plane.Pad
// followed by a transposition would move it twice.
func (b *BlockBand) Fill(memory, x []float32, image, block, part, line, lines int) {
	p := &b.images
	plane, channels := p.H*p.W, min(shape.BlockLanes, p.Channels-block*shape.BlockLanes)
	if p.blocked() {
		b.FillFrom(memory, x[(image*p.Blocks()+block)*plane*shape.BlockLanes:], b.height, line, lines, 0)
		return
	}
	x = x[(image*p.Channels+block*shape.BlockLanes)*plane+part*b.height*p.W:]
	for i := range lines {
		at := line + i - b.above
		dst := memory[b.Shift(i, b.before):][:p.W*shape.BlockLanes]
		if at < 0 || at >= b.height {
			clear(dst)
			continue
		}
		vec.Transpose(dst, x[at*p.W:], shape.BlockLanes, plane, channels, p.W)
	}
}

// FillFrom is Fill from some rows of a block of channels in blocks, from row first of the image on. Lines outside of them become zeros.
func (b *BlockBand) FillFrom(memory, rows []float32, height, line, lines, first int) {
	pixels := Plane{rows, height, b.images.W * shape.BlockLanes}
	pixels.Pad(memory, b.width*shape.BlockLanes, b.before*shape.BlockLanes, line-b.above-first, lines)
}

// Rows returns the rows of the image that some lines of a band hold, from line on.
func (b *BlockBand) Rows(line, lines int) (first, end int) {
	return max(0, line-b.above), min(b.height, line-b.above+lines)
}

// Pitch is the smallest distance of the source's lines (or images) at which the zeros behind one line serve as those ahead of the next.
func (a *Axis) Pitch() int { return a.Source + max(a.Before, a.Extent-a.Before-a.Source) }

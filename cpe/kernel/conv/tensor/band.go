package tensor

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Band is a padded copy of a band of rows of an image of one or two axes, by planes or in blocks of channels. The input for an output
// position at a kernel offset lies at the position's place plus the offset's shift. Without padding the image itself serves; otherwise lines
// are copied.
type Band struct {
	Channels         int
	H, W             int // extents of the image
	KH, KW           int
	StrideH, StrideW int
	PadH, PadW       int
	Lanes            int // channels side by side: 1, or those of a block
	Width, plane     int // values from a line to the next, and from a plane or block
	copied           bool
}

// NewBand lays out the band that the given number of output rows needs, of images that lie in a layout.
func NewBand(s shape.Conv, images shape.Layout, rows int) Band {
	b := Band{Channels: s.C, Lanes: 1}
	if images != shape.Planes {
		b.Lanes = shape.BlockLanes
	}
	b.H, b.W = tiling.Two(s.In, 1)
	b.KH, b.KW = tiling.Two(s.Kernel, 1)
	b.StrideH, b.StrideW = tiling.Two(s.Stride, 1)
	b.PadH, b.PadW = tiling.Two(s.Pad, 0)
	b.Width, b.plane = b.W*b.Lanes, b.H*b.W*b.Lanes
	if !b.Direct() {
		b.Width += 2 * b.PadW * b.Lanes
		b.plane = b.Lines(rows) * b.Width
	}
	return b
}

// NewCopiedBand lays out a band of planes that is copied even without padding. Its lines have width values, which is no less than those of the padded image.
func NewCopiedBand(s shape.Conv, rows, width int) Band {
	b := NewBand(s, shape.Planes, rows)
	b.copied, b.Width = true, width
	b.plane = b.Lines(rows) * b.Width
	return b
}

// Direct reports whether images are read in place.
func (b *Band) Direct() bool { return b.PadH == 0 && b.PadW == 0 && !b.copied }

// Lines is the number of input lines that some output rows need.
func (b *Band) Lines(rows int) int { return (rows-1)*b.StrideH + b.KH }

// Size is the number of values of the copy.
func (b *Band) Size() int {
	if b.Direct() {
		return 0
	}
	return b.Channels / b.Lanes * b.plane
}

// Shifts returns the shifts of all kernel offsets of all channels. By planes they have the order of the weights. In blocks the channels of a
// block are side by side, for one kernel offset after the other.
func (b *Band) Shifts() []int {
	list := pages.Make[int](b.Channels * b.KH * b.KW)[:0]
	for c := range b.Channels / b.Lanes {
		for y := range b.KH {
			for x := range b.KW {
				for lane := range b.Lanes {
					list = append(list, c*b.plane+y*b.Width+x*b.Lanes+lane)
				}
			}
		}
	}
	return list
}

// Of returns the band for output rows row to row+rows of an image. Copies go to memory, which the caller has cleared once: the padding at the
// ends of lines is never written.
func (b *Band) Of(x []float32, image, row, rows int, memory []float32) []float32 {
	x = x[image*b.Channels*b.H*b.W:]
	first := row*b.StrideH - b.PadH
	if b.Direct() {
		return x[first*b.Width:]
	}
	lines := b.Lines(rows)
	for c := range b.Channels / b.Lanes {
		Plane{x[c*b.H*b.W*b.Lanes:], b.H, b.W * b.Lanes}.Pad(memory[c*b.plane:], b.Width, b.PadW*b.Lanes, first, lines)
	}
	return memory
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// paddedBand is a padded copy of a band of rows of an image of one or two axes and few channels, plane by plane. The input for an output
// position at a kernel offset lies at the position's place plus the offset's shift. Without padding the image itself serves; otherwise lines
// are copied.
type paddedBand struct {
	channels         int
	h, w             int // extents of the image
	kh, kw           int
	strideH, strideW int
	padH, padW       int
	width, plane     int // values from a line to the next, and from a channel
}

// newPaddedBand lays out the band that the given number of output rows needs.
func newPaddedBand(s shape.Conv, rows int) paddedBand {
	b := paddedBand{channels: s.C}
	b.h, b.w = tiling.Two(s.In, 1)
	b.kh, b.kw = tiling.Two(s.Kernel, 1)
	b.strideH, b.strideW = tiling.Two(s.Stride, 1)
	b.padH, b.padW = tiling.Two(s.Pad, 0)
	b.width, b.plane = b.w, b.h*b.w
	if !b.direct() {
		b.width += 2 * b.padW
		b.plane = b.lines(rows) * b.width
	}
	return b
}

// direct reports whether images are read in place.
func (b *paddedBand) direct() bool { return b.padH == 0 && b.padW == 0 }

// lines is the number of input lines that some output rows need.
func (b *paddedBand) lines(rows int) int { return (rows-1)*b.strideH + b.kh }

// size is the number of values of the copy.
func (b *paddedBand) size() int {
	if b.direct() {
		return 0
	}
	return b.channels * b.plane
}

// shifts returns the shifts of all kernel offsets of all channels, in the order of the weights.
func (b *paddedBand) shifts() []int {
	list := pages.Make[int](b.channels * b.kh * b.kw)[:0]
	for c := range b.channels {
		for y := range b.kh {
			for x := range b.kw {
				list = append(list, c*b.plane+y*b.width+x)
			}
		}
	}
	return list
}

// of returns the band for output rows row to row+rows of an image. Copies go to memory, which the caller has cleared once: the padding at the
// ends of lines is never written.
func (b *paddedBand) of(x []float32, image, row, rows int, memory []float32) []float32 {
	x = x[image*b.channels*b.h*b.w:]
	first := row*b.strideH - b.padH
	if b.direct() {
		return x[first*b.w:]
	}
	for c := range b.channels {
		for i := range b.lines(rows) {
			line := memory[c*b.plane+i*b.width+b.padW:][:b.w]
			if y := first + i; y >= 0 && y < b.h {
				copy(line, x[(c*b.h+y)*b.w:])
			} else {
				clear(line)
			}
		}
	}
	return memory
}

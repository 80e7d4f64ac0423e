package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// paddedBand is a band of rows of an image of one or two axes and few channels, with its padding, plane by plane: the input of an output
// position at a kernel offset lies at a place of the position and a shift of the offset. Where there is no padding the image is one itself,
// else lines are copied.
type paddedBand struct {
	channels         int
	h, w             int // of the image
	kh, kw           int
	strideH, strideW int
	padH, padW       int
	width, plane     int // values from a line to the next, and from a channel
}

// newPaddedBand lays out what a number of rows of outputs need.
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

// direct reports whether images are read where they lie.
func (b *paddedBand) direct() bool { return b.padH == 0 && b.padW == 0 }

// lines is how many lines some rows of outputs need.
func (b *paddedBand) lines(rows int) int { return (rows-1)*b.strideH + b.kh }

// size is the number of values of a copy.
func (b *paddedBand) size() int {
	if b.direct() {
		return 0
	}
	return b.channels * b.plane
}

// shifts lists the shifts of all kernel offsets of all channels, in the order of the weights.
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

// of returns the band of an image that some rows of outputs from row on need. What is copied goes to memory, which must have been cleared
// once: the ends of lines, which are padding, are never written.
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

package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// slab is a padded copy of some rows of an image in which every kernel offset is a constant shift: the input of output position (y, x) at an
// offset lies at position(y, x) + shift(offset). Positions on a row of outputs are contiguous. With strides, each remainder of the
// coordinates modulo the strides has a plane of its own, a phase.
//
// Images have two axes, or one (an image of one line).
type slab struct {
	channels         int // channels of a group
	h, w             int // extents of the image
	outH, outW       int
	kh, kw           int
	strideH, strideW int
	padH, padW       int
	dilateH, dilateW int
	band             int // output rows that the slab serves
	lines, width     int // lines of a phase, and values in a line
	phase, plane     int // values in a phase, and in a channel
	spans            []slabSpan
}

// slabSpan describes the lines of one phase: values [lo, hi) of a line are every stride-th value of an image row, starting with column first.
// The other values are padding.
type slabSpan struct{ py, px, lo, hi, first int }

// slabSlack is the number of values behind a slab that kernels may read: the lanes of a vector.
const slabSlack = 16

// newSlab lays out slabs for bands of output rows of a convolution of one or two axes.
func newSlab(s shape.Conv, band int) slab {
	l := slab{channels: s.C / s.Group, band: band}
	l.h, l.w = tiling.Two(s.In, 1)
	l.outH, l.outW = tiling.Two(s.OutSize(), 1)
	l.kh, l.kw = tiling.Two(s.Kernel, 1)
	l.strideH, l.strideW = tiling.Two(s.Stride, 1)
	l.padH, l.padW = tiling.Two(s.Pad, 0)
	l.dilateH, l.dilateW = tiling.Two(s.Dilation, 1)
	l.lines = band + l.dilateH*(l.kh-1)/l.strideH
	l.width = l.outW + l.dilateW*(l.kw-1)/l.strideW
	l.phase = l.lines * l.width
	l.plane = l.strideH * l.strideW * l.phase
	for py := range l.strideH {
		for px := range l.strideW {
			if reached(py, l.kh, l.dilateH, l.strideH) && reached(px, l.kw, l.dilateW, l.strideW) {
				l.spans = append(l.spans, l.span(py, px))
			}
		}
	}
	return l
}

// shifts returns the shifts of all kernel offsets of all channels, in the order of the weights.
func (l *slab) shifts() []int {
	list := pages.Make[int](l.channels * l.kh * l.kw)[:0]
	for c := range l.channels {
		for y := range l.kh {
			for x := range l.kw {
				dy, dx := y*l.dilateH, x*l.dilateW
				phase := dy%l.strideH*l.strideW + dx%l.strideW
				list = append(list, c*l.plane+phase*l.phase+dy/l.strideH*l.width+dx/l.strideW)
			}
		}
	}
	return list
}

// span computes the image columns that the lines of a phase hold.
func (l *slab) span(py, px int) slabSpan {
	first := px - l.padW
	lo := min(l.width, max(0, (-first+l.strideW-1)/l.strideW))
	hi := max(lo, min(l.width, (l.w-first+l.strideW-1)/l.strideW))
	return slabSpan{py, px, lo, hi, first + lo*l.strideW}
}

// reached reports whether any kernel offset has the remainder phase.
func reached(phase, kernel, dilate, stride int) bool {
	for k := range min(kernel, stride) {
		if k*dilate%stride == phase {
			return true
		}
	}
	return false
}

// fillPlane copies lines of one channel of a slab, starting with the given row. The padding at the ends of lines is not written.
func (l *slab) fillPlane(dst, x []float32, row, lines int) {
	for i := range l.spans {
		s := &l.spans[i]
		plane := dst[(s.py*l.strideW+s.px)*l.phase:]
		from := row*l.strideH + s.py - l.padH
		for y := range lines {
			line := plane[y*l.width+s.lo:][:s.hi-s.lo]
			switch {
			case from < 0 || from >= l.h:
				clear(line)
			case len(line) > 0:
				vec.Every(line, x[from*l.w+s.first:], l.strideW)
			}
			from += l.strideH
		}
	}
}

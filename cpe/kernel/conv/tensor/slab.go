package tensor

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Slab is a padded copy of some rows of an image in which every kernel offset is a constant shift: the input of output position (y, x) at an
// offset lies at position(y, x) + shift(offset). Positions on a row of outputs are contiguous. With strides, each remainder of the
// coordinates modulo the strides has a plane of its own, a phase.
//
// Images have two axes, or one (an image of one line). The extents are those of shape.Conv, taken apart for formulas.
type Slab struct {
	Channels         int // channels of a group
	H, W             int // extents of the image
	OutH, OutW       int
	KH, KW           int
	StrideH, StrideW int
	PadH, PadW       int
	DilateH, DilateW int
	band             int // output rows that the slab serves
	Lines, Width     int // lines of a phase, and values in a line
	phase, Plane     int // values in a phase, and in a channel
	spans            []phase
}

// phase describes the lines of one phase: values [lo, hi) of a line are every stride-th value of an image row, starting with column first.
// The other values are padding.
type phase struct{ py, px, lo, hi, first int }

// Slack is the number of values behind a slab that kernels may read: the lanes of a vector.
const Slack = 16

// NewSlab lays out slabs for bands of output rows of a convolution of one or two axes.
func NewSlab(s shape.Conv, band int) Slab {
	l := Slab{Channels: s.C / s.Group, band: band}
	l.H, l.W = tiling.Two(s.In, 1)
	l.OutH, l.OutW = tiling.Two(s.OutSize(), 1)
	l.KH, l.KW = tiling.Two(s.Kernel, 1)
	l.StrideH, l.StrideW = tiling.Two(s.Stride, 1)
	l.PadH, l.PadW = tiling.Two(s.Pad, 0)
	l.DilateH, l.DilateW = tiling.Two(s.Dilation, 1)
	l.Lines = band + l.DilateH*(l.KH-1)/l.StrideH
	l.Width = l.OutW + l.DilateW*(l.KW-1)/l.StrideW
	l.phase = l.Lines * l.Width
	l.Plane = l.StrideH * l.StrideW * l.phase
	for py := range l.StrideH {
		for px := range l.StrideW {
			if reached(py, l.KH, l.DilateH, l.StrideH) && reached(px, l.KW, l.DilateW, l.StrideW) {
				l.spans = append(l.spans, l.span(py, px))
			}
		}
	}
	return l
}

// Shifts returns the shifts of all kernel offsets of all channels, in the order of the weights.
func (l *Slab) Shifts() []int {
	list := pages.Make[int](l.Channels * l.KH * l.KW)[:0]
	for c := range l.Channels {
		for y := range l.KH {
			for x := range l.KW {
				dy, dx := y*l.DilateH, x*l.DilateW
				phase := dy%l.StrideH*l.StrideW + dx%l.StrideW
				list = append(list, c*l.Plane+phase*l.phase+dy/l.StrideH*l.Width+dx/l.StrideW)
			}
		}
	}
	return list
}

// span computes the image columns that the lines of a phase hold.
func (l *Slab) span(py, px int) phase {
	first := px - l.PadW
	lo := min(l.Width, max(0, (-first+l.StrideW-1)/l.StrideW))
	hi := max(lo, min(l.Width, (l.W-first+l.StrideW-1)/l.StrideW))
	return phase{py, px, lo, hi, first + lo*l.StrideW}
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

// FillPlane copies lines of one channel of a slab, starting with the given row. The padding at the ends of lines is not written.
//
// It is not Plane.Pad, because the lines of a phase take every stride-th value of every stride-th row.
func (l *Slab) FillPlane(dst, x []float32, row, lines int) {
	for i := range l.spans {
		s := &l.spans[i]
		plane := dst[(s.py*l.StrideW+s.px)*l.phase:]
		from := row*l.StrideH + s.py - l.PadH
		for y := range lines {
			line := plane[y*l.Width+s.lo:][:s.hi-s.lo]
			switch {
			case from < 0 || from >= l.H:
				clear(line)
			case len(line) > 0:
				vec.Every(line, x[from*l.W+s.first:], l.StrideW)
			}
			from += l.StrideH
		}
	}
}

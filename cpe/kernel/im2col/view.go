package im2col

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// panelGroup is the number of panels that are filled together, so that lines are read in long runs.
const panelGroup = 8

// View is the column matrix of a batch of images, or its transpose, as an operand of a product. It is not stored. Row (c, k) has a value for
// every output position (n, p).
type View struct {
	*Geometry
	X     []float32 // the group's channels of the first image
	jump  int       // values from one image to the next
	trans bool

	segments []segment
	lines    []float32 // rows of the column matrix that are transposed into a panel
}

// segment is a run of positions in one row of outputs.
type segment struct {
	at, n int // in the first line of the panels that are filled
	base  int // index of the image
	row   int
	x     int // first output in the row
	from  int // index of the input that offset 0 of the current row of the column matrix reads
}

// NewView returns a view of images that are jump values apart, to be gathered in panels of up to width lanes of depth values.
func NewView(g *Geometry, jump int, trans bool, width, depth int) *View {
	v := &View{Geometry: g, jump: jump, trans: trans}
	if trans {
		v.lines = pages.Make[float32](width * depth)
	}
	return v
}

// Run returns the length of contiguous runs of a block: parts of image lines.
func (v *View) Run(rows, cols int) int {
	if v.trans {
		return min(rows, v.Width)
	}
	return min(cols, v.Width)
}

// Gather packs a block. If the panels' lanes are positions, each line of a panel is a part of a row of the column matrix. If they are kernel
// offsets, rows are made first and then transposed.
func (v *View) Gather(dst []float32, layout cpe.Layout, row, col, rows, cols int) {
	depth, deep, position, many := row, rows, col, cols
	if v.trans {
		depth, deep, position, many = col, cols, row, rows
	}
	width := layout.Panel
	if layout.ByRows == v.trans {
		for at := 0; at < many; at += panelGroup * width {
			n := min(panelGroup*width, many-at)
			panels := dst[at*deep:]
			v.cut(position+at, n, width, width*deep)
			gemm.ClearTail(panels, width, n, deep)
			v.rowsOf(panels, width, depth, deep)
		}
		return
	}
	v.cut(position, many, many, many)
	for at := 0; at < deep; at += width {
		n := min(width, deep-at)
		v.rowsOf(v.lines, many, depth+at, n)
		vgemm.PackA(dst[at*many:(at+width)*many], v.lines, many, n, many, width)
	}
}

// cut computes the segments of n positions that go to panels of width lanes, panel values apart.
func (v *View) cut(position, n, width, panel int) {
	v.segments = v.segments[:0]
	all := v.Positions()
	picture, p := position/all, position%all
	row, x := p/v.Width, p%v.Width
	for at := 0; at < n; {
		s := segment{at: at/width*panel + at%width, n: min(n-at, v.Width-x, width-at%width), base: picture * v.jump, row: row, x: x}
		v.segments = append(v.segments, s)
		at += s.n
		if x += s.n; x < v.Width {
			continue
		}
		x = 0
		if row++; row == v.Rows {
			picture, row = picture+1, 0
		}
	}
}

// rowsOf writes n rows of the column matrix from row depth on, ld values apart.
func (v *View) rowsOf(dst []float32, ld, depth, n int) {
	space := v.Space()
	channel, k := depth/space, depth%space
	outer, k := k/v.Last, k%v.Last
	for r := 0; r < n; {
		rows := min(v.Last-k, n-r)
		v.offsets(dst[r*ld:], ld, channel*v.Plane, outer, k, rows)
		r, k = r+rows, 0
		if outer++; outer == v.Outer {
			channel, outer = channel+1, 0
		}
	}
}

// offsets writes the segments of the rows of kernel offsets first, first+1, ... along the last axis, for one offset along the other axes and
// the channel at index channel.
func (v *View) offsets(dst []float32, ld, channel, outer, first, rows int) {
	for i := range v.segments {
		s := &v.segments[i]
		if line := int(v.Geometry.Lines[s.row*v.Outer+outer]); line >= 0 {
			s.from = s.base + channel + line*v.Line + s.x*v.Stride
		} else {
			s.from = padding
		}
	}
	for r := range rows {
		k := first + r
		line := dst[r*ld:]
		if v.Lo[k] > 0 || v.Hi[k] < v.Width || v.Stride != 1 {
			v.clipped(line, k)
			continue
		}
		shift := v.Shift[k]
		for i := range v.segments {
			s := &v.segments[i]
			if out := line[s.at : s.at+s.n]; s.from == padding {
				clear(out)
			} else {
				copy(out, v.X[s.from+shift:])
			}
		}
	}
}

// padding marks a segment in the padding.
const padding = math.MinInt

// clipped writes the segments of a row whose offset k reads padding at an end of the lines, or skips inputs because of a stride.
func (v *View) clipped(line []float32, k int) {
	for i := range v.segments {
		s := &v.segments[i]
		out := line[s.at : s.at+s.n]
		lo, hi := max(0, v.Lo[k]-s.x), min(s.n, v.Hi[k]-s.x)
		if s.from == padding || lo >= hi {
			clear(out)
			continue
		}
		if lo > 0 {
			clear(out[:lo])
		}
		if hi < s.n {
			clear(out[hi:])
		}
		if src := v.X[s.from+lo*v.Stride+v.Shift[k]:]; v.Stride == 1 {
			copy(out[lo:hi], src)
		} else {
			vec.Every(out[lo:hi], src, v.Stride)
		}
	}
}

package kernel

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// panelGroup is the number of panels that are filled side by side, so that lines are read in long pieces.
const panelGroup = 8

// geometry is where a convolution's kernel meets its images: for every row of outputs (over all axes but the last) and
// every kernel offset along these axes, the line of the image; and along the last axis the outputs that an offset
// finds inside the line.
type geometry struct {
	channels int // of a group
	plane    int // values of an image channel
	line     int // values of the last axis
	rows     int // rows of outputs
	width    int // outputs of a row
	outer    int // kernel offsets of all axes but the last
	last     int // kernel offsets of the last axis
	stride   int // along the last axis

	lines  []int32 // [row*outer + offset]: a line of the image, -1 in the padding
	lo, hi []int   // [offset]: outputs lo <= x < hi are inside
	shift  []int   // [offset]: output x meets input x*stride + shift

	left, padded int // a line of an image with its padding: values before it, and altogether

	users    [][]int32 // see lineUsers
	software cpe.Software
}

func newGeometry(s shape.Conv) *geometry {
	out := s.OutSize()
	n := len(out) - 1
	g := &geometry{
		channels: s.C / s.Group, plane: 1, line: s.In[n], rows: 1, width: out[n], outer: 1, last: s.Kernel[n], stride: s.Stride[n],
	}
	for i := range out {
		g.plane *= s.In[i]
		if i < n {
			g.rows *= out[i]
			g.outer *= s.Kernel[i]
		}
	}
	g.lines = pages.Make[int32](g.rows * g.outer)
	for i := range g.lines {
		g.lines[i] = sourceLine(s, out, i/g.outer, i%g.outer)
	}
	for k := range g.last {
		shift := k*s.Dilation[n] - s.Pad[n]
		lo := min(g.width, max(0, (-shift+g.stride-1)/g.stride))
		hi := 0
		if most := g.line - 1 - shift; most >= 0 {
			hi = min(g.width, most/g.stride+1)
		}
		g.lo, g.hi, g.shift = append(g.lo, lo), append(g.hi, max(lo, hi)), append(g.shift, shift)
	}
	g.left = s.Pad[n]
	g.padded = g.left + max(g.line, (g.width-1)*g.stride+g.shift[g.last-1]+1)
	return g
}

// sourceLine finds the line of the image that a row of outputs meets at an offset of the kernel, -1 in the padding.
func sourceLine(s shape.Conv, out []int, row, offset int) int32 {
	line, size := 0, 1
	for i := len(out) - 2; i >= 0; i-- {
		o, k := row%out[i], offset%s.Kernel[i]
		row, offset = row/out[i], offset/s.Kernel[i]
		in := o*s.Stride[i] - s.Pad[i] + k*s.Dilation[i]
		if in < 0 || in >= s.In[i] {
			return -1
		}
		line += in * size
		size *= s.In[i]
	}
	return int32(line)
}

// positions is the number of outputs of an image.
func (g *geometry) positions() int { return g.rows * g.width }

// space is the number of kernel offsets.
func (g *geometry) space() int { return g.outer * g.last }

// image is the column matrix of a batch of images, or its transpose, without storing it: row (c, k), k an offset in the
// kernel, holds for every output position (n, p) the input that it multiplies, zero in the padding.
type image struct {
	*geometry
	x     []float32 // the group's channels of the first image
	jump  int       // values from one image to the next
	trans bool

	segments []segment
	lines    []float32 // rows of the column matrix on their way to a panel across them
}

// segment is a run of positions in one row of outputs.
type segment struct {
	at, n int // in the first line of the panels that are filled
	base  int // of the image
	row   int
	x     int // first output in the row
	from  int // input that offset 0 of the present row of the column matrix meets
}

// newImage prepares a view whose panels are up to width lanes of depth values.
func newImage(g *geometry, jump int, trans bool, width, depth int) *image {
	v := &image{geometry: g, jump: jump, trans: trans}
	if trans {
		v.lines = pages.Make[float32](width * depth)
	}
	return v
}

// Run is the length of contiguous runs of a block: pieces of image lines.
func (v *image) Run(rows, cols int) int {
	if v.trans {
		return min(rows, v.width)
	}
	return min(cols, v.width)
}

// Gather packs a block. Where the panels' lanes are positions, each line of a panel is a piece of a row of the column matrix;
// where they are kernel offsets, rows are made first and then turned.
func (v *image) Gather(dst []float32, layout cpe.Layout, row, col, rows, cols int) {
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
			clearTail(panels, width, n, deep)
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

// cut finds the segments of n positions that go to panels of width lanes, panel values apart.
func (v *image) cut(position, n, width, panel int) {
	v.segments = v.segments[:0]
	all := v.positions()
	picture, p := position/all, position%all
	row, x := p/v.width, p%v.width
	for at := 0; at < n; {
		s := segment{at: at/width*panel + at%width, n: min(n-at, v.width-x, width-at%width), base: picture * v.jump, row: row, x: x}
		v.segments = append(v.segments, s)
		at += s.n
		if x += s.n; x < v.width {
			continue
		}
		x = 0
		if row++; row == v.rows {
			picture, row = picture+1, 0
		}
	}
}

// rowsOf writes n rows of the column matrix from row depth on, each ld values after the one before.
func (v *image) rowsOf(dst []float32, ld, depth, n int) {
	space := v.space()
	channel, k := depth/space, depth%space
	outer, k := k/v.last, k%v.last
	for r := 0; r < n; {
		rows := min(v.last-k, n-r)
		v.offsets(dst[r*ld:], ld, channel*v.plane, outer, k, rows)
		r, k = r+rows, 0
		if outer++; outer == v.outer {
			channel, outer = channel+1, 0
		}
	}
}

// offsets writes the segments of the rows of offsets first, first+1, ... along the last axis, for one offset along the
// others and the channel that starts at channel.
func (v *image) offsets(dst []float32, ld, channel, outer, first, rows int) {
	for i := range v.segments {
		s := &v.segments[i]
		if line := int(v.geometry.lines[s.row*v.outer+outer]); line >= 0 {
			s.from = s.base + channel + line*v.line + s.x*v.stride
		} else {
			s.from = padding
		}
	}
	for r := range rows {
		k := first + r
		line := dst[r*ld:]
		if v.lo[k] > 0 || v.hi[k] < v.width || v.stride != 1 {
			v.clipped(line, k)
			continue
		}
		shift := v.shift[k]
		for i := range v.segments {
			s := &v.segments[i]
			if out := line[s.at : s.at+s.n]; s.from == padding {
				clear(out)
			} else {
				copy(out, v.x[s.from+shift:])
			}
		}
	}
}

// padding marks a segment that lies in the padding.
const padding = math.MinInt

// clipped writes the segments of a row whose offset k meets the padding at an end of the lines, or skips inputs.
func (v *image) clipped(line []float32, k int) {
	for i := range v.segments {
		s := &v.segments[i]
		out := line[s.at : s.at+s.n]
		lo, hi := max(0, v.lo[k]-s.x), min(s.n, v.hi[k]-s.x)
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
		if src := v.x[s.from+lo*v.stride+v.shift[k]:]; v.stride == 1 {
			copy(out[lo:hi], src)
		} else {
			vec.Every(out[lo:hi], src, v.stride)
		}
	}
}

package im2col

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Geometry is where a convolution's kernel meets its images: for every row of outputs (over all axes but the last) and
// every kernel offset along these axes, the line of the image; and along the last axis the outputs that an offset
// finds inside the line.
type Geometry struct {
	Channels int // of a group
	Plane    int // values of an image channel
	Line     int // values of the last axis
	Rows     int // rows of outputs
	Width    int // outputs of a row
	Outer    int // kernel offsets of all axes but the last
	Last     int // kernel offsets of the last axis
	Stride   int // along the last axis

	Lines  []int32 // [row*outer + offset]: a line of the image, -1 in the padding
	Lo, Hi []int   // [offset]: outputs lo <= x < hi are inside
	Shift  []int   // [offset]: output x meets input x*stride + shift

	left, padded int // a line of an image with its padding: values before it, and altogether

	users    [][]int32 // see lineUsers
	Software cpe.Software
}

func NewGeometry(s shape.Conv) *Geometry {
	out := s.OutSize()
	n := len(out) - 1
	g := &Geometry{
		Channels: s.C / s.Group, Plane: 1, Line: s.In[n], Rows: 1, Width: out[n], Outer: 1, Last: s.Kernel[n], Stride: s.Stride[n],
	}
	for i := range out {
		g.Plane *= s.In[i]
		if i < n {
			g.Rows *= out[i]
			g.Outer *= s.Kernel[i]
		}
	}
	g.Lines = pages.Make[int32](g.Rows * g.Outer)
	for i := range g.Lines {
		g.Lines[i] = sourceLine(s, out, i/g.Outer, i%g.Outer)
	}
	for k := range g.Last {
		shift := k*s.Dilation[n] - s.Pad[n]
		lo := min(g.Width, max(0, (-shift+g.Stride-1)/g.Stride))
		hi := 0
		if most := g.Line - 1 - shift; most >= 0 {
			hi = min(g.Width, most/g.Stride+1)
		}
		g.Lo, g.Hi, g.Shift = append(g.Lo, lo), append(g.Hi, max(lo, hi)), append(g.Shift, shift)
	}
	g.left = s.Pad[n]
	g.padded = g.left + max(g.Line, (g.Width-1)*g.Stride+g.Shift[g.Last-1]+1)
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

// Positions is the number of outputs of an image.
func (g *Geometry) Positions() int { return g.Rows * g.Width }

// Space is the number of kernel offsets.
func (g *Geometry) Space() int { return g.Outer * g.Last }

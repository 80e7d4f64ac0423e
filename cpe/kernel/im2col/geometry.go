// Package im2col makes the column matrix of a convolution. Row (c, k) of the matrix, for channel c and kernel offset k, holds for every output
// position the input that this weight multiplies, and 0 in the padding. A convolution is then the product of the weights with this matrix
// (Chellapilla et al. 2006).
//
// A [Geometry] says which inputs each output reads. Geometry.Spread writes the matrix of a [Band] of outputs to memory (im2col), and
// Geometry.Fold adds a matrix to the image's gradient (col2im). Through DMA both go line by line, as in swCaffe (section IV-B). A [View] is the
// same matrix without memory: an operand of package gemm that gathers blocks from the images. [Columns] spreads and folds whole batches of one
// channel.
package im2col

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Geometry says which inputs each output of a convolution reads. A line is the values of an image along its last axis. For every row of
// outputs and every kernel offset along the other axes, Lines has the line that they read.
type Geometry struct {
	Channels int // of a group
	Plane    int // values of an image channel
	Rows     int // rows of outputs
	Outer    int // kernel offsets of all axes but the last
	LastAxis

	Lines    []int32   // [row*Outer + offset]: a line of the image, -1 in the padding
	users    [][]int32 // see LineUsers
	Software cpe.Software

	plain bool // two axes, strides of 1, not dilated
	top   int  // padding of the first axis
}

// LastAxis says which values of a line each output of a row reads.
type LastAxis struct {
	Line   int   // values of a line
	Width  int   // outputs of a row
	Last   int   // kernel offsets
	Stride int   // inputs from one output to the next
	Lo, Hi []int // [offset]: outputs Lo <= x < Hi read inside the line
	Shift  []int // [offset]: output x reads input x*Stride + Shift

	left, padded int // a line with its padding: values before it, and altogether
}

// NewGeometry computes the geometry of a convolution.
func NewGeometry(s shape.Conv) *Geometry {
	out := s.OutSize()
	n := len(out) - 1
	g := &Geometry{Channels: s.C / s.Group, Plane: 1, Rows: 1, Outer: 1, LastAxis: lastAxis(s, out[n])}
	for i := range out {
		g.Plane *= s.In[i]
		if i < n {
			g.Rows *= out[i]
			g.Outer *= s.Kernel[i]
		}
	}
	g.plain, g.top = n == 1 && tiling.Size(s.Stride) == 1 && tiling.Size(s.Dilation) == 1, s.Pad[0]
	g.Lines = pages.Make[int32](g.Rows * g.Outer)
	for i := range g.Lines {
		g.Lines[i] = sourceLine(s, out, i/g.Outer, i%g.Outer)
	}
	return g
}

// lastAxis computes the geometry along the last axis, which has width outputs.
func lastAxis(s shape.Conv, width int) LastAxis {
	n := len(s.In) - 1
	g := LastAxis{Line: s.In[n], Width: width, Last: s.Kernel[n], Stride: s.Stride[n], left: s.Pad[n]}
	for k := range g.Last {
		shift := k*s.Dilation[n] - s.Pad[n]
		lo := min(g.Width, max(0, (-shift+g.Stride-1)/g.Stride))
		hi := 0
		if most := g.Line - 1 - shift; most >= 0 {
			hi = min(g.Width, most/g.Stride+1)
		}
		g.Lo, g.Hi, g.Shift = append(g.Lo, lo), append(g.Hi, max(lo, hi)), append(g.Shift, shift)
	}
	g.padded = g.left + max(g.Line, (g.Width-1)*g.Stride+g.Shift[g.Last-1]+1)
	return g
}

// sourceLine returns the line of the image that a row of outputs reads at an offset of the kernel, -1 in the padding.
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

// Positions returns the number of outputs of an image.
func (g *Geometry) Positions() int { return g.Rows * g.Width }

// Space returns the number of kernel offsets.
func (g *Geometry) Space() int { return g.Outer * g.Last }

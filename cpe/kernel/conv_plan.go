package kernel

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
)

// ConvShape describes a convolution over any number of spatial axes. Images are N x C x In..., weights Out x C/Group x
// Kernel..., results N x Out x OutSize()... Axes stand outermost first.
type ConvShape struct {
	N, C, Out, Group                  int
	In, Kernel, Stride, Pad, Dilation []int
}

// OutSize returns the extents of the result's spatial axes: floor((in + 2*pad - (dilation*(kernel-1)+1)) / stride) + 1.
func (s ConvShape) OutSize() []int {
	out := make([]int, len(s.In))
	for i := range out {
		extent := s.Dilation[i]*(s.Kernel[i]-1) + 1
		out[i] = (s.In[i]+2*s.Pad[i]-extent)/s.Stride[i] + 1
	}
	return out
}

// String prints the shape.
func (s ConvShape) String() string {
	return fmt.Sprintf("%dx%dx%v -> %d, kernel %v stride %v pad %v dilation %v group %d",
		s.N, s.C, s.In, s.Out, s.Kernel, s.Stride, s.Pad, s.Dilation, s.Group)
}

// Strategy is a way to convolve.
type Strategy int

const (
	// Auto leaves the choice to the machine's cost model.
	Auto Strategy = iota
	// Explicit writes the column matrix (im2col) and multiplies.
	Explicit
)

// String returns the name that -strategy takes.
func (s Strategy) String() string { return [...]string{"auto", "explicit"}[s] }

// ConvPlan says how an explicit convolution is cut: an image's output rows (the outer spatial axes taken together) go in
// bands, so that a band's column matrix stays in a near cache on the host. A 1x1 kernel with stride 1 and no padding
// needs no column matrix: the image is one.
type ConvPlan struct {
	Strategy Strategy
	Direct   bool
	Rows     int // output rows of an image
	Width    int // outputs a row
	Band     int // rows of a band
	Chunks   int // partial sums of the weight gradient
	Depth    int // rows of the column matrix: C/Group * product of Kernel
}

// maxChunks bounds the number of partial weight gradients, which core groups compute side by side and which are then
// added in their order.
const maxChunks = 8

// PlanConv cuts a convolution for a machine.
func PlanConv(spec *cpe.Spec, native bool, s ConvShape) ConvPlan {
	out := s.OutSize()
	p := ConvPlan{Strategy: Explicit, Rows: 1, Width: out[len(out)-1], Depth: s.C / s.Group, Direct: true}
	for i, o := range out {
		if i < len(out)-1 {
			p.Rows *= o
		}
		p.Depth *= s.Kernel[i]
		p.Direct = p.Direct && s.Kernel[i] == 1 && s.Stride[i] == 1 && s.Pad[i] == 0
	}
	p.Band = p.Rows
	if native && !p.Direct && p.Width > 0 {
		// Half of L2 for the columns of a band, but at least 512 columns to keep the product efficient.
		columns := max(512, spec.LDMBytes/2/4/max(1, p.Depth))
		p.Band = max(1, min(p.Rows, columns/p.Width))
		bands := (p.Rows + p.Band - 1) / p.Band
		p.Band = (p.Rows + bands - 1) / bands
	}
	p.Chunks = min(maxChunks, s.N*p.bands())
	return p
}

func (p ConvPlan) bands() int {
	if p.Rows == 0 {
		return 0
	}
	return (p.Rows + p.Band - 1) / p.Band
}

// String prints the plan on a line.
func (p ConvPlan) String() string {
	return fmt.Sprintf("%v, column matrix %dx%d in %d bands of %d rows, %d partial weight gradients",
		p.Strategy, p.Depth, p.Rows*p.Width, p.bands(), p.Band, p.Chunks)
}

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

// unitStride reports whether the input gradient is itself a convolution of the output's gradient.
func (s ConvShape) unitStride() bool {
	for _, stride := range s.Stride {
		if stride != 1 {
			return false
		}
	}
	return true
}

// stepsInside reports whether strides and dilations are no longer than the images, whose pixels they then take apart; beyond, there would be
// more parts than pixels.
func (s *ConvShape) stepsInside() bool {
	for i, n := range s.In {
		if max(s.Stride[i], s.Dilation[i]) > n {
			return false
		}
	}
	return true
}

// pointwise reports whether the column matrix is the image itself: a 1x1 kernel, stride 1, no padding.
func (s ConvShape) pointwise() bool {
	for i := range s.In {
		if s.Kernel[i] != 1 || s.Stride[i] != 1 || s.Pad[i] != 0 {
			return false
		}
	}
	return true
}

// shiftable reports whether a kernel offset can be a shift: see slab. Where strides or dilations are far longer than kernels, most of
// a slab would be pixels that no output meets: more of them than columns have.
func (s ConvShape) shiftable() bool {
	if len(s.In) > 2 || s.pointwise() {
		return false
	}
	const most = 4
	share := float64(1) // of the slab, in the columns
	for i, out := range s.OutSize() {
		slab := float64(s.Stride[i]) * float64(out+s.Dilation[i]*(s.Kernel[i]-1)/s.Stride[i])
		share *= float64(out) * float64(s.Kernel[i]) / slab
	}
	return share*most >= 1
}

// ones are n strides of 1.
func ones(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// mirrored is the convolution that turns the output's gradient into the input's, where strides are 1: kernels flipped, input
// and output channels exchanged, padding dilation*(kernel-1) - pad.
func (s ConvShape) mirrored() ConvShape {
	m := s
	m.C, m.Out, m.In, m.Stride = s.Out, s.C, s.OutSize(), ones(len(s.In))
	m.Pad = make([]int, len(s.Pad))
	for i := range m.Pad {
		m.Pad[i] = s.Dilation[i]*(s.Kernel[i]-1) - s.Pad[i]
	}
	return m
}

// size is the product of extents.
func size(extents []int) int {
	n := 1
	for _, e := range extents {
		n *= e
	}
	return n
}

// depth is the number of rows of the column matrix: C/Group * kernel offsets.
func (s ConvShape) depth() int { return s.C / s.Group * size(s.Kernel) }

// ConvPlan is the strategy of each direction, and how it cuts its work.
type ConvPlan struct {
	Strategy [3]Strategy // by Direction
	// Chunks is the number of partial sums of the weight gradient, which core groups compute side by side and which are then
	// added in their order. On the host it depends on the shape alone, so that bits do not depend on the number of cores.
	Chunks int
	// Band is the number of rows of outputs whose column matrix is written at once by the explicit strategy, of Rows.
	Band, Rows int
}

// maxChunks bounds the number of partial weight gradients of the implicit strategy, which has them only where weights are
// few, and explicitChunks that of the explicit one on the host, which has no other way to share the work.
const (
	maxChunks      = 16
	explicitChunks = 4
)

// planConv cuts a convolution for a machine, the strategies being chosen.
func planConv(spec *cpe.Spec, s ConvShape, st [3]Strategy) ConvPlan {
	out := s.OutSize()
	last := len(out) - 1
	p := ConvPlan{Strategy: st, Rows: size(out[:last])}
	p.Band = p.Rows
	if spec.Native() && !s.pointwise() && out[last] > 0 {
		// Half of L2 for the columns of a band, but at least 512 columns to keep the product efficient.
		columns := max(512, spec.LDMBytes/2/4/max(1, s.depth()))
		p.Band = even(p.Rows, max(1, columns/out[last]), 1)
	}
	switch {
	case st[WeightGradient].isWinograd(), st[WeightGradient] == Implicit && spec.Native() && (s.shiftable() || s.depthwise()):
		p.Chunks = 1
	case st[WeightGradient] == Implicit && s.sharesRows(spec, WeightGradient):
		p.Chunks = spec.CoreGroups
	case st[WeightGradient] == Implicit && !spec.Native():
		p.Chunks = max(1, min(spec.CoreGroups, s.N))
	case st[WeightGradient] == Implicit:
		p.Chunks = implicitChunks(s)
	case spec.Native():
		p.Chunks = min(explicitChunks, s.N*p.bands())
	default:
		p.Chunks = min(spec.CoreGroups, s.N*p.bands())
	}
	return p
}

// implicitChunks cuts the sum over positions where the weights alone are too few to keep many cores busy.
func implicitChunks(s ConvShape) int {
	const weights, positions = 1 << 15, 1 << 10
	if s.Out/s.Group*s.depth() >= weights {
		return 1
	}
	return max(1, min(maxChunks, s.N*size(s.OutSize())/positions))
}

func (p ConvPlan) bands() int {
	if p.Rows == 0 {
		return 0
	}
	return blocks(p.Rows, p.Band)
}

// String prints the plan on a line.
func (p ConvPlan) String() string {
	return fmt.Sprintf("forward %v, weight gradient %v in %d partial sums, input gradient %v, bands of %d of %d rows",
		p.Strategy[Forward], p.Strategy[WeightGradient], p.Chunks, p.Strategy[InputGradient], p.Band, p.Rows)
}

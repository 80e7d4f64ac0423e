// Package shape describes the problems that kernels solve, but no way to solve them.
//
// [Conv] is a convolution: images, kernels, strides, padding, dilations and groups along any number of axes. It has three directions
// ([Direction]). For each a user can force a family of algorithms ([Strategy]). [Algorithm] is the name of the one that runs.
//
// Images are in planes, as Caffe's N x C x H x W, or in blocks of [BlockLanes] channels ([ToBlocks], [FromBlocks]). [Thin] is the pixels of a
// plane that a strided 1x1 convolution reads.
package shape

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Conv is a convolution along any number of spatial axes, of which the outermost comes first:
//
//	images   N x C x In...
//	weights  Out x C/Group x Kernel...
//	results  N x Out x OutSize()...
type Conv struct {
	N, C, Out, Group                  int
	In, Kernel, Stride, Pad, Dilation []int
}

// OutSize returns the extents of the results: floor((in + 2*pad - (dilation*(kernel-1)+1)) / stride) + 1 along each axis.
func (s Conv) OutSize() []int {
	out := make([]int, len(s.In))
	for i := range out {
		extent := s.Dilation[i]*(s.Kernel[i]-1) + 1
		out[i] = (s.In[i]+2*s.Pad[i]-extent)/s.Stride[i] + 1
	}
	return out
}

// String prints the shape.
func (s Conv) String() string {
	return fmt.Sprintf("%dx%dx%v -> %d, kernel %v stride %v pad %v dilation %v group %d",
		s.N, s.C, s.In, s.Out, s.Kernel, s.Stride, s.Pad, s.Dilation, s.Group)
}

// Empty reports whether there are no results to compute.
func (s Conv) Empty() bool { return s.N == 0 || tiling.Size(s.OutSize()) <= 0 }

// Describe describes a problem of this shape in a line.
func (s Conv) Describe(d Direction, images, results Layout) string {
	return fmt.Sprintf("%v of %v, images in %v, results in %v", d, s, images, results)
}

// UnitStride reports whether all strides are 1. The input gradient is then itself a convolution; see Mirrored.
func (s Conv) UnitStride() bool {
	for _, stride := range s.Stride {
		if stride != 1 {
			return false
		}
	}
	return true
}

// StepsInside reports whether no stride and no dilation is longer than the images. Algorithms that divide pixels by their remainders would
// otherwise have more parts than pixels.
func (s *Conv) StepsInside() bool {
	for i, n := range s.In {
		if max(s.Stride[i], s.Dilation[i]) > n {
			return false
		}
	}
	return true
}

// Pointwise reports whether the column matrix is the image itself: the kernel is 1x1, strides are 1, and there is no padding.
func (s Conv) Pointwise() bool {
	for i := range s.In {
		if s.Kernel[i] != 1 || s.Stride[i] != 1 || s.Pad[i] != 0 {
			return false
		}
	}
	return true
}

// Mirrored returns, for strides of 1, the convolution that computes the input gradient from that of the results: kernels are flipped,
// input and output channels change places, and the padding is dilation*(kernel-1) - pad.
func (s Conv) Mirrored() Conv {
	m := s
	m.C, m.Out, m.In, m.Stride = s.Out, s.C, s.OutSize(), tiling.Ones(len(s.In))
	m.Pad = make([]int, len(s.Pad))
	for i := range m.Pad {
		m.Pad[i] = s.Dilation[i]*(s.Kernel[i]-1) - s.Pad[i]
	}
	return m
}

// Depth returns the number of rows of the column matrix: the channels of a group times the kernel offsets.
func (s Conv) Depth() int { return s.C / s.Group * tiling.Size(s.Kernel) }

// Check returns an error for an invalid shape: numbers of axes that differ, extents that are too small, groups that do not divide the channels,
// kernels larger than the padded images.
func (s Conv) Check() error {
	n := len(s.In)
	if n == 0 || len(s.Kernel) != n || len(s.Stride) != n || len(s.Pad) != n || len(s.Dilation) != n {
		return fmt.Errorf("kernel: convolution %v: images, kernels, strides, padding and dilations must have as many axes, one or more", s)
	}
	if err := tiling.Check(s, tiling.Bound{Name: "N", N: s.N, Least: 0}, tiling.Bound{Name: "C", N: s.C, Least: 1}, tiling.Bound{Name: "Out", N: s.Out, Least: 1}, tiling.Bound{Name: "Group", N: s.Group, Least: 1}); err != nil {
		return err
	}
	if s.C%s.Group != 0 || s.Out%s.Group != 0 {
		return fmt.Errorf("kernel: convolution %v: group %d does not divide %d and %d channels", s, s.Group, s.C, s.Out)
	}
	for i := range n {
		err := tiling.Check(s, tiling.Bound{Name: "In", N: s.In[i], Least: 1}, tiling.Bound{Name: "Kernel", N: s.Kernel[i], Least: 1}, tiling.Bound{Name: "Stride", N: s.Stride[i], Least: 1},
			tiling.Bound{Name: "Pad", N: s.Pad[i], Least: 0}, tiling.Bound{Name: "Dilation", N: s.Dilation[i], Least: 1})
		if err != nil {
			return err
		}
		if extent, room := s.Dilation[i]*(s.Kernel[i]-1)+1, s.In[i]+2*s.Pad[i]; extent > room {
			return fmt.Errorf("kernel: convolution %v: a kernel's extent of %d is larger than the padded image's %d", s, extent, room)
		}
	}
	return nil
}

// Dilated reports whether the offsets of a kernel are more than a pixel apart.
func (s *Conv) Dilated() bool { return tiling.Size(s.Dilation) > 1 }

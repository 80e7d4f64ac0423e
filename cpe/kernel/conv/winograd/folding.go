package winograd

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// A strided convolution equals a unit-stride convolution of folded images (space to depth). Folded channel (c, i, j) holds every strideH-th
// row and strideW-th column of channel c, starting with row i and column j. Kernels are folded alike:
//
//	X'[(c, i, j)][y][x] = X[c][y*strideH+i-padH][x*strideW+j-padW]
//	W'[(c, i, j)][y][x] = W[c][y*strideH+i][x*strideW+j]
//
// Values outside the image or the kernel are 0. Padding becomes part of the folded images, so that kernels need no zeros ahead of the first
// weight. AlexNet's first layer, for example, has kernels of 11 and strides of 4: folded, it has kernels of 3 and 16 times the channels.

// folded returns the equivalent convolution of folded images.
func folded(s shape.Conv) shape.Conv {
	in, kernel := s.OutSize(), make([]int, len(s.In))
	for i, stride := range s.Stride {
		kernel[i] = tiling.Blocks(s.Kernel[i], stride)
		in[i] += kernel[i] - 1
	}
	s.C *= tiling.Size(s.Stride)
	s.In, s.Kernel, s.Stride, s.Pad = in, kernel, tiling.Ones(len(in)), make([]int, len(in))
	return s
}

// byWinograd returns the convolution that Winograd's algorithms compute for a direction of s: s itself or, on the host, the folded one. ok is
// false if neither suits. Whether there are transforms for the kernel size is not checked.
func byWinograd(s shape.Conv, spec *cpe.Spec, d shape.Direction) (inner shape.Conv, ok bool) {
	if foldsImages(s, d) && !spec.HasDMA() && !s.Dilated() && s.StepsInside() && slices.Min(s.OutSize()) > 0 {
		s = folded(s)
	}
	return s, len(s.In) == 2 && s.UnitStride() && s.Kernel[0] == s.Kernel[1] && (!s.Dilated() || !spec.HasDMA() && s.StepsInside())
}

// foldsImages reports whether Winograd's algorithms need folded images for a direction. The input gradient does not count: it would have to
// be unfolded.
func foldsImages(s shape.Conv, d shape.Direction) bool {
	return d != shape.InputGradient && !s.UnitStride()
}

// imageFold folds two-dimensional images, a few pixels at a time.
type imageFold struct {
	image            int // values in an image
	h, w             int
	lines, cols      int // lines and columns that any kernel covers
	strideH, strideW int
	padH, padW       int
}

func newImageFold(s *shape.Conv) *imageFold {
	met, out := make([]int, len(s.In)), s.OutSize()
	for i := range met {
		met[i] = min(s.In[i], (out[i]-1)*s.Stride[i]+s.Kernel[i]-s.Pad[i])
	}
	return &imageFold{s.C * tiling.Size(s.In), s.In[0], s.In[1], met[0], met[1], s.Stride[0], s.Stride[1], s.Pad[0], s.Pad[1]}
}

// read writes folded channels of image x to pixels of sliceLanes values each, in lines of pitch pixels. Values outside the image, or
// covered by no kernel, are not written.
//
// It is no copy of lines, as tensor.Plane.Pad is: the values between two strides become the lanes of one pixel.
func (f *imageFold) read(pixels, x []float32, channels, rows, cols tiling.Span, pitch int) {
	for lane := 0; lane < channels.N; {
		row, j := (channels.At+lane)/f.strideW, (channels.At+lane)%f.strideW
		c, i, n := row/f.strideH, row%f.strideH, min(f.strideW-j, channels.N-lane)
		for r := range rows.N {
			if y := (rows.At+r)*f.strideH + i - f.padH; y >= 0 && y < f.lines {
				f.line(pixels[r*pitch*sliceLanes+lane:], x[(c*f.h+y)*f.w:][:f.cols], cols.At*f.strideW+j-f.padW, cols.N, n)
			}
		}
		lane += n
	}
}

// line copies n neighbouring values of a line to each of count pixels. The first pixel's values start at index at, which may be negative; the
// next pixel's start one stride further on.
func (f *imageFold) line(pixels, line []float32, at, count, n int) {
	lo := min(count, max(0, tiling.Blocks(-at, f.strideW)))
	hi := max(lo, min(count, tiling.Blocks(len(line)-n-at+1, f.strideW)))
	if hi > lo {
		vec.CopyRows(pixels[lo*sliceLanes:], sliceLanes, line[at+lo*f.strideW:], f.strideW, hi-lo, n)
	}
	for _, part := range [2]tiling.Span{{At: 0, N: lo}, {At: hi, N: count - hi}} {
		for i := part.At; i < part.End(); i++ {
			for k := range n {
				if x := at + i*f.strideW + k; x >= 0 && x < len(line) {
					pixels[i*sliceLanes+k] = line[x]
				}
			}
		}
	}
}

// foldedTaps returns the position of each weight of a kernel in its folded kernel, and the number of weights of the latter.
func foldedTaps(s shape.Conv) (places []int, weights int) {
	kernel := folded(s).Kernel
	for y := range s.Kernel[0] {
		for x := range s.Kernel[1] {
			channel := y%s.Stride[0]*s.Stride[1] + x%s.Stride[1]
			places = append(places, (channel*kernel[0]+y/s.Stride[0])*kernel[1]+x/s.Stride[1])
		}
	}
	return places, tiling.Size(s.Stride) * tiling.Size(kernel)
}

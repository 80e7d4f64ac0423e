package conv

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// A convolution with strides is one without of folded images, whose channels (c, i, j) are what strides meet of channel c from row i and
// column j on (space to depth), and of kernels folded alike:
//
//	X'[(c, i, j)][y][x] = X[c][y*strideH+i-padH][x*strideW+j-padW]
//	W'[(c, i, j)][y][x] = W[c][y*strideH+i][x*strideW+j]
//
// both 0 where there is nothing. Padding is part of these images, so that kernels need no zeros before the first weight. Kernels of 11 with
// strides of 4, as of AlexNet's first layer, are kernels of 3 for 16 times the channels.

// folded is the convolution of folded images, which has the same results.
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

// byWinograd is the convolution that Winograd's strategies compute a direction of the shape by, if they have maps for its kernels: the shape
// itself or, on the host, the folded one. ok is false if there is none.
func byWinograd(s shape.Conv, spec *cpe.Spec, d shape.Direction) (inner shape.Conv, ok bool) {
	if foldsImages(s, d) && spec.Native() && !s.Dilated() && s.StepsInside() && slices.Min(s.OutSize()) > 0 {
		s = folded(s)
	}
	return s, len(s.In) == 2 && s.UnitStride() && s.Kernel[0] == s.Kernel[1] && (!s.Dilated() || spec.Native() && s.StepsInside())
}

// foldsImages reports whether Winograd's strategies need folded images for a direction. The images' gradient would have to be unfolded.
func foldsImages(s shape.Conv, d shape.Direction) bool {
	return d != shape.InputGradient && !s.UnitStride()
}

// imageFold folds images of two axes, a few pixels at a time.
type imageFold struct {
	image            int // values of an image
	h, w             int
	lines, cols      int // that kernels meet
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

// read brings folded channels of an image x side by side in pixels of winogradLanes values, whose lines are pitch pixels long. Values
// that the image does not have, or kernels do not meet, are left as they are.
func (f *imageFold) read(pixels, x []float32, channels, rows, cols tiling.Span, pitch int) {
	for lane := 0; lane < channels.N; {
		row, j := (channels.At+lane)/f.strideW, (channels.At+lane)%f.strideW
		c, i, n := row/f.strideH, row%f.strideH, min(f.strideW-j, channels.N-lane)
		for r := range rows.N {
			if y := (rows.At+r)*f.strideH + i - f.padH; y >= 0 && y < f.lines {
				f.line(pixels[r*pitch*winogradLanes+lane:], x[(c*f.h+y)*f.w:][:f.cols], cols.At*f.strideW+j-f.padW, cols.N, n)
			}
		}
		lane += n
	}
}

// line brings n neighbours on a line to each of count pixels, to the first one those from place at on, which may be before the line.
func (f *imageFold) line(pixels, line []float32, at, count, n int) {
	lo := min(count, max(0, tiling.Blocks(-at, f.strideW)))
	hi := max(lo, min(count, tiling.Blocks(len(line)-n-at+1, f.strideW)))
	if hi > lo {
		vec.CopyRows(pixels[lo*winogradLanes:], winogradLanes, line[at+lo*f.strideW:], f.strideW, hi-lo, n)
	}
	for _, part := range [2]tiling.Span{{At: 0, N: lo}, {At: hi, N: count - hi}} {
		for i := part.At; i < part.End(); i++ {
			for k := range n {
				if x := at + i*f.strideW + k; x >= 0 && x < len(line) {
					pixels[i*winogradLanes+k] = line[x]
				}
			}
		}
	}
}

// foldedTaps lists where the weights of a kernel lie among those of the kernels that it is folded to, of so many weights.
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

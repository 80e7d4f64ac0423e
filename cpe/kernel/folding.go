package kernel

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
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
func (s ConvShape) folded() ConvShape {
	in, kernel := s.OutSize(), make([]int, len(s.In))
	for i, stride := range s.Stride {
		kernel[i] = blocks(s.Kernel[i], stride)
		in[i] += kernel[i] - 1
	}
	s.C *= size(s.Stride)
	s.In, s.Kernel, s.Stride, s.Pad = in, kernel, ones(len(in)), make([]int, len(in))
	return s
}

// byWinograd is the convolution that Winograd's strategies compute a direction of the shape by, if they have maps for its kernels: the shape
// itself or, on the host, the folded one. ok is false if there is none.
func (s ConvShape) byWinograd(spec *cpe.Spec, d Direction) (inner ConvShape, ok bool) {
	if s.foldsImages(d) && spec.Native() && !s.dilated() && s.stepsInside() && slices.Min(s.OutSize()) > 0 {
		s = s.folded()
	}
	return s, len(s.In) == 2 && s.unitStride() && s.Kernel[0] == s.Kernel[1] && (!s.dilated() || spec.Native() && s.stepsInside())
}

// foldsImages reports whether Winograd's strategies need folded images for a direction. The images' gradient would have to be unfolded.
func (s ConvShape) foldsImages(d Direction) bool { return d != InputGradient && !s.unitStride() }

// imageFold folds images of two axes, a few pixels at a time.
type imageFold struct {
	image            int // values of an image
	h, w             int
	lines, cols      int // that kernels meet
	strideH, strideW int
	padH, padW       int
}

func newImageFold(s *ConvShape) *imageFold {
	met, out := make([]int, len(s.In)), s.OutSize()
	for i := range met {
		met[i] = min(s.In[i], (out[i]-1)*s.Stride[i]+s.Kernel[i]-s.Pad[i])
	}
	return &imageFold{s.C * size(s.In), s.In[0], s.In[1], met[0], met[1], s.Stride[0], s.Stride[1], s.Pad[0], s.Pad[1]}
}

// read brings folded channels of an image x side by side in pixels of winogradLanes values, whose lines are pitch pixels long. Values
// that the image does not have, or kernels do not meet, are left as they are.
func (f *imageFold) read(pixels, x []float32, channels, rows, cols span, pitch int) {
	for lane := 0; lane < channels.n; {
		row, j := (channels.at+lane)/f.strideW, (channels.at+lane)%f.strideW
		c, i, n := row/f.strideH, row%f.strideH, min(f.strideW-j, channels.n-lane)
		for r := range rows.n {
			if y := (rows.at+r)*f.strideH + i - f.padH; y >= 0 && y < f.lines {
				f.line(pixels[r*pitch*winogradLanes+lane:], x[(c*f.h+y)*f.w:][:f.cols], cols.at*f.strideW+j-f.padW, cols.n, n)
			}
		}
		lane += n
	}
}

// line brings n neighbours on a line to each of count pixels, to the first one those from place at on, which may be before the line.
func (f *imageFold) line(pixels, line []float32, at, count, n int) {
	lo := min(count, max(0, blocks(-at, f.strideW)))
	hi := max(lo, min(count, blocks(len(line)-n-at+1, f.strideW)))
	if hi > lo {
		vec.CopyRows(pixels[lo*winogradLanes:], winogradLanes, line[at+lo*f.strideW:], f.strideW, hi-lo, n)
	}
	for _, part := range [2]span{{0, lo}, {hi, count - hi}} {
		for i := part.at; i < part.end(); i++ {
			for k := range n {
				if x := at + i*f.strideW + k; x >= 0 && x < len(line) {
					pixels[i*winogradLanes+k] = line[x]
				}
			}
		}
	}
}

// foldedTaps lists where the weights of a kernel lie among those of the kernels that it is folded to, of so many weights.
func (s ConvShape) foldedTaps() (places []int, weights int) {
	kernel := s.folded().Kernel
	for y := range s.Kernel[0] {
		for x := range s.Kernel[1] {
			channel := y%s.Stride[0]*s.Stride[1] + x%s.Stride[1]
			places = append(places, (channel*kernel[0]+y/s.Stride[0])*kernel[1]+x/s.Stride[1])
		}
	}
	return places, size(s.Stride) * size(kernel)
}

package vision

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// convLoop visits the multiplications of a convolution for one image and one output channel. For each output position p and each kernel
// offset outside the padding it calls visit(p, w, x). w is the weight's index in the filter, x the input's index in the image, both for the
// first input channel of the group. convSteps gives the distances to the other channels; inputs comes from convInputs.
func convLoop(s *shape.Conv, inputs []int32, o int, visit func(p, w, x int)) {
	channels, size, plane := convSteps(s)
	first := o / (s.Out / s.Group) * channels
	for p := range len(inputs) / size {
		for k, at := range inputs[p*size : (p+1)*size] {
			if at >= 0 {
				visit(p, k, first*plane+int(at))
			}
		}
	}
}

// convSteps returns the number of input channels of a group, and the distances between their weights and between their inputs.
func convSteps(s *shape.Conv) (channels, size, plane int) {
	return s.C / s.Group, blob.CountOf(s.Kernel...), blob.CountOf(s.In...)
}

// convInputs returns the input's index in its plane for each output position and kernel offset; -1 means padding.
func convInputs(s *shape.Conv) []int32 {
	out := s.OutSize()
	size, outputs := blob.CountOf(s.Kernel...), blob.CountOf(out...)
	inputs := pages.Make[int32](outputs * size)[:0]
	for p := range outputs {
		for k := range size {
			at, ok := convInput(s, out, p, k)
			if !ok {
				at = -1
			}
			inputs = append(inputs, int32(at))
		}
	}
	return inputs
}

// convInput returns the index in its plane of the input at output p and kernel offset k. ok is false in the padding.
func convInput(s *shape.Conv, out []int, p, k int) (at int, ok bool) {
	stride := 1
	for i := len(out) - 1; i >= 0; i-- {
		in := p%out[i]*s.Stride[i] - s.Pad[i] + k%s.Kernel[i]*s.Dilation[i]
		if in < 0 || in >= s.In[i] {
			return 0, false
		}
		at += in * stride
		stride *= s.In[i]
		p, k = p/out[i], k/s.Kernel[i]
	}
	return at, true
}

// convSizes returns the numbers of values in an image, a filter and an output plane.
func convSizes(s *shape.Conv) (image, filter, plane int) {
	return s.C * blob.CountOf(s.In...), s.C / s.Group * blob.CountOf(s.Kernel...), blob.CountOf(s.OutSize()...)
}

// convForwardMPE: y(n,o,p) = bias(o) + sum over c, k of w(o,c,k) * x(n,c,p*stride - pad + k*dilation).
func convForwardMPE(s *shape.Conv, x, w, bias, y []float32) {
	image, filter, plane := convSizes(s)
	channels, size, step := convSteps(s)
	inputs := convInputs(s)
	sums := pages.Make[float64](plane)
	for n := range s.N {
		for o := range s.Out {
			clear(sums)
			xs, ws := x[n*image:], w[o*filter:]
			convLoop(s, inputs, o, func(p, w, x int) {
				sum := sums[p]
				for c := range channels {
					sum += float64(ws[w+c*size]) * float64(xs[x+c*step])
				}
				sums[p] = sum
			})
			for p, v := range sums {
				if bias != nil {
					v += float64(bias[o])
				}
				y[(n*s.Out+o)*plane+p] = float32(v)
			}
		}
	}
}

// convWeightGradMPE adds dw(o,c,k) = sum over n, p of dy(n,o,p) * x(n,c,p*stride - pad + k*dilation).
func convWeightGradMPE(s *shape.Conv, x, dy, dw []float32) {
	image, filter, plane := convSizes(s)
	inputs := convInputs(s)
	channels, size, step := convSteps(s)
	sums := pages.Make[float64](filter)
	for o := range s.Out {
		clear(sums)
		for n := range s.N {
			xs, dys := x[n*image:], dy[(n*s.Out+o)*plane:]
			convLoop(s, inputs, o, func(p, w, x int) {
				for c := range channels {
					sums[w+c*size] += float64(dys[p]) * float64(xs[x+c*step])
				}
			})
		}
		for i, v := range sums {
			dw[o*filter+i] += float32(v)
		}
	}
}

// convInputGradMPE: dx(n,c,q) = sum of w(o,c,k) * dy(n,o,p) over all o, p and k with q = p*stride - pad + k*dilation.
func convInputGradMPE(s *shape.Conv, dy, w, dx []float32) {
	image, filter, plane := convSizes(s)
	inputs := convInputs(s)
	channels, size, step := convSteps(s)
	sums := pages.Make[float64](image)
	for n := range s.N {
		clear(sums)
		for o := range s.Out {
			ws, dys := w[o*filter:], dy[(n*s.Out+o)*plane:]
			convLoop(s, inputs, o, func(p, w, x int) {
				for c := range channels {
					sums[x+c*step] += float64(ws[w+c*size]) * float64(dys[p])
				}
			})
		}
		for i, v := range sums {
			dx[n*image+i] = float32(v)
		}
	}
}

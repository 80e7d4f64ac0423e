package vision

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// convRun is taps of a kernel whose inputs, for one output position, lie side by side in the image.
type convRun struct{ tap, input, taps int }

// convRuns lists the runs of each output position p outside the padding, in the order of taps: those of p begin at starts[p].
func convRuns(s *shape.Conv) (runs []convRun, starts []int) {
	out, last := s.OutSize(), len(s.In)-1
	lead, leadOut := leadingAxes(s), out[:last]
	lines := pages.Make[int](blob.CountOf(lead.Kernel...)) // the image's line for each line of the kernel, -1 in the padding
	most := len(lines)                                     // runs of a position
	if s.Dilation[last] > 1 {
		most *= s.Kernel[last]
	}
	runs, starts = pages.Make[convRun](blob.CountOf(out...) * most)[:0], pages.Make[int](blob.CountOf(out...) + 1)[:0]
	for p := range blob.CountOf(leadOut...) {
		for k := range lines {
			at, ok := convInput(&lead, leadOut, p, k)
			if !ok {
				at = -1
			}
			lines[k] = at
		}
		for x := range out[last] {
			starts = append(starts, len(runs))
			for k, line := range lines {
				for i := range s.Kernel[last] {
					in := x*s.Stride[last] - s.Pad[last] + i*s.Dilation[last]
					if line >= 0 && in >= 0 && in < s.In[last] {
						runs = extendRuns(runs, starts[len(starts)-1], convRun{k*s.Kernel[last] + i, line*s.In[last] + in, 1})
					}
				}
			}
		}
	}
	return runs, append(starts, len(runs))
}

// leadingAxes returns a convolution without its last spatial axis.
func leadingAxes(s *shape.Conv) shape.Conv {
	lead, last := *s, len(s.In)-1
	lead.In, lead.Kernel, lead.Stride, lead.Pad, lead.Dilation = s.In[:last], s.Kernel[:last], s.Stride[:last], s.Pad[:last], s.Dilation[:last]
	return lead
}

// extendRuns adds a tap to the last run, or as a run of its own if it is not beside it or the last run lies before first.
func extendRuns(runs []convRun, first int, tap convRun) []convRun {
	if n := len(runs); n > first {
		if r := &runs[n-1]; r.tap+r.taps == tap.tap && r.input+r.taps == tap.input {
			r.taps++
			return runs
		}
	}
	return append(runs, tap)
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

// together copies planes to dst, the channels of each position side by side, lane 0 of lanes.
func together(dst []float64, planes []float32, channels, lanes int) {
	plane := len(planes) / channels
	for c := range channels {
		for q, v := range planes[c*plane : (c+1)*plane] {
			dst[(q*channels+c)*lanes] = float64(v)
		}
	}
}

// convLanes is the number of output channels that convForwardMPE computes at a time: so many sums do not wait for each other's additions.
const convLanes = 4

// convForwardMPE: y(n,o,p) = bias(o) + sum over c, k of w(o,c,k) * x(n,c,p*stride - pad + k*dilation). The sum's order is k, then c.
func convForwardMPE(s *shape.Conv, x, w, bias, y []float32) {
	image, filter, plane := convSizes(s)
	runs, starts := convRuns(s)
	channels, outputs, part := s.C/s.Group, s.Out/s.Group, image/s.Group
	xs, ws := pages.Make[float64](part), pages.Make[float64](filter*convLanes)
	for ng := range s.N * s.Group {
		together(xs, x[ng*part:(ng+1)*part], channels, 1)
		for first := 0; first < outputs; first += convLanes {
			lanes := min(convLanes, outputs-first)
			o := ng%s.Group*outputs + first
			for lane := range lanes {
				together(ws[lane:], w[(o+lane)*filter:(o+lane+1)*filter], channels, convLanes)
			}
			ys := y[(ng*outputs+first)*plane:]
			for p := range plane {
				sums := convSums(runs[starts[p]:starts[p+1]], xs, ws, channels)
				for lane, v := range sums[:lanes] {
					if bias != nil {
						v += float64(bias[o+lane])
					}
					ys[lane*plane+p] = float32(v)
				}
			}
		}
	}
}

// convQuantisedMPE is convForwardMPE in INT8 (package quant): the same sums of integers, which float64 holds exactly.
func convQuantisedMPE(s *shape.Conv, scales *quant.Scales, x, w, bias, y []float32) {
	xs, ws, factors := pages.Make[float32](len(x)), pages.Make[float32](len(w)), make([]float32, s.Out)
	scales.Inputs(xs, x)
	scales.Weights(ws, factors, w)
	convForwardMPE(s, xs, ws, nil, y)
	_, _, plane := convSizes(s)
	for i, sum := range y {
		o := i / plane % s.Out
		y[i] = float32(sum * factors[o])
		if bias != nil {
			y[i] += bias[o]
		}
	}
}

// convSums returns an output position's sums of products for convLanes filters, whose weights are interleaved.
func convSums(runs []convRun, xs, ws []float64, channels int) [convLanes]float64 {
	var s0, s1, s2, s3 float64
	for _, r := range runs {
		w := ws[r.tap*channels*convLanes:]
		for i, v := range xs[r.input*channels : (r.input+r.taps)*channels] {
			four := (*[convLanes]float64)(w[convLanes*i:])
			s0 += four[0] * v
			s1 += four[1] * v
			s2 += four[2] * v
			s3 += four[3] * v
		}
	}
	return [convLanes]float64{s0, s1, s2, s3}
}

// convWeightGradMPE adds dw(o,c,k) = sum over n, p of dy(n,o,p) * x(n,c,p*stride - pad + k*dilation).
func convWeightGradMPE(s *shape.Conv, x, dy, dw []float32) {
	image, filter, plane := convSizes(s)
	runs, starts := convRuns(s)
	channels, outputs, part := s.C/s.Group, s.Out/s.Group, image/s.Group
	xs, sums := pages.Make[float64](part), pages.Make[float64](s.Out*filter)
	for ng := range s.N * s.Group {
		together(xs, x[ng*part:(ng+1)*part], channels, 1)
		for i := range outputs {
			o := ng%s.Group*outputs + i
			of := sums[o*filter : (o+1)*filter]
			for p, d := range dy[(ng*outputs+i)*plane : (ng*outputs+i+1)*plane] {
				for _, r := range runs[starts[p]:starts[p+1]] {
					addScaled(of[r.tap*channels:], float64(d), xs[r.input*channels:(r.input+r.taps)*channels])
				}
			}
		}
	}
	size := filter / channels
	for o := range s.Out {
		for c := range channels {
			for k := range size {
				dw[o*filter+c*size+k] += float32(sums[o*filter+k*channels+c])
			}
		}
	}
}

// addScaled adds factor * values to sums.
func addScaled(sums []float64, factor float64, values []float64) {
	sums = sums[:len(values)]
	for i, v := range values {
		sums[i] += factor * v
	}
}

// convInputGradMPE: dx(n,c,q) = sum of w(o,c,k) * dy(n,o,p) over all o, p and k with q = p*stride - pad + k*dilation.
func convInputGradMPE(s *shape.Conv, dy, w, dx []float32) {
	image, filter, plane := convSizes(s)
	runs, starts := convRuns(s)
	channels, outputs, part := s.C/s.Group, s.Out/s.Group, image/s.Group
	sums, ws := pages.Make[float64](part), pages.Make[float64](filter)
	for ng := range s.N * s.Group {
		clear(sums)
		for i := range outputs {
			o := ng%s.Group*outputs + i
			together(ws, w[o*filter:(o+1)*filter], channels, 1)
			for p, d := range dy[(ng*outputs+i)*plane : (ng*outputs+i+1)*plane] {
				for _, r := range runs[starts[p]:starts[p+1]] {
					addScaled(sums[r.input*channels:], float64(d), ws[r.tap*channels:(r.tap+r.taps)*channels])
				}
			}
		}
		size := part / channels
		for c := range channels {
			for q := range size {
				dx[ng*part+c*size+q] = float32(sums[q*channels+c])
			}
		}
	}
}

package export

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// poolWindow holds Caffe's pooling along one axis: in inputs, out outputs.
type poolWindow struct{ in, out, kernel, stride, pad int }

// end returns the padding behind the inputs with which all windows are whole. Caffe clips the last window instead.
func (w poolWindow) end() int { return max(0, (w.out-1)*w.stride+w.kernel-w.in-w.pad) }

// empty reports whether the last window begins behind the last input.
func (w poolWindow) empty() bool { return (w.out-1)*w.stride-w.pad >= w.in }

// counts returns the number of places that Caffe divides each window's sum by: padding counts up to pad places behind the inputs.
func (w poolWindow) counts() (counts []int) {
	for o := range w.out {
		at := o*w.stride - w.pad
		counts = append(counts, min(at+w.kernel, w.in+w.pad)-at)
	}
	return counts
}

func pooling(l *layer) error {
	p := l.p.GetPoolingParam()
	if p == nil {
		p = &caffepb.PoolingParameter{}
	}
	var w [2]poolWindow
	for i := range w {
		w[i] = poolWindow{in: l.bottom[0].Dim(2 + i), out: l.top[0].Dim(2 + i)}
	}
	if p.GetGlobalPooling() {
		for i := range w {
			w[i].kernel, w[i].stride = w[i].in, 1
		}
		if op, whole := globalOps[p.GetPool()]; whole && len(l.top) == 1 {
			l.set(0, l.node(op, l.in))
			return nil
		}
	} else {
		read := func(both, h, v *uint32, missing int) [2]int {
			switch {
			case h != nil:
				return [2]int{int(*h), int(*v)}
			case both != nil:
				return [2]int{int(*both), int(*both)}
			}
			return [2]int{missing, missing}
		}
		kernel, stride, pad := read(p.KernelSize, p.KernelH, p.KernelW, 1), read(p.Stride, p.StrideH, p.StrideW, 1), read(p.Pad, p.PadH, p.PadW, 0)
		for i := range w {
			w[i].kernel, w[i].stride, w[i].pad = kernel[i], stride[i], pad[i]
		}
	}
	return l.pool(p.GetPool(), w, l.set)
}

var globalOps = map[caffepb.PoolingParameter_PoolMethod]string{
	caffepb.PoolingParameter_MAX: "GlobalMaxPool", caffepb.PoolingParameter_AVE: "GlobalAveragePool",
}

// pool writes a pooling of the bottom. Its windows are whole, by explicit padding, so that no rule of rounding is needed.
func (l *layer) pool(method caffepb.PoolingParameter_PoolMethod, w [2]poolWindow, set func(k int, v string)) error {
	attrs := []attr{
		{"kernel_shape", []int{w[0].kernel, w[1].kernel}}, {"strides", []int{w[0].stride, w[1].stride}},
		{"pads", []int{w[0].pad, w[1].pad, w[0].end(), w[1].end()}},
	}
	if w[0].empty() || w[1].empty() {
		return fmt.Errorf("the last window lies outside the %d x %d images (stride %d x %d, kernel %d x %d)",
			w[0].in, w[1].in, w[0].stride, w[1].stride, w[0].kernel, w[1].kernel)
	}
	x := l.in[0]
	switch method {
	case caffepb.PoolingParameter_AVE:
		set(0, l.average(x, w, attrs))
	case caffepb.PoolingParameter_STOCHASTIC:
		set(0, l.stochastic(x, attrs))
	default:
		if len(l.top) == 1 {
			set(0, l.node("MaxPool", []string{x}, attrs...))
			return nil
		}
		y := l.nodes("MaxPool", 2, []string{x}, attrs...)
		set(0, y[0])
		at := l.node("Mod", []string{y[1], l.ints("plane", w[0].in*w[1].in)})
		set(1, l.node("Cast", []string{at}, float))
	}
	return nil
}

// average counts no padding if there is none before the inputs: Caffe divides a clipped window by the inputs in it. Otherwise the images get
// zeros around them, which count, and a product corrects the windows that Caffe divides by less. A Pad is read alike by all programs, where
// OpenCV up to 4.12 ignores count_include_pad.
func (l *layer) average(x string, w [2]poolWindow, attrs []attr) string {
	if w[0].pad == 0 && w[1].pad == 0 {
		return l.node("AveragePool", []string{x}, attrs...)
	}
	x = l.padded(x, []int{w[0].pad, w[1].pad}, []int{w[0].end(), w[1].end()})
	y := l.node("AveragePool", []string{x}, attr{"kernel_shape", []int{w[0].kernel, w[1].kernel}}, attr{"strides", []int{w[0].stride, w[1].stride}})
	rows, cols := w[0].counts(), w[1].counts()
	full := w[0].kernel * w[1].kernel
	var factors []float32
	corrected := false
	for _, r := range rows {
		for _, c := range cols {
			factors = append(factors, float32(float64(full)/float64(r*c)))
			corrected = corrected || r*c != full
		}
	}
	if !corrected {
		return y
	}
	return l.node("Mul", []string{y, l.array("clipped", factors, 1, 1, len(rows), len(cols))})
}

// padded puts zeros before and behind the last axes of items with channels.
func (l *layer) padded(x string, before, behind []int) string {
	pads := slices.Concat([]int{0, 0}, before, []int{0, 0}, behind)
	return l.node("Pad", []string{x, l.ints("pads", pads...)})
}

// stochastic writes Caffe's form for inference: the sum of squares over the sum, 0 where the sum is not positive.
func (l *layer) stochastic(x string, attrs []attr) string {
	sum := l.node("AveragePool", []string{x}, attrs...)
	squares := l.node("AveragePool", []string{l.node("Mul", []string{x, x})}, attrs...)
	zero := l.scalar("zero", 0)
	positive := l.node("Greater", []string{sum, zero})
	divisor := l.node("Where", []string{positive, sum, l.scalar("one", 1)})
	return l.node("Where", []string{positive, l.node("Div", []string{squares, divisor}), zero})
}

// spp pools to 1, 2 x 2, 4 x 4, ... values and concatenates them.
func spp(l *layer) error {
	p := l.p.GetSppParam()
	height := int(p.GetPyramidHeight())
	var levels []string
	for level := range height {
		bins := 1 << level
		var w [2]poolWindow
		for i := range w {
			in := l.bottom[0].Dim(2 + i)
			k := (in + bins - 1) / bins
			pad := (k*bins - in + 1) / 2
			out := int(math.Ceil(float64(in+2*pad-k)/float64(k))) + 1
			if pad > 0 && (out-1)*k >= in+pad {
				out--
			}
			w[i] = poolWindow{in: in, out: out, kernel: k, stride: k, pad: pad}
		}
		var y string
		err := l.pool(caffepb.PoolingParameter_PoolMethod(p.GetPool()), w, func(_ int, v string) { y = v })
		if err != nil {
			return fmt.Errorf("level %d: %w", level, err)
		}
		if height > 1 {
			y = l.node("Flatten", []string{y}, attr{"axis", 1})
		}
		levels = append(levels, y)
	}
	if height == 1 {
		l.set(0, levels[0])
		return nil
	}
	l.set(0, l.node("Concat", levels, attr{"axis", 1}))
	return nil
}

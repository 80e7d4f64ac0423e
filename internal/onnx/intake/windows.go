package intake

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// pooled adds a Pooling layer. Where Caffe's padding or its two axes do not say the windows, the border becomes part of the input, the axes are
// taken one after the other, and a Scale layer corrects the divisors of an average.
func (n *node) pooled(v *value, method caffepb.PoolingParameter_PoolMethod) error {
	w, err := n.window(v, nil)
	if err != nil {
		return err
	}
	if slices.Max(w.dilation) > 1 {
		return fmt.Errorf("dilations %v; Caffe's Pooling has none", w.dilation)
	}
	if len(w.kernel) > 3 {
		return fmt.Errorf("kernel %v; pooling of at most three spatial axes is translated", w.kernel)
	}
	out, err := n.poolSize(&w, v.shape[2:])
	if err != nil {
		return err
	}
	whole := n.int("count_include_pad", 0) != 0 || v.pad != nil
	if mode, ok := caffeRounding(&w, v.shape[2:], out); ok {
		if err := n.one("Pooling", poolingParam(method, mode, w.kernel, w.stride, w.begin), []*value{{blob: v.blob, shape: v.shape}}); err != nil {
			return err
		}
		if method == caffepb.PoolingParameter_AVE {
			return n.correct(&w, v.shape[2:], out, whole, func(i, at int) int { return min(at+w.kernel[i], v.shape[2+i]+w.begin[i]) - at })
		}
		return nil
	}
	if err := composed(func(c chain) *value { return c.windows(&w, &value{blob: v.blob, shape: v.shape}, method, out) })(n); err != nil {
		return err
	}
	if method == caffepb.PoolingParameter_AVE {
		return n.correct(&w, v.shape[2:], out, whole, func(i, _ int) int { return w.kernel[i] })
	}
	return nil
}

// caffeRounding says whether Caffe's Pooling of two axes gives the output's size, and by which rounding.
func caffeRounding(w *window, in, out []int) (caffepb.PoolingParameter_RoundMode, bool) {
	if len(in) != 2 || w.begin[0] >= w.kernel[0] || w.begin[1] >= w.kernel[1] {
		return 0, false
	}
	for _, mode := range []caffepb.PoolingParameter_RoundMode{caffepb.PoolingParameter_CEIL, caffepb.PoolingParameter_FLOOR} {
		same := true
		for i := range in {
			same = same && caffeSize(w, i, in[i], mode == caffepb.PoolingParameter_CEIL) == out[i]
		}
		if same {
			return mode, true
		}
	}
	return 0, false
}

func poolingParam(method caffepb.PoolingParameter_PoolMethod, mode caffepb.PoolingParameter_RoundMode, kernel, stride, pad []int) *caffepb.LayerParameter {
	p := &caffepb.PoolingParameter{Pool: method.Enum()}
	square(kernel, &p.KernelSize, &p.KernelH, &p.KernelW, 0)
	square(stride, &p.Stride, &p.StrideH, &p.StrideW, 1)
	square(pad, &p.Pad, &p.PadH, &p.PadW, 0)
	if mode == caffepb.PoolingParameter_FLOOR {
		p.RoundMode = mode.Enum() // BVLC's name; it refuses ceil_mode: false, which OpenCV's reader of Caffe files has instead
	}
	return &caffepb.LayerParameter{PoolingParam: p}
}

// poolSize is ONNX's rule: the floor, or with ceil_mode the ceiling, without windows that begin behind the image.
func (n *node) poolSize(w *window, in []int) ([]int, error) {
	out := make([]int, len(in))
	for i := range out {
		room := in[i] + w.begin[i] + w.end[i] - w.kernel[i]
		if room < 0 {
			return nil, fmt.Errorf("kernel %v is larger than an input of %v with pads %v and %v", w.kernel, in, w.begin, w.end)
		}
		out[i] = room/w.stride[i] + 1
		if n.int("ceil_mode", 0) != 0 && room%w.stride[i] != 0 && out[i]*w.stride[i] < in[i]+w.begin[i] {
			out[i]++
		}
	}
	return out, nil
}

// windows pools an input that gets its border by Concat. One axis becomes the second of two; of three the last two are pooled first.
func (c chain) windows(w *window, v *value, method caffepb.PoolingParameter_PoolMethod, out []int) *value {
	axes := len(v.shape)
	pads := make([]int, 2*axes)
	fill := float32(0)
	if method == caffepb.PoolingParameter_MAX {
		fill = -math.MaxFloat32
	}
	for i := range out {
		pads[2+i] = w.begin[i]
		pads[axes+2+i] = max(0, (out[i]-1)*w.stride[i]+w.kernel[i]-v.shape[2+i]-w.begin[i])
	}
	v = must(c.bordered(&value{blob: v.blob, shape: v.shape, pad: pads, fill: fill}))
	pool := func(v *value, kernel, stride []int) *value {
		return c.layer("Pooling", poolingParam(method, caffepb.PoolingParameter_FLOOR, kernel, stride, []int{0, 0}), v)
	}
	n, channels, s := v.shape[0], v.shape[1], v.shape[2:]
	switch len(s) {
	case 1:
		return c.shaped(pool(c.shaped(v, n, channels, 1, s[0]), []int{1, w.kernel[0]}, []int{1, w.stride[0]}), n, channels, out[0])
	case 2:
		return pool(v, w.kernel, w.stride)
	}
	planes := pool(c.shaped(v, n, channels*s[0], s[1], s[2]), w.kernel[1:], w.stride[1:])
	planes = c.shaped(planes, n, channels, s[0], out[1]*out[2])
	return c.shaped(pool(planes, []int{w.kernel[0], 1}, []int{w.stride[0], 1}), n, channels, out[0], out[1], out[2])
}

// correct compares what ONNX divides each window's sum by with divisor, by axis and first place. Where they differ, a Scale layer corrects the
// average, unless a product with these constants follows, as package export writes it; the pooling takes that over.
func (n *node) correct(w *window, in, out []int, whole bool, divisor func(axis, at int) int) error {
	ratio, equal := make([][]float64, len(in)), true
	for i := range in {
		for o := range out[i] {
			at := o*w.stride[i] - w.begin[i]
			node := min(at+w.kernel[i], in[i]+w.end[i]) - at
			if !whole {
				node = min(at+w.kernel[i], in[i]) - max(at, 0)
			}
			if node < 1 {
				return fmt.Errorf("window %d of axis %d has no values to divide by", o, i)
			}
			ratio[i] = append(ratio[i], float64(divisor(i, at))/float64(node))
			equal = equal && divisor(i, at) == node
		}
	}
	if equal {
		return nil
	}
	t := floats(make([]float32, count(out)), out...)
	for k := range t.Floats {
		f, rest := 1.0, k
		for i := len(out) - 1; i >= 0; i-- {
			f *= ratio[i][rest%out[i]]
			rest /= out[i]
		}
		t.Floats[k] = float32(f)
	}
	if next := n.onlyReader(n.GetOutput()[0]); next != nil && next.GetOpType() == "Mul" && n.undoes(next, t) {
		n.absorbed[next.GetOutput()[0]] = true
		return nil
	}
	p := &caffepb.ScaleParameter{}
	setAxes(&p.Axis, &p.NumAxes, 2, len(out))
	tops, err := n.add("Scale", &caffepb.LayerParameter{ScaleParam: p}, []*value{n.values[n.GetOutput()[0]]}, []*onnx.Tensor{t}, n.GetOutput()[0]+"_counted")
	if err != nil {
		return err
	}
	n.set(0, tops[0])
	return nil
}

// undoes reports whether a node divides by what correct would multiply with.
func (n *node) undoes(next interface{ GetInput() []string }, t *onnx.Tensor) bool {
	for _, name := range next.GetInput() {
		v := n.values[name]
		if v == nil || v.constant == nil || len(v.constant.Floats) != len(t.Floats) {
			continue
		}
		for i, f := range v.constant.Floats {
			if math.Abs(float64(f)*float64(t.Floats[i])-1) > 1e-6 {
				return false
			}
		}
		return true
	}
	return false
}

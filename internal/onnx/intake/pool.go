package intake

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func globalPool(method caffepb.PoolingParameter_PoolMethod) rule {
	return func(n *node) error {
		v, err := n.plain(0)
		if err != nil {
			return err
		}
		return n.one("Pooling", &caffepb.LayerParameter{
			PoolingParam: &caffepb.PoolingParameter{Pool: method.Enum(), GlobalPooling: proto.Bool(true)},
		}, []*value{v})
	}
}

func maxPool(n *node) error {
	v, err := n.image(0)
	if err != nil {
		return err
	}
	if v.pad != nil && !(v.fill <= -math.MaxFloat32 || v.positive && v.fill == 0) {
		return fmt.Errorf("the padding before it is %g, and Caffe's maximum ignores padding", v.fill)
	}
	_, err = n.pool(v, caffepb.PoolingParameter_MAX)
	return err
}

func averagePool(n *node) error {
	v, err := n.image(0)
	if err != nil {
		return err
	}
	if v.pad != nil && v.fill != 0 {
		return fmt.Errorf("the padding before it is %g, Caffe pads with 0", v.fill)
	}
	own := n.int("count_include_pad", 0) != 0
	explicit := v.pad != nil
	w, err := n.pool(v, caffepb.PoolingParameter_AVE)
	if err != nil {
		return err
	}
	if explicit && !own && slices.ContainsFunc(n.ints("pads", nil), func(p int) bool { return p != 0 }) {
		return fmt.Errorf("the padding before it counts, and its own does not; Caffe counts both or none")
	}
	return n.checkDivisors(w, v, own || explicit)
}

// pool adds a Pooling layer with the output size of the node, by either of Caffe's roundings.
func (n *node) pool(v *value, method caffepb.PoolingParameter_PoolMethod) (w window, err error) {
	if w, err = n.window(v, nil); err != nil {
		return w, err
	}
	if len(w.kernel) != 2 || w.dilation[0]*w.dilation[1] != 1 {
		return w, fmt.Errorf("Caffe's Pooling has two spatial axes and no dilation; the node has kernel %v and dilations %v", w.kernel, w.dilation)
	}
	p := &caffepb.PoolingParameter{Pool: method.Enum()}
	square(w.kernel, &p.KernelSize, &p.KernelH, &p.KernelW, 0)
	square(w.stride, &p.Stride, &p.StrideH, &p.StrideW, 1)
	square(w.begin, &p.Pad, &p.PadH, &p.PadW, 0)
	var ceil, floor [2]int
	out := n.poolSize(&w, v.shape[2:])
	for i := range out {
		ceil[i], floor[i] = caffeSize(&w, i, v.shape[2+i], true), caffeSize(&w, i, v.shape[2+i], false)
	}
	switch out {
	case ceil:
	case floor:
		p.RoundMode = caffepb.PoolingParameter_FLOOR.Enum()
	default:
		return w, fmt.Errorf("pads %v and %v give %v outputs; Caffe's pooling with pad %v on both sides gives %v or %v", w.begin, w.end, out, w.begin, ceil, floor)
	}
	return w, n.one("Pooling", &caffepb.LayerParameter{PoolingParam: p}, []*value{{blob: v.blob, shape: v.shape}})
}

// square sets a field for both axes, or _h and _w if they differ.
func square(values []int, both, h, w **uint32, missing int) {
	switch {
	case values[0] != values[1]:
		*h, *w = proto.Uint32(uint32(values[0])), proto.Uint32(uint32(values[1]))
	case values[0] != missing:
		*both = proto.Uint32(uint32(values[0]))
	}
}

// poolSize is ONNX's rule: the floor, or with ceil_mode the ceiling, without windows that begin behind the image.
func (n *node) poolSize(w *window, in []int) (out [2]int) {
	for i := range out {
		room := in[i] + w.begin[i] + w.end[i] - w.kernel[i]
		if room < 0 {
			return out
		}
		out[i] = room/w.stride[i] + 1
		if n.int("ceil_mode", 0) != 0 && room%w.stride[i] != 0 && out[i]*w.stride[i] < in[i]+w.begin[i] {
			out[i]++
		}
	}
	return out
}

// caffeSize is Caffe's rule, with the padding of the beginning on both sides.
func caffeSize(w *window, i, in int, ceil bool) int {
	room := in + 2*w.begin[i] - w.kernel[i]
	if room < 0 {
		return 0
	}
	out := room/w.stride[i] + 1
	if ceil && room%w.stride[i] != 0 {
		out++
	}
	if w.begin[i] > 0 && (out-1)*w.stride[i] >= in+w.begin[i] {
		out--
	}
	return out
}

// checkDivisors compares what ONNX and Caffe divide each window's sum by. Where they differ, a product with constants must follow that corrects
// it, as package export writes it; the pooling takes it over.
func (n *node) checkDivisors(w window, v *value, whole bool) error {
	var ratio [2][]float64
	equal := true
	for i := range ratio {
		in := v.shape[2+i]
		for o := range n.values[n.GetOutput()[0]].shape[2+i] {
			at := o*w.stride[i] - w.begin[i]
			caffe := min(at+w.kernel[i], in+w.begin[i]) - at
			node := min(at+w.kernel[i], in+w.end[i]) - at
			if !whole {
				node = min(at+w.kernel[i], in) - max(at, 0)
			}
			ratio[i] = append(ratio[i], float64(node)/float64(caffe))
			equal = equal && node == caffe
		}
	}
	if equal {
		return nil
	}
	next := n.onlyReader(n.GetOutput()[0])
	if next != nil && next.GetOpType() == "Mul" && n.corrects(next, ratio) {
		n.absorbed[next.GetOutput()[0]] = true
		return nil
	}
	return fmt.Errorf("it divides windows at the border by other counts than Caffe (pads %v and %v, count_include_pad %v)", w.begin, w.end, whole)
}

// corrects reports whether a node multiplies each window with the ratio of divisors.
func (n *node) corrects(next *onnxpb.NodeProto, ratio [2][]float64) bool {
	for _, name := range next.GetInput() {
		v := n.values[name]
		if v == nil || v.constant == nil || len(v.constant.Floats) != len(ratio[0])*len(ratio[1]) {
			continue
		}
		for i, f := range v.constant.Floats {
			want := ratio[0][i/len(ratio[1])] * ratio[1][i%len(ratio[1])]
			if math.Abs(float64(f)-want) > 1e-6*want {
				return false
			}
		}
		return true
	}
	return false
}

// onlyReader returns the node that reads a value, nil if there are none or several readers.
func (t *translator) onlyReader(name string) *onnxpb.NodeProto {
	if t.readers[name] != 1 {
		return nil
	}
	for _, n := range t.model.GetGraph().GetNode() {
		if slices.Contains(n.GetInput(), name) {
			return n
		}
	}
	return nil
}

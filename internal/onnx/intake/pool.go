package intake

import (
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// globalPool takes all spatial axes, as one if they are not two.
func globalPool(method caffepb.PoolingParameter_PoolMethod) rule {
	p := &caffepb.PoolingParameter{Pool: method.Enum(), GlobalPooling: proto.Bool(true)}
	return func(n *node) error {
		v, err := n.plain(0)
		if err != nil {
			return err
		}
		if len(v.shape) == 4 {
			return n.one("Pooling", &caffepb.LayerParameter{PoolingParam: p}, []*value{v})
		}
		return composed(func(c chain) *value {
			if len(v.shape) < 3 {
				c.refuse("input 0 has shape %v, without spatial axes", v.shape)
			}
			plane := c.shaped(v, v.shape[0], v.shape[1], 1, count(v.shape[2:]))
			dims := append(slices.Clone(v.shape[:2]), slices.Repeat([]int{1}, len(v.shape)-2)...)
			return c.shaped(c.layer("Pooling", &caffepb.LayerParameter{PoolingParam: p}, plane), dims...)
		})(n)
	}
}

// maxPool takes over a padding whose values no maximum takes.
func maxPool(n *node) error {
	v, err := n.image(0)
	if err != nil {
		return err
	}
	if v.pad != nil && !(v.fill <= -math.MaxFloat32 || v.positive && v.fill == 0) {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	return n.pooled(v, caffepb.PoolingParameter_MAX)
}

// averagePool takes over a padding with zeros, which counts, unless the node has padding of its own that does not.
func averagePool(n *node) error {
	v, err := n.image(0)
	if err != nil {
		return err
	}
	own := n.int("count_include_pad", 0) == 0 && (slices.ContainsFunc(n.ints("pads", nil), func(p int) bool { return p != 0 }) || n.text("auto_pad", "NOTSET") != "NOTSET")
	if v.pad != nil && (v.fill != 0 || own || n.int("ceil_mode", 0) != 0) {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	return n.pooled(v, caffepb.PoolingParameter_AVE)
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

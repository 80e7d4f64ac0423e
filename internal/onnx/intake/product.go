package intake

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// gemm is an InnerProduct. A flattening before it becomes the layer's axis.
func gemm(n *node) error {
	n.attr("beta") // without C it has no effect
	if n.isComputed() {
		return computedGemm(n)
	}
	v, err := n.input(0)
	if err != nil {
		return err
	}
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	axis := 1
	if v.flat > 0 && v.perm == nil && v.pad == nil && v.flat-1 < len(v.shape) {
		axis, v = v.flat-1, &value{blob: v.blob, shape: v.shape}
	} else if v, err = n.settle(v); err != nil {
		return err
	}
	if n.int("transA", 0) != 0 || len(t.Dims) != 2 {
		return fmt.Errorf("transA %d and weights of shape %v; Caffe's InnerProduct takes rows and a matrix", n.int("transA", 0), t.Dims)
	}
	if axis != 1 && len(v.shape) != axis+1 && axis > 1 {
		if v, err = n.reshape(v, []int{count(v.shape[:axis]), count(v.shape[axis:])}); err != nil {
			return err
		}
		axis = 1
	}
	b, err := n.optional(2)
	if err != nil {
		return err
	}
	outputs := t.Dims[1]
	if n.int("transB", 0) != 0 {
		outputs = t.Dims[0]
	}
	if b != nil {
		if b, err = spread(times(b, n.float("beta", 1)), outputs); err != nil {
			return err
		}
	}
	if err := n.innerProduct(v, times(t, n.float("alpha", 1)), b, axis, n.int("transB", 0) == 0); err != nil {
		return err
	}
	if out := n.values[n.GetOutput()[0]]; len(out.shape) != 2 {
		if out, err = n.reshape(out, []int{count(out.shape) / outputs, outputs}); err != nil {
			return err
		}
		n.set(0, out)
	}
	return nil
}

func (n *node) innerProduct(v *value, w, b *onnx.Tensor, axis int, transpose bool) error {
	p := &caffepb.InnerProductParameter{NumOutput: proto.Uint32(uint32(w.Dims[0]))}
	if transpose {
		p.NumOutput, p.Transpose = proto.Uint32(uint32(w.Dims[1])), proto.Bool(true)
	}
	if axis != 1 {
		p.Axis = proto.Int32(int32(axis))
	}
	weights := []*onnx.Tensor{w}
	if b == nil {
		p.BiasTerm = proto.Bool(false)
	} else {
		weights = append(weights, b)
	}
	return n.one("InnerProduct", &caffepb.LayerParameter{InnerProductParam: p}, []*value{v}, weights...)
}

func times(t *onnx.Tensor, factor float32) *onnx.Tensor {
	if factor == 1 {
		return t
	}
	out := floats(make([]float32, len(t.Floats)), t.Dims...)
	for i, v := range t.Floats {
		out.Floats[i] = factor * v
	}
	return out
}

// spread gives a bias one value for each output.
func spread(b *onnx.Tensor, outputs int) (*onnx.Tensor, error) {
	switch len(b.Floats) {
	case outputs:
		return b, nil
	case 1:
		out := floats(make([]float32, outputs), outputs)
		for i := range out.Floats {
			out.Floats[i] = b.Floats[0]
		}
		return out, nil
	}
	return nil, fmt.Errorf("a bias of shape %v for %d outputs", b.Dims, outputs)
}

package intake

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// elementType is the type of a value's elements. A net of Caffe holds all as 32-bit floats, so that the types say which results would differ.
type elementType = onnxpb.TensorProto_DataType

const (
	float32s  = onnxpb.TensorProto_FLOAT
	float16s  = onnxpb.TensorProto_FLOAT16
	bfloat16s = onnxpb.TensorProto_BFLOAT16
	truths    = onnxpb.TensorProto_BOOL
	int64s    = onnxpb.TensorProto_INT64
	int8s     = onnxpb.TensorProto_INT8
	uint8s    = onnxpb.TensorProto_UINT8
)

func isInteger(t elementType) bool {
	switch t {
	case onnxpb.TensorProto_INT8, onnxpb.TensorProto_UINT8, onnxpb.TensorProto_INT16, onnxpb.TensorProto_UINT16, onnxpb.TensorProto_INT32,
		onnxpb.TensorProto_UINT32, int64s, onnxpb.TensorProto_UINT64:
		return true
	}
	return false
}

func isShort(t elementType) bool { return t == float16s || t == bfloat16s }

// isNumber reports whether a net of Caffe can hold a type's values.
func isNumber(t elementType) bool {
	return isInteger(t) || isShort(t) || t == truths || t == float32s || t == onnxpb.TensorProto_DOUBLE
}

// wraps reports whether results of small whole numbers easily leave a type's range, which ONNX computes modulo its size.
func wraps(t elementType) bool {
	return isInteger(t) && t != onnxpb.TensorProto_INT32 && t != int64s
}

// computeIntegers lists the operators that give other numbers for integers than for floats: those that drop fractions, and all whose results may
// leave the range of a small type.
var computeIntegers = struct{ dropping, wrapping []string }{
	[]string{"Div", "Mean", "ReduceMean", "Resize", "Upsample"},
	[]string{"Add", "Sub", "Mul", "Sum", "Neg", "Pow", "MatMul", "Gemm", "ReduceSum", "ReduceProd", "ReduceSumSquare", "ReduceL1", "Abs"},
}

// checkTypes refuses operators whose integers have other results than floats.
func (n *node) checkTypes() error {
	for k, in := range n.GetInput() {
		switch t := n.types[in]; {
		case in == "":
		case t != 0 && !isNumber(t):
			return fmt.Errorf("input %d (%q) has type %v, which no net of Caffe holds", k, in, t)
		case k > 0:
		case isInteger(t) && slices.Contains(computeIntegers.dropping, n.GetOpType()):
			return fmt.Errorf("input %d (%q) has type %v: the operator drops fractions of integers, which no layer of Caffe does", k, in, t)
		case wraps(t) && slices.Contains(computeIntegers.wrapping, n.GetOpType()):
			return fmt.Errorf("input %d (%q) has type %v: results beyond its range are taken modulo its size, which no layer of Caffe does", k, in, t)
		}
	}
	return nil
}

// resultType is the type of a node's first output.
func (n *node) resultType() elementType {
	first := func(k int) elementType {
		if k < len(n.GetInput()) {
			return n.types[n.GetInput()[k]]
		}
		return 0
	}
	switch n.GetOpType() {
	case "Cast":
		return elementType(n.int("to", 0))
	case "Shape", "Size", "ArgMax":
		return int64s
	case "QuantizeLinear":
		if len(n.GetInput()) > 2 && n.GetInput()[2] != "" {
			return n.types[n.GetInput()[2]]
		}
		return uint8s
	case "DequantizeLinear":
		return float32s
	case "Greater", "Equal":
		return truths
	case "Where":
		return first(1)
	case "Constant", "ConstantOfShape":
		for _, a := range n.GetAttribute() {
			switch a.GetName() {
			case "value":
				return elementType(a.GetT().GetDataType())
			case "value_int", "value_ints":
				return int64s
			}
		}
		return float32s
	}
	return first(0)
}

// setTypes notes the types of a node's outputs.
func (n *node) setTypes() {
	kind := n.resultType()
	for _, out := range n.GetOutput() {
		if v := n.values[out]; v != nil {
			n.types[out] = kind
		}
	}
	if v := n.values[n.GetOutput()[0]]; isShort(kind) && v != nil && v.constant == nil && n.GetOpType() != "Cast" {
		n.short = true
	}
}

// moving lists operators that only move elements.
var moving = []string{"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Transpose", "Dropout"}

// everyReader reports whether ok holds for all inputs of nodes that read a value, from a place in the graph on, also where moving operators are
// between. It does not hold for an output of the graph.
func (t *translator) everyReader(name string, from int, ok func(reader *onnxpb.NodeProto, input int) bool) bool {
	for _, out := range t.model.GetGraph().GetOutput() {
		if out.GetName() == name {
			return false
		}
	}
	nodes := t.model.GetGraph().GetNode()
	for i := from; i < len(nodes); i++ {
		for k, in := range nodes[i].GetInput() {
			if in != name {
				continue
			}
			if k == 0 && slices.Contains(moving, nodes[i].GetOpType()) {
				if !t.everyReader(nodes[i].GetOutput()[0], i+1, ok) {
					return false
				}
			} else if !ok(nodes[i], k) {
				return false
			}
		}
	}
	return true
}

// indexInputs has the inputs of operators that are indices. Layers drop their fractions as a cast does.
var indexInputs = map[string]int{"Gather": 1, "RoiAlign": 2}

// cast is nothing between types whose values floats hold, and to integers for whole numbers.
func cast(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	from, to := n.types[n.GetInput()[0]], elementType(n.int("to", 0))
	switch {
	case from == to || to == float32s || to == onnxpb.TensorProto_DOUBLE:
	case to == truths:
		n.hiding["Cast to truth values"] = true
		return composed(func(c chain) *value {
			out := c.threshold(c.layer("AbsVal", &caffepb.LayerParameter{}, must(c.settle(v))), 0)
			out.whole = true
			return out
		})(n)
	case isShort(to):
		computes := func(reader *onnxpb.NodeProto, _ int) bool { return reader.GetOpType() != "Cast" }
		if from != truths && !n.everyReader(n.GetOutput()[0], 0, computes) {
			return fmt.Errorf("a cast to %v rounds, which no layer of Caffe does", to)
		}
	case to == onnxpb.TensorProto_INT32 || to == int64s:
		index := func(reader *onnxpb.NodeProto, k int) bool {
			at, ok := indexInputs[reader.GetOpType()]
			return ok && at == k
		}
		if !v.whole && !isInteger(from) && from != truths && !n.everyReader(n.GetOutput()[0], 0, index) {
			return errors.New("a cast to integers drops the fractions of its input, which no layer of Caffe does; indices, truth values and signs need none")
		}
	default:
		return fmt.Errorf("a cast to %v", to)
	}
	n.set(0, v)
	return nil
}

// rounded is the nearest value of a type of 16 bits, the even one of two.
func rounded(v float32, to elementType) float32 {
	bits, least, most := 11, -14, 65504.0
	if to == bfloat16s {
		bits, least, most = 8, -126, float64(math.Float32frombits(0x7f7f0000))
	}
	x := float64(v)
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return v
	}
	_, exponent := math.Frexp(x)
	step := math.Ldexp(1, max(exponent, least+1)-bits)
	r := math.RoundToEven(x/step) * step
	if math.Abs(r) > most {
		return float32(math.Inf(int(math.Copysign(1, x))))
	}
	return float32(r)
}

// narrowed is what is left of an integer in a type.
func narrowed(v int64, to elementType) int64 {
	switch to {
	case onnxpb.TensorProto_INT8:
		return int64(int8(v))
	case onnxpb.TensorProto_UINT8:
		return int64(uint8(v))
	case onnxpb.TensorProto_INT16:
		return int64(int16(v))
	case onnxpb.TensorProto_UINT16:
		return int64(uint16(v))
	case onnxpb.TensorProto_INT32:
		return int64(int32(v))
	case onnxpb.TensorProto_UINT32:
		return int64(uint32(v))
	}
	return v
}

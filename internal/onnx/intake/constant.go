package intake

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// foldConstants computes nodes without layers: constants, shapes, and what exporters compute from them.
func (n *node) foldConstants() (bool, error) {
	if n.GetOpType() == "Constant" {
		return true, n.constant()
	}
	if n.GetOpType() == "Shape" {
		v, err := n.operand(0)
		if err != nil {
			return true, err
		}
		dims := v.dims()
		begin, end := n.int("start", 0), n.int("end", len(dims))
		if begin < 0 {
			begin += len(dims)
		}
		if end < 0 {
			end += len(dims)
		}
		begin, end = max(0, min(begin, len(dims))), max(0, min(end, len(dims)))
		dims = dims[begin:max(begin, end)]
		n.set(0, &value{constant: &onnx.Tensor{Dims: []int{len(dims)}, Ints: wide(dims)}})
		return true, nil
	}
	if n.GetOpType() == "Size" {
		return true, n.foldSize()
	}
	if v, err := n.operand(0); n.GetOpType() == "DequantizeLinear" && err == nil && v.constant != nil {
		made, err := n.dequantized()
		n.set(0, made)
		return true, err
	}
	in, ok := n.constants()
	if !ok {
		return false, nil
	}
	if n.GetOpType() == "Split" {
		return true, n.foldSplit(in[0])
	}
	fold, ok := folds[n.GetOpType()]
	if !ok {
		return false, nil
	}
	t, err := fold(n, in)
	if err != nil || t == nil {
		return err != nil, err
	}
	n.set(0, &value{constant: t})
	return true, nil
}

// constants returns the inputs of a node that has only constants. Of operators whose later inputs may be left out, those are nil.
func (n *node) constants() (in []*onnx.Tensor, ok bool) {
	for k, name := range n.GetInput() {
		v := n.values[name]
		switch {
		case name == "" && k > 0 && slices.Contains([]string{"Clip", "Gemm", "Pad"}, n.GetOpType()):
			in = append(in, nil)
		case name == "" || v == nil || v.constant == nil:
			return nil, false
		default:
			in = append(in, v.constant)
		}
	}
	return in, len(in) > 0
}

func wide(dims []int) []int64 {
	out := make([]int64, len(dims))
	for i, d := range dims {
		out[i] = int64(d)
	}
	return out
}

func (n *node) constant() error {
	for _, a := range n.GetAttribute() {
		n.read[a.GetName()] = true
		switch a.GetName() {
		case "value":
			t, err := onnx.Decode(a.GetT())
			n.set(0, &value{constant: t})
			return err
		case "value_float":
			n.set(0, &value{constant: floats([]float32{a.GetF()})})
			return nil
		case "value_floats":
			n.set(0, &value{constant: floats(a.GetFloats(), len(a.GetFloats()))})
			return nil
		case "value_int":
			n.set(0, &value{constant: &onnx.Tensor{Dims: []int{}, Ints: []int64{a.GetI()}}})
			return nil
		case "value_ints":
			n.set(0, &value{constant: &onnx.Tensor{Dims: []int{len(a.GetInts())}, Ints: a.GetInts()}})
			return nil
		}
	}
	return fmt.Errorf("it has no value that a net of Caffe uses")
}

// folds has the operators that are computed when all inputs are constant.
var folds = map[string]folding{
	"Identity": func(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) { return in[0], nil },
	"Cast":     castConstant, "Gather": gatherConstant, "Concat": concatConstant, "Unsqueeze": sameValues, "Squeeze": sameValues, "Reshape": reshapeConstant,
	"Transpose": transposeConstant, "Slice": sliceConstant, "ConstantOfShape": constantOfShape,
	"Mul":        binary(total(func(a, b int64) int64 { return a * b }), func(a, b float32) float32 { return a * b }),
	"Add":        binary(total(func(a, b int64) int64 { return a + b }), func(a, b float32) float32 { return a + b }),
	"Sub":        binary(total(func(a, b int64) int64 { return a - b }), func(a, b float32) float32 { return a - b }),
	"Div":        binary(quotient, func(a, b float32) float32 { return a / b }),
	"Max":        variadic(binary(total(func(a, b int64) int64 { return max(a, b) }), func(a, b float32) float32 { return max(a, b) })),
	"Min":        variadic(binary(total(func(a, b int64) int64 { return min(a, b) }), func(a, b float32) float32 { return min(a, b) })),
	"Sum":        variadic(binary(nil, func(a, b float32) float32 { return a + b })),
	"Mean":       meanConstant,
	"Pow":        binary(nil, func(a, b float32) float32 { return float32(math.Pow(float64(a), float64(b))) }),
	"Equal":      binary(total(equal), nil),
	"Neg":        unary(func(a int64) int64 { return -a }, func(a float64) float64 { return -a }),
	"Abs":        unary(func(a int64) int64 { return max(a, -a) }, math.Abs),
	"Sqrt":       unary(nil, math.Sqrt),
	"Exp":        unary(nil, math.Exp),
	"Log":        unary(nil, math.Log),
	"Floor":      unary(nil, math.Floor),
	"Ceil":       unary(nil, math.Ceil),
	"Reciprocal": unary(nil, func(a float64) float64 { return 1 / a }),
	"Relu":       unary(func(a int64) int64 { return max(a, 0) }, func(a float64) float64 { return max(a, 0) }),
	"Sigmoid":    unary(nil, func(a float64) float64 { return 1 / (1 + math.Exp(-a)) }),
	"Tanh":       unary(nil, math.Tanh),
	"Softplus":   unary(nil, softplus),
	"Sign":       unary(func(a int64) int64 { return max(-1, min(a, 1)) }, signum),
	"Expand":     expandConstant, "Tile": tileConstant, "Where": whereConstant, "Range": rangeConstant, "Clip": clipConstant, "MatMul": matMulConstant,
	"ReduceSum": reduceConstant, "ReduceMean": reduceConstant, "ReduceMax": reduceConstant, "ReduceMin": reduceConstant, "ReduceProd": reduceConstant,
	"ReduceL1": reduceConstant, "ReduceL2": reduceConstant, "ReduceSumSquare": reduceConstant, "ReduceLogSum": reduceConstant, "ReduceLogSumExp": reduceConstant,
	"Softmax": softmaxConstant, "LogSoftmax": softmaxConstant, "BatchNormalization": batchNormalizationConstant,
	"Flatten": flattenConstant, "Gemm": gemmConstant, "Pad": padConstant, "Erf": unary(nil, math.Erf),
	"Elu":       belowZero(1, func(v, alpha float64) float64 { return alpha * math.Expm1(v) }),
	"LeakyRelu": belowZero(0.01, func(v, alpha float64) float64 { return alpha * v }),
}

func castConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t, to := &onnx.Tensor{Dims: in[0].Dims}, elementType(n.int("to", 0))
	integers, size := in[0].Ints != nil, in[0].Count()
	switch {
	case isShort(to) || to == float32s || to == onnxpb.TensorProto_DOUBLE:
		t.Floats = make([]float32, size)
		for i := range t.Floats {
			if integers {
				t.Floats[i] = float32(in[0].Ints[i])
			} else {
				t.Floats[i] = in[0].Floats[i]
			}
			if isShort(to) {
				t.Floats[i] = rounded(t.Floats[i], to)
			}
		}
	case isInteger(to) || to == truths:
		t.Ints = make([]int64, size)
		for i := range t.Ints {
			switch {
			case to == truths && (integers && in[0].Ints[i] != 0 || !integers && in[0].Floats[i] != 0):
				t.Ints[i] = 1
			case to == truths:
			case integers:
				t.Ints[i] = narrowed(in[0].Ints[i], to)
			default:
				t.Ints[i] = narrowed(int64(in[0].Floats[i]), to)
			}
		}
	default:
		return nil, nil
	}
	return t, nil
}

// sameValues is Squeeze and Unsqueeze.
func sameValues(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	axes, err := n.list("axes", 1)
	if err != nil {
		return nil, err
	}
	dims, err := squeezed(in[0].Dims, axes, n.GetOpType() == "Unsqueeze")
	return &onnx.Tensor{Dims: dims, Floats: in[0].Floats, Ints: in[0].Ints}, err
}

func reshapeConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if len(in) < 2 || in[1].Ints == nil {
		return nil, nil
	}
	dims, err := target(in[0].Dims, whole(in[1].Ints), n.int("allowzero", 0) != 0)
	return &onnx.Tensor{Dims: dims, Floats: in[0].Floats, Ints: in[0].Ints}, err
}

func transposeConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	perm, err := n.perm(len(in[0].Dims))
	if err != nil {
		return nil, err
	}
	return transposed(in[0], perm), nil
}

// pick makes a constant of the values with the given places.
func pick(t *onnx.Tensor, dims, places []int) *onnx.Tensor {
	out := &onnx.Tensor{Dims: dims}
	if t.Ints != nil {
		out.Ints = make([]int64, len(places))
	} else {
		out.Floats = make([]float32, len(places))
	}
	for i, at := range places {
		if t.Ints != nil {
			out.Ints[i] = t.Ints[at]
		} else {
			out.Floats[i] = t.Floats[at]
		}
	}
	return out
}

// transposed permutes the axes of a constant.
func transposed(t *onnx.Tensor, perm []int) *onnx.Tensor {
	strides, stride := make([]int, len(t.Dims)), 1
	for i := len(t.Dims) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= t.Dims[i]
	}
	dims := make([]int, len(perm))
	for i, p := range perm {
		dims[i] = t.Dims[p]
	}
	places := make([]int, t.Count())
	for i := range places {
		rest := i
		for k := len(perm) - 1; k >= 0; k-- {
			places[i] += rest % dims[k] * strides[perm[k]]
			rest /= dims[k]
		}
	}
	return pick(t, dims, places)
}

package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
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
		n.set(0, &value{constant: &onnx.Tensor{Dims: []int{len(dims)}, Ints: wide(dims)}})
		return true, nil
	}
	var in []*onnx.Tensor
	for k := range n.GetInput() {
		t, err := n.optional(k)
		if err != nil || t == nil {
			return false, nil
		}
		in = append(in, t)
	}
	fold, ok := folds[n.GetOpType()]
	if !ok || len(in) == 0 {
		return false, nil
	}
	t, err := fold(n, in)
	if err != nil || t == nil {
		return err != nil, err
	}
	n.set(0, &value{constant: t})
	return true, nil
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

// folds has the operators that are computed when all inputs are constant. nil means that a case is not folded.
var folds = map[string]func(n *node, in []*onnx.Tensor) (*onnx.Tensor, error){
	"Identity": func(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) { return in[0], nil },
	"Cast":     castConstant, "Gather": gatherConstant, "Concat": concatConstant, "Unsqueeze": sameValues, "Squeeze": sameValues, "Reshape": reshapeConstant,
	"Transpose": transposeConstant, "Slice": sliceConstant, "ConstantOfShape": constantOfShape,
	"Mul": arithmetic(func(a, b int64) int64 { return a * b }), "Add": arithmetic(func(a, b int64) int64 { return a + b }),
	"Sub": arithmetic(func(a, b int64) int64 { return a - b }),
	"Div": arithmetic(func(a, b int64) int64 { return a / max(b, 1) }),
}

func castConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t := &onnx.Tensor{Dims: in[0].Dims}
	switch n.int("to", 0) {
	case 1, 10, 11:
		if in[0].Ints == nil {
			return in[0], nil
		}
		t.Floats = make([]float32, len(in[0].Ints))
		for i, v := range in[0].Ints {
			t.Floats[i] = float32(v)
		}
	case 6, 7:
		if in[0].Ints != nil {
			return in[0], nil
		}
		t.Ints = make([]int64, len(in[0].Floats))
		for i, v := range in[0].Floats {
			t.Ints[i] = int64(v)
		}
	default:
		return nil, nil
	}
	return t, nil
}

// gatherConstant picks elements of a list of integers.
func gatherConstant(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if in[0].Ints == nil || len(in[0].Dims) != 1 || in[1].Ints == nil {
		return nil, nil
	}
	t := &onnx.Tensor{Dims: in[1].Dims, Ints: []int64{}}
	for _, i := range in[1].Ints {
		if i < 0 {
			i += int64(len(in[0].Ints))
		}
		if i < 0 || i >= int64(len(in[0].Ints)) {
			return nil, fmt.Errorf("index %d of %d values", i, len(in[0].Ints))
		}
		t.Ints = append(t.Ints, in[0].Ints[i])
	}
	return t, nil
}

func concatConstant(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t := &onnx.Tensor{Ints: []int64{}}
	for _, c := range in {
		if c.Ints == nil || len(c.Dims) > 1 {
			return nil, nil
		}
		t.Ints = append(t.Ints, c.Ints...)
	}
	t.Dims = []int{len(t.Ints)}
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

// constantOfShape is folded for lists, which exporters fill paddings with.
func constantOfShape(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	if len(in[0].Ints) != 1 || in[0].Ints[0] < 0 || in[0].Ints[0] > maxAxes*maxAxes {
		return nil, nil
	}
	fill := &onnx.Tensor{Floats: []float32{0}}
	if a := n.attr("value"); a != nil {
		var err error
		if fill, err = onnx.Decode(a.GetT()); err != nil || fill.Count() != 1 {
			return nil, err
		}
	}
	return pick(fill, whole(in[0].Ints), make([]int, in[0].Ints[0])), nil
}

// maxAxes bounds the lists that are computed.
const maxAxes = 32

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

// sliceConstant cuts one axis of integers, forwards or backwards.
func sliceConstant(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	t := in[0]
	if t.Ints == nil || len(in) < 3 || len(in[1].Ints) != 1 || len(in[2].Ints) != 1 {
		return nil, nil
	}
	axis, step := 0, 1
	if len(in) > 3 && len(in[3].Ints) == 1 {
		axis = int(in[3].Ints[0])
	}
	if len(in) > 4 && len(in[4].Ints) == 1 {
		step = int(in[4].Ints[0])
	}
	axis, err := axisOf(axis, len(t.Dims))
	if err != nil || step != 1 && step != -1 {
		return nil, err
	}
	size, inner := t.Dims[axis], count(t.Dims[axis+1:])
	bound := func(v int64) int {
		if v < 0 {
			v += int64(size)
		}
		if step < 0 {
			return int(max(-1, min(v, int64(size-1))))
		}
		return int(max(0, min(v, int64(size))))
	}
	from, to := bound(in[1].Ints[0]), bound(in[2].Ints[0])
	dims := slices.Clone(t.Dims)
	dims[axis] = max(0, (to-from)*step)
	var places []int
	for o := range count(t.Dims[:axis]) {
		for k := range dims[axis] {
			for i := range inner {
				places = append(places, (o*size+from+k*step)*inner+i)
			}
		}
	}
	return pick(t, dims, places), nil
}

// arithmetic computes with integers of equal count, or of which one is single.
func arithmetic(f func(a, b int64) int64) func(n *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
	return func(_ *node, in []*onnx.Tensor) (*onnx.Tensor, error) {
		if len(in) != 2 || in[0].Ints == nil || in[1].Ints == nil {
			return nil, nil
		}
		a, b := in[0], in[1]
		long := a
		if len(b.Ints) > len(a.Ints) {
			long = b
		}
		if len(a.Ints) == 0 || len(b.Ints) == 0 || len(a.Ints) != len(long.Ints) && len(a.Ints) > 1 || len(b.Ints) != len(long.Ints) && len(b.Ints) > 1 {
			return nil, nil
		}
		out := &onnx.Tensor{Dims: long.Dims, Ints: make([]int64, len(long.Ints))}
		for i := range out.Ints {
			out.Ints[i] = f(a.Ints[i%len(a.Ints)], b.Ints[i%len(b.Ints)])
		}
		return out, nil
	}
}

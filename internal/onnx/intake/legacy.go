package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"google.golang.org/protobuf/proto"
)

// aligned lists the operators whose second operand had attributes broadcast and axis before opset 7. A slope of PRelu had none: one with an
// axis is of the channels.
var aligned = []string{"Add", "Sub", "Mul", "Div", "Pow", "PRelu"}

// modern brings a node of the opsets 1 to 6 into the form of opset 7.
func (n *node) modern() error {
	if n.opset >= 7 {
		return nil
	}
	n.attr("output_sequence") // of recurrent operators: the outputs that are read say it
	n.attr("consumed_inputs") // of opset 1: which memory may be overwritten
	switch op := n.GetOpType(); {
	case slices.Contains(aligned, op):
		return n.align()
	case op == "Gemm":
		n.attr("broadcast") // inputs that need it have shapes that say so
	case op == "Dropout" || op == "BatchNormalization":
		if n.int("is_test", 0) == 0 {
			return fmt.Errorf("without is_test: 1 it is the form for training, whose outputs depend on chance or on the batch")
		}
	case op == "Cast":
		return n.namedType()
	case op == "Pad" && n.attr("paddings") != nil:
		n.replace(&onnxpb.AttributeProto{Name: proto.String("pads"), Ints: n.attr("paddings").GetInts()})
	case op == "Upsample" && n.opset < 7 && n.attr("width_scale") != nil:
		n.replace(&onnxpb.AttributeProto{Name: proto.String("scales"), Floats: []float32{1, 1, n.float("height_scale", 0), n.float("width_scale", 0)}})
	case op == "Tile" && len(n.GetInput()) == 3:
		return n.oldTile()
	}
	return nil
}

// replace adds an attribute to a copy of the node.
func (n *node) replace(a *onnxpb.AttributeProto) {
	n.NodeProto = proto.CloneOf(n.NodeProto)
	n.Attribute = append(n.Attribute, a)
}

// align gives the second operand the first one's axes: its own ones begin at axis, or end with the first one's.
func (n *node) align() error {
	a, err := n.operand(0)
	if err != nil {
		return err
	}
	b, err := n.operand(1)
	if err != nil {
		return err
	}
	shape, dims := a.dims(), b.dims()
	axis := len(shape) - len(dims)
	if n.GetOpType() == "PRelu" && len(dims) == 1 && len(shape) > 1 && dims[0] > 1 {
		axis = 1
	}
	n.attr("axis")
	if n.int("broadcast", 0) == 0 && n.GetOpType() != "PRelu" {
		if !slices.Equal(shape, dims) {
			return fmt.Errorf("operands of shapes %v and %v without broadcast: 1", shape, dims)
		}
		return nil
	}
	if count(dims) == 1 {
		dims, axis = nil, len(shape)
	} else if n.attr("axis") != nil {
		if axis, err = axisOf(n.int("axis", 0), len(shape)); err != nil {
			return err
		}
	}
	if axis < 0 || axis+len(dims) > len(shape) || !fits(dims, shape[axis:]) {
		return fmt.Errorf("operands of shapes %v and %v, the second from axis %d on", shape, b.dims(), axis)
	}
	return n.second(b, append(slices.Clone(dims), slices.Repeat([]int{1}, len(shape)-axis-len(dims))...))
}

func fits(dims, shape []int) bool {
	for i, d := range dims {
		if d != 1 && d != shape[i] {
			return false
		}
	}
	return true
}

// second gives operand 1 a shape, under a name of its own.
func (n *node) second(b *value, dims []int) (err error) {
	if b.constant != nil {
		b = &value{constant: &onnx.Tensor{Dims: dims, Floats: b.constant.Floats, Ints: b.constant.Ints}}
	} else if b, err = n.settle(b); err != nil {
		return err
	} else if b, err = n.reshape(b, dims); err != nil {
		return err
	}
	n.NodeProto = proto.CloneOf(n.NodeProto)
	name := n.Input[1] + " of " + n.GetOutput()[0]
	n.Input[1], n.values[name] = name, b
	return nil
}

// namedType turns a type's name into its number.
func (n *node) namedType() error {
	a := n.attr("to")
	if a == nil || len(a.GetS()) == 0 {
		return nil
	}
	kind, ok := onnxpb.TensorProto_DataType_value[string(a.GetS())]
	if !ok {
		return fmt.Errorf("type %q is unknown", a.GetS())
	}
	n.NodeProto = proto.CloneOf(n.NodeProto)
	for k, a := range n.Attribute {
		if a.GetName() == "to" {
			n.Attribute[k] = &onnxpb.AttributeProto{Name: a.Name, I: proto.Int64(int64(kind))}
		}
	}
	return nil
}

// oldTile turns a number of tiles and an axis into repeats.
func (n *node) oldTile() error {
	v, err := n.operand(0)
	if err != nil {
		return err
	}
	repeats := slices.Repeat([]int64{1}, len(v.dims()))
	var numbers [2]int
	for k := range numbers {
		t, err := n.weight(1 + k)
		if err != nil {
			return err
		}
		switch {
		case len(t.Ints) == 1:
			numbers[k] = int(t.Ints[0])
		case len(t.Floats) == 1:
			numbers[k] = int(t.Floats[0])
		default:
			return fmt.Errorf("input %d has shape %v; it must be one number", 1+k, t.Dims)
		}
	}
	axis, err := axisOf(numbers[1], len(repeats))
	if err != nil {
		return err
	}
	repeats[axis] = int64(numbers[0])
	name := "repeats of " + n.GetOutput()[0]
	n.values[name] = &value{constant: &onnx.Tensor{Dims: []int{len(repeats)}, Ints: repeats}}
	n.NodeProto = proto.CloneOf(n.NodeProto)
	n.Input = []string{n.Input[0], name}
	return nil
}

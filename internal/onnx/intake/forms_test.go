package intake

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"google.golang.org/protobuf/proto"
)

// maker builds models by hand. Node k makes value "vK"; the last one is the output.
type maker struct {
	m *onnxpb.ModelProto
	r *rand.Rand
}

func newModel(opset int64, input ...int64) *maker {
	b := &maker{&onnxpb.ModelProto{
		IrVersion: proto.Int64(7), OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: proto.Int64(opset)}}, Graph: &onnxpb.GraphProto{Name: proto.String("g")},
	}, rand.New(rand.NewPCG(1, 2))}
	b.m.Graph.Input = []*onnxpb.ValueInfoProto{valueInfo("x", input)}
	return b
}

func valueInfo(name string, dims []int64) *onnxpb.ValueInfoProto {
	shape := &onnxpb.TensorShapeProto{}
	for _, d := range dims {
		shape.Dim = append(shape.Dim, &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: d}})
	}
	return &onnxpb.ValueInfoProto{Name: proto.String(name), Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
		TensorType: &onnxpb.TypeProto_Tensor{ElemType: proto.Int32(1), Shape: shape},
	}}}
}

// floats adds a constant with random values.
func (b *maker) floats(name string, dims ...int64) *maker {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	t := &onnxpb.TensorProto{Name: proto.String(name), DataType: proto.Int32(1), Dims: dims}
	for range n {
		t.FloatData = append(t.FloatData, 0.5+b.r.Float32())
	}
	b.m.Graph.Initializer = append(b.m.Graph.Initializer, t)
	return b
}

func (b *maker) ints(name string, values ...int64) *maker {
	b.m.Graph.Initializer = append(b.m.Graph.Initializer, &onnxpb.TensorProto{
		Name: proto.String(name), DataType: proto.Int32(7), Dims: []int64{int64(len(values))}, Int64Data: values,
	})
	return b
}

func list(name string, values ...int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_INTS.Enum(), Ints: values}
}

func number(name string, value int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_INT.Enum(), I: proto.Int64(value)}
}

func text(name, value string) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_STRING.Enum(), S: []byte(value)}
}

// node adds a node that reads the given values, - for one left out; its output is called name.
func (b *maker) node(name, op, inputs string, attrs ...*onnxpb.AttributeProto) *maker {
	b.m.Graph.Node = append(b.m.Graph.Node, &onnxpb.NodeProto{
		Name: proto.String("n_" + name), OpType: proto.String(op), Input: strings.Split(strings.ReplaceAll(inputs, "-", ""), " "), Output: []string{name}, Attribute: attrs,
	})
	b.m.Graph.Output = []*onnxpb.ValueInfoProto{valueInfo(name, nil)}
	return b
}

// TestForms imports forms that exporters of other frameworks write, and compares with the evaluator.
func TestForms(t *testing.T) {
	toFirst, toLast := list("perm", 0, 3, 1, 2), list("perm", 0, 2, 3, 1)
	for _, c := range []struct {
		name string
		b    *maker
		// transposed: the net's input has channels first, the model's last
		transposed bool
	}{
		{"asymmetric convolution", newModel(13, 2, 2, 7, 6).floats("w", 3, 2, 3, 2).node("y", "Conv", "x w", list("pads", 0, 1, 2, 0), list("strides", 2, 1)), false},
		{"asymmetric and dilated", newModel(13, 2, 2, 7, 6).floats("w", 3, 2, 2, 2).node("y", "Conv", "x w", list("pads", 2, 0, 0, 2), list("dilations", 2, 2)), false},
		{"Pad before a convolution", newModel(13, 2, 2, 7, 6).floats("w", 3, 2, 3, 3).ints("p", 0, 0, 1, 1, 0, 0, 2, 0).node("v", "Pad", "x p").node("y", "Conv", "v w"), false},
		{"Pad before an average", newModel(13, 2, 2, 7, 7).ints("p", 0, 0, 1, 1, 0, 0, 1, 1).node("v", "Pad", "x p").
			node("y", "AveragePool", "v", list("kernel_shape", 3, 3), list("strides", 2, 2)), false},
		{"Pad after a ReLU before a maximum", newModel(13, 2, 2, 7, 7).ints("p", 0, 0, 1, 1, 0, 0, 1, 1).node("u", "Relu", "x").node("v", "Pad", "u p").
			node("y", "MaxPool", "v", list("kernel_shape", 3, 3), list("strides", 2, 2)), false},
		{"maximum padded at the end", newModel(13, 2, 2, 8, 8).node("y", "MaxPool", "x", list("kernel_shape", 3, 3), list("strides", 2, 2), list("pads", 0, 0, 1, 1)), false},
		{"Gemm of all forms", newModel(13, 2, 3).floats("w", 3, 4).floats("c", 1, 4).node("y", "Gemm", "x w c",
			&onnxpb.AttributeProto{Name: proto.String("alpha"), Type: onnxpb.AttributeProto_FLOAT.Enum(), F: proto.Float32(0.5)},
			&onnxpb.AttributeProto{Name: proto.String("beta"), Type: onnxpb.AttributeProto_FLOAT.Enum(), F: proto.Float32(2)}), false},
		{"MatMul and Add", newModel(13, 2, 3, 4).floats("w", 4, 5).floats("c", 5).node("v", "MatMul", "x w").node("y", "Add", "c v"), false},
		{"channels last", newModel(13, 2, 6, 5, 3).floats("w", 4, 3, 3, 3).floats("c", 4).node("a", "Transpose", "x", toFirst).node("b", "Conv", "a w").
			node("d", "Transpose", "b", toLast).node("e", "Add", "d c").node("f", "Relu", "e").node("g", "Transpose", "f", toFirst).
			node("h", "MaxPool", "g", list("kernel_shape", 2, 2)).node("i", "GlobalAveragePool", "h").node("j", "Transpose", "i", toLast).
			ints("s", 0, -1).node("y", "Reshape", "j s"), true},
		{"channels last, concatenated", newModel(13, 2, 4, 5, 3).node("a", "Transpose", "x", toFirst).node("b", "Sigmoid", "a").node("c", "Tanh", "a").
			node("d", "Transpose", "b", toLast).node("e", "Transpose", "c", toLast).node("f", "Concat", "d e", number("axis", 3)).
			node("g", "Softmax", "f", number("axis", -1)).node("h", "Transpose", "g", toFirst).node("y", "Abs", "h"), true},
		{"mean of a picture", newModel(11, 2, 3, 4, 5).node("v", "ReduceMean", "x", list("axes", -1, -2)).node("y", "Relu", "v"), false},
		{"reduced rows, channels last", newModel(13, 2, 3, 4, 5).node("a", "Relu", "x").node("t", "Transpose", "a", toLast).
			node("v", "ReduceMean", "t", list("axes", 2), number("keepdims", 0)).node("y", "Sigmoid", "v"), false},
		{"reduced channels", newModel(13, 2, 3, 4, 5).ints("a", 1).node("y", "ReduceSum", "x a", number("keepdims", 0)), false},
		{"mean and deviation of channels", newModel(13, 2, 3, 4, 5).node("m", "ReduceMean", "x", list("axes", 0, 2, 3)).node("c", "Sub", "x m").node("y", "Tanh", "c"), false},
		{"nearest of half pixels", newModel(13, 2, 3, 4, 5).floats("e", 0).ints("s", 2, 3, 8, 10).node("y", "Resize", "x e e s", text("mode", "nearest")), false},
		{"linear, corners on corners", newModel(13, 2, 3, 4, 5).floats("e", 0).ints("s", 2, 3, 7, 3).
			node("y", "Resize", "x e e s", text("mode", "linear"), text("coordinate_transformation_mode", "align_corners")), false},
		{"transposed convolution with output_padding", newModel(13, 2, 2, 4, 5).floats("w", 2, 3, 3, 2).
			node("y", "ConvTranspose", "x w", list("strides", 2, 3), list("pads", 1, 0, 1, 0), list("output_padding", 1, 2)), false},
		{"transposed convolution, padded at one side", newModel(13, 2, 2, 4, 5).floats("w", 2, 3, 3, 3).
			node("y", "ConvTranspose", "x w", list("strides", 2, 2), list("pads", 0, 1, 2, 0)), false},
		{"Gemm with beta and no C", newModel(13, 2, 3).floats("w", 3, 4).node("y", "Gemm", "x w",
			&onnxpb.AttributeProto{Name: proto.String("beta"), Type: onnxpb.AttributeProto_FLOAT.Enum(), F: proto.Float32(1)}), false},
		{"axes and noop_with_empty_axes", newModel(13, 2, 3, 4).ints("a", 1).node("y", "ReduceSum", "x a", number("keepdims", 0), number("noop_with_empty_axes", 0)), false},
		{"HardSwish", newModel(14, 2, 3, 4).node("y", "HardSwish", "x"), false},
		{"HardSigmoid and product", newModel(13, 2, 3, 4, 5).node("v", "HardSigmoid", "x").node("y", "Mul", "x v"), false},
		{"quotients", newModel(13, 2, 3).floats("c", 1).node("u", "Exp", "x").node("v", "Div", "c u").node("w", "Sub", "c v").node("y", "Div", "w u"), false},
		{"old BatchNormalization", newModel(9, 2, 3, 4).floats("s", 3).floats("b", 3).floats("m", 3).floats("v", 3).node("y", "BatchNormalization", "x s b m v"), false},
		{"Transpose that stays", newModel(13, 2, 3, 4).floats("w", 3, 2).node("v", "Transpose", "x", list("perm", 0, 2, 1)).node("y", "MatMul", "v w"), false},
		{"slices", newModel(13, 2, 3, 6, 7).ints("s", 1, -5).ints("e", 2, 1000).ints("a", 1, 3).node("y", "Slice", "x s e a"), false},
		{"same sizes", newModel(13, 2, 2, 7, 7).floats("w", 3, 2, 3, 3).node("y", "Conv", "x w", text("auto_pad", "SAME_UPPER"), list("strides", 2, 2)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.transposed || c.name == "same sizes" {
				checkTransposed(t, c.b.m, c.transposed)
				return
			}
			checkTranslation(t, &onnxtest.Case{}, &onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}, "")
		})
	}
}

// checkTransposed feeds the model's input with channels last where the net takes them first. The evaluator gets SAME_UPPER as the padding that
// it stands for: 1 on each side of 7 for a kernel of 3 and a stride of 2.
func checkTransposed(t *testing.T, m *onnxpb.ModelProto, transposed bool) {
	r, err := Net(&onnx.Model{ModelProto: m, Path: "test.onnx"}, 2, onnxtest.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	n := build(t, r)
	x := onnxtest.FillInputs(n, &onnxtest.Case{}, 1)["x"]
	for _, node := range m.Graph.Node {
		if !transposed {
			node.Attribute[0] = list("pads", 1, 1, 1, 1)
		}
	}
	if transposed {
		x = channelsLast(x)
	}
	forward(t, n)
	values, err := onnxtest.Run(m, map[string]*onnxtest.Tensor{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "y", n.Blob("y").Data(), values["y"].Data, 1e-5)
	for _, l := range r.Net.GetLayer() {
		if l.GetType() == "Permute" {
			t.Error("a transpose is left")
		}
	}
}

// channelsLast transposes a value of channels first.
func channelsLast(x *onnxtest.Tensor) *onnxtest.Tensor {
	last := onnxtest.New(x.Dims[0], x.Dims[2], x.Dims[3], x.Dims[1])
	plane := x.Dims[2] * x.Dims[3]
	for i := range last.Data {
		c, p, item := i%x.Dims[1], i/x.Dims[1]%plane, i/x.Dims[1]/plane
		last.Data[i] = x.Data[(item*x.Dims[1]+c)*plane+p]
	}
	return last
}

// TestRefuses names file, node and reason.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		want string
		b    *maker
	}{
		{`test.onnx: node 0, "n_y" (NonZero): no layer of Caffe`, newModel(13, 2, 3).node("y", "NonZero", "x")},
		{`node 0, "n_y" (Conv): weights of shape [3 2 3]`, newModel(13, 2, 2, 7, 6).floats("w", 3, 2, 3).node("y", "Conv", "x w")},
		{`(Conv): input 1 is missing`, newModel(13, 2, 2, 7, 6).node("y", "Conv", "x")},
		{`(Conv): input 1 ("v") is computed; Caffe needs a constant`, newModel(13, 2, 2, 7, 6).node("v", "Relu", "x").node("y", "Conv", "x v")},
		{"as layer", newModel(13, 2, 3, 7, 6).floats("w", 3, 2, 3, 3).node("y", "Conv", "x w")},
		{"auto_pad \"SOME\" is unknown", newModel(13, 2, 2, 7, 6).floats("w", 3, 2, 3, 3).node("y", "Conv", "x w", text("auto_pad", "SOME"))},
		{"differ by no multiple of the dilation", newModel(13, 2, 2, 7, 6).floats("w", 3, 2, 2, 2).node("y", "Conv", "x w", list("pads", 1, 0, 0, 0), list("dilations", 2, 2))},
		{"the base has shape [3]", newModel(13, 2, 3).floats("b", 3).node("y", "Pow", "b x")},
		{"the exponent has shape [1 1 1]", newModel(13, 2, 3).floats("e", 1, 1, 1).node("y", "Pow", "x e")},
		{"[2] for the axes [2 3]", newModel(18, 2, 3, 4, 5).floats("e", 0).ints("s", 2).node("y", "Resize", "x e e s", list("axes", 2, 3))},
		{"shape [5 -1] for a value of shape [2 3]", newModel(13, 2, 3).ints("s", 5, -1).node("y", "Reshape", "x s")},
		{"operands of shapes [[2 3] [2]]: extents 3 and 2 of axis 1", newModel(13, 2, 3).node("v", "ReduceMean", "x", list("axes", 1), number("keepdims", 0)).node("y", "Add", "x v")},
		{`node 0, "n_y" (Relu): attribute "alpha" is not translated`, newModel(13, 2, 3).node("y", "Relu", "x", number("alpha", 1))},
		{`mode "cubic" has no form`, newModel(13, 2, 3, 4, 5).floats("e", 0).ints("s", 2, 3, 8, 10).node("y", "Resize", "x e e s", text("mode", "cubic"))},
		{"sizes [2 3 -1 10]", newModel(13, 2, 3, 4, 5).floats("e", 0).ints("s", 2, 3, -1, 10).node("y", "Resize", "x e e s")},
		{"it makes shape [2 6 4 5] of [2 3 4 5]", newModel(13, 2, 3, 4, 5).floats("e", 0).ints("s", 2, 6, 4, 5).node("y", "Resize", "x e e s")},
		{"output_padding [2 0] for strides [2 2]", newModel(13, 2, 2, 4, 5).floats("w", 2, 3, 3, 3).
			node("y", "ConvTranspose", "x w", list("strides", 2, 2), list("output_padding", 2, 0))},
		{"axis 4 of a value with 3 axes", newModel(13, 2, 3, 4).node("y", "ReduceMean", "x", list("axes", 4))},
		{"pooled_shape [2]", newModel(13, 2, 3, 4, 5).node("r", "Flatten", "x").node("y", "MaxRoiPool", "x r", list("pooled_shape", 2))},
		{`the graph "g" has no inputs`, &maker{m: &onnxpb.ModelProto{OpsetImport: newModel(13).m.OpsetImport, Graph: &onnxpb.GraphProto{Name: proto.String("g")}}}},
		{`input "x": extent 1 is -3`, newModel(13, 2, -3).node("y", "Relu", "x")},
	} {
		_, err := Net(&onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		wantError(t, err, c.want)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

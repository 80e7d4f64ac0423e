package intake

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"google.golang.org/protobuf/proto"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/operators.json anew with ONNX Runtime's outputs; read the diff before you commit it")

func real(name string, value float32) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_FLOAT.Enum(), F: proto.Float32(value)}
}

// input adds another input.
func (b *maker) input(name string, dims ...int64) *maker {
	b.m.Graph.Input = append(b.m.Graph.Input, valueInfo(name, dims))
	return b
}

// outputs gives the last node further outputs.
func (b *maker) outputs(names ...string) *maker {
	last := b.m.Graph.Node[len(b.m.Graph.Node)-1]
	last.Output = append(last.Output, names...)
	for _, name := range names {
		b.m.Graph.Output = append(b.m.Graph.Output, valueInfo(name, nil))
	}
	return b
}

// constant adds integers of any shape.
func (b *maker) constant(name string, dims []int64, values ...int64) *maker {
	b.ints(name, values...)
	b.m.Graph.Initializer[len(b.m.Graph.Initializer)-1].Dims = dims
	return b
}

type operatorCase struct {
	name string
	b    *maker
}

// operatorCases are operators that become several layers.
func operatorCases() (cases []operatorCase) {
	add := func(name string, b *maker) { cases = append(cases, operatorCase{name, b}) }
	for _, op := range []string{"Softsign", "Selu", "Celu", "ThresholdedRelu", "Shrink", "Sign", "Cosh", "Sinh"} {
		add(op, newModel(13, 2, 3, 4).node("y", op, "x"))
	}
	add("Shrink/bias", newModel(13, 2, 3, 4).node("y", "Shrink", "x", real("lambd", 0.3), real("bias", 0.7)))
	add("ThresholdedRelu/negative", newModel(13, 2, 3, 4).node("y", "ThresholdedRelu", "x", real("alpha", -0.5)))
	add("Celu/alpha", newModel(13, 2, 3, 4).node("y", "Celu", "x", real("alpha", 2.5)))
	add("Selu/alpha", newModel(13, 2, 3, 4).node("y", "Selu", "x", real("alpha", 2), real("gamma", 3)))
	for _, op := range []string{"Max", "Min", "Sum", "Mean"} {
		add(op+"/three", newModel(13, 2, 3, 4).input("z", 4).floats("c", 3, 1).node("y", op, "x z c"))
		add(op+"/number", newModel(13, 2, 3, 4).floats("c", 1).node("y", op, "c x"))
		add(op+"/longer number", newModel(13, 3).floats("c", 1, 1).node("y", op, "c x"))
	}
	for _, op := range []string{"Add", "Sub", "Mul", "Div"} {
		add(op+"/batch of 1", newModel(13, 1, 3, 4, 5).input("z", 1, 1, 4, 5).node("y", op, "x z"))
		add(op+"/gaps", newModel(13, 2, 3, 4, 5).input("z", 2, 1, 4, 1).node("y", op, "x z"))
		add(op+"/both", newModel(13, 2, 1, 4).input("z", 3, 1).node("y", op, "x z"))
		add(op+"/shorter first", newModel(13, 4).input("z", 2, 3, 4).node("y", op, "x z"))
	}
	for _, op := range []string{"ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare", "ReduceMean"} {
		add(op, newModel(13, 2, 3, 4, 5).node("y", op, "x", list("axes", 1, -1)))
		add(op+"/all", newModel(13, 2, 3, 4).node("y", op, "x", number("keepdims", 0)))
		add(op+"/first", newModel(13, 2, 3, 4).node("y", op, "x", list("axes", 0), number("keepdims", 0)))
	}
	add("ReduceLogSum", newModel(13, 2, 3, 4).node("v", "Abs", "x").node("y", "ReduceLogSum", "v", list("axes", 1)))
	add("LayerNormalization", newModel(17, 2, 3, 4).floats("s", 4).floats("b", 4).node("y", "LayerNormalization", "x s b", real("epsilon", 0.1)))
	add("LayerNormalization/axes", newModel(17, 2, 3, 4).floats("s", 3, 4).node("y", "LayerNormalization", "x s", number("axis", 1)).outputs("mean", "factor"))
	add("LayerNormalization/all", newModel(17, 2, 3).floats("s", 2, 3).floats("b", 2, 3).node("y", "LayerNormalization", "x s b", number("axis", 0)))
	add("LayerNormalization/live", newModel(17, 2, 3, 4).input("s", 4).input("b", 4).node("y", "LayerNormalization", "x s b"))
	add("InstanceNormalization", newModel(13, 2, 3, 4, 5).floats("s", 3).floats("b", 3).node("y", "InstanceNormalization", "x s b", real("epsilon", 0.1)))
	add("GroupNormalization", newModel(21, 2, 6, 4, 5).floats("s", 6).floats("b", 6).node("y", "GroupNormalization", "x s b", number("num_groups", 2)))
	add("MeanVarianceNormalization", newModel(13, 2, 3, 4, 5).node("y", "MeanVarianceNormalization", "x"))
	add("MeanVarianceNormalization/last", newModel(13, 2, 3, 4).node("y", "MeanVarianceNormalization", "x", list("axes", 2)))
	add("Expand", newModel(13, 3, 1).ints("s", 2, 1, 4).node("y", "Expand", "x s"))
	add("Expand/ones", newModel(13, 2, 3, 4).ints("s", 3, 1).node("y", "Expand", "x s"))
	for i, s := range [][4][]int64{
		{{1, 0}, {9, 4}, {1, 3}, {2, 3}}, {{-1, 6}, {-99, 0}, {2, 3}, {-1, -2}}, {{1}, {6}, {3}, {2}}, {{0, 0}, {3, 7}, {1, 3}, {2, 4}}, {{5, 1}, {1, 2}, {3, 1}, {-2, 5}},
	} {
		add(fmt.Sprint("Slice/", i), newModel(13, 2, 3, 6, 7).ints("s", s[0]...).ints("e", s[1]...).ints("a", s[2]...).ints("t", s[3]...).node("y", "Slice", "x s e a t"))
	}
	add("Slice/of a shape", newModel(9, 2, 3, 4).node("s", "Shape", "x").node("n", "Slice", "s", list("axes", 0), list("starts", 0), list("ends", 1)).ints("m", -1).
		node("c", "Concat", "n m", number("axis", 0)).node("y", "Reshape", "x c"))
	for i, index := range [][]int64{{1, 2}, {-1, 0, 0}, {2, 1, 0}} {
		for axis := range int64(3) {
			add(fmt.Sprint("Gather/", i, axis), newModel(13, 3, 3, 3).ints("i", index...).node("y", "Gather", "x i", number("axis", axis)))
		}
	}
	add("Gather/number", newModel(13, 2, 3, 4).constant("i", nil, 2).node("y", "Gather", "x i", number("axis", 2)))
	add("Gather/matrix", newModel(13, 2, 3, 4).constant("i", []int64{2, 2}, 2, 0, 1, 1).node("y", "Gather", "x i", number("axis", 1)))
	add("Gather/of a shape", newModel(13, 2, 3, 4).node("s", "Shape", "x").ints("i", 0, 2).ints("m", 3).node("g", "Gather", "s i").
		node("c", "Concat", "g m", number("axis", 0)).node("y", "Reshape", "x c"))
	add("Concat/constant", newModel(13, 2, 3).floats("c", 2, 2).node("y", "Concat", "x c x", number("axis", 1)))
	for _, op := range []string{"Add", "Mul", "Sub", "Div"} {
		add(op+"/constant of more axes", newModel(13, 2, 3).floats("c", 1, 1, 1).node("y", op, "x c"))
		add(op+"/longer constant", newModel(13, 2, 3).floats("c", 4, 1, 3).node("t", "Transpose", "x").node("u", "Transpose", "t").node("y", op, "u c"))
	}
	add("Sub/constant", newModel(13, 2, 3, 4).floats("c", 2, 1, 4).node("y", "Sub", "c x"))
	add("Div/constant", newModel(13, 2, 3, 4).floats("c", 3, 1).node("y", "Div", "c x"))
	add("Mul/gaps of a constant", newModel(13, 2, 3, 4).floats("c", 2, 1, 4).node("y", "Mul", "c x"))
	for _, mode := range []string{"DCR", "CRD"} {
		add("DepthToSpace/"+mode, newModel(13, 2, 8, 2, 3).node("y", "DepthToSpace", "x", number("blocksize", 2), text("mode", mode)))
	}
	add("SpaceToDepth", newModel(13, 2, 3, 4, 6).node("y", "SpaceToDepth", "x", number("blocksize", 2)))
	for _, mode := range []string{"constant", "edge", "reflect"} {
		add("Pad/"+mode, newModel(13, 2, 3, 4).ints("p", 1, 0, 2, 0, 1, 3).floats("v").node("y", "Pad", "x p v", text("mode", mode)))
	}
	add("Pad/cut", newModel(13, 2, 3, 6).ints("p", 0, -1, 1, 0, 0, -2).node("y", "Pad", "x p"))
	add("Pad/channels", newModel(13, 2, 3, 4, 5).ints("p", 0, 0, 0, 0, 0, 2, 0, 0).node("y", "Pad", "x p"))
	add("Pad/axes", newModel(18, 2, 3, 4, 5).ints("p", 1, 2).ints("a", -1).floats("v").node("y", "Pad", "x p v a"))
	add("Pad/value before Conv", newModel(13, 2, 2, 4, 5).ints("p", 0, 0, 1, 1, 0, 0, 1, 1).floats("v").floats("w", 3, 2, 3, 3).node("q", "Pad", "x p v").node("y", "Conv", "q w"))
	add("ConstantOfShape", newModel(13, 2, 3, 4).ints("s", 3, 1).node("c", "ConstantOfShape", "s").node("e", "Exp", "c").node("y", "Add", "x e"))
	add("Expand/by where", newModel(13, 3, 1).ints("s", 2, -1, 4).ints("m", -1).node("q", "Equal", "s m").ints("o", 1, 1, 1).node("w", "Where", "q o s").node("y", "Expand", "x w"))
	add("PRelu/live", newModel(13, 2, 3, 4).input("s", 3, 1).node("y", "PRelu", "x s"))
	for i, s := range [][2][]int64{{{2, 3, 4}, {2, 4, 5}}, {{3, 4}, {2, 4, 5}}, {{2, 1, 3, 4}, {3, 4, 2}}, {{4}, {4, 3}}, {{2, 3, 4}, {4}}, {{4}, {4}}} {
		add(fmt.Sprint("MatMul/computed/", i), newModel(13, s[0]...).input("z", s[1]...).node("y", "MatMul", "x z"))
	}
	add("MatMul/constants", newModel(13, 2, 3, 4).floats("a", 5, 3).floats("b", 2, 4, 2).node("v", "MatMul", "a x").node("y", "MatMul", "v b"))
	add("Gemm/computed", newModel(13, 3, 2).input("z", 4, 3).input("c", 4).node("y", "Gemm", "x z c", number("transA", 1), number("transB", 1), real("alpha", 0.5), real("beta", 2)))
	add("Gemm/rows", newModel(13, 2, 3).floats("w", 3, 4).floats("c", 2, 1).node("y", "Gemm", "x w c", real("beta", 0.5)))
	for _, op := range []string{"MaxPool", "AveragePool"} {
		pool := func(name string, b *maker, attrs ...*onnxpb.AttributeProto) {
			add(op+"/"+name, b.node("y", op, "x", attrs...))
		}
		pool("line", newModel(13, 2, 3, 7), list("kernel_shape", 3), list("strides", 2), list("pads", 1, 1))
		pool("room", newModel(13, 2, 3, 5, 6, 4), list("kernel_shape", 2, 3, 2), list("strides", 2, 2, 1), list("pads", 1, 0, 0, 0, 1, 1))
		pool("border", newModel(13, 2, 3, 7, 7), list("kernel_shape", 3, 3), list("pads", 1, 1, 1, 1))
		pool("one side", newModel(13, 2, 3, 8, 8), list("kernel_shape", 2, 2), list("pads", 0, 0, 1, 1))
		pool("ceiling", newModel(13, 2, 3, 8, 7), list("kernel_shape", 3, 3), list("strides", 2, 2), number("ceil_mode", 1))
		pool("same", newModel(13, 2, 3, 8, 7), list("kernel_shape", 3, 2), list("strides", 2, 2), text("auto_pad", "SAME_LOWER"))
		add(op+"/padded before", newModel(13, 2, 3, 6, 6).ints("p", 0, 0, 1, 1, 0, 0, 0, 1).floats("v").node("q", "Pad", "x p v").
			node("y", op, "q", list("kernel_shape", 3, 3), list("pads", 1, 1, 1, 1)))
		add("Global"+op+"/line", newModel(13, 2, 3, 7).node("y", "Global"+op, "x"))
		add("Global"+op+"/room", newModel(13, 2, 3, 2, 3, 4).node("y", "Global"+op, "x"))
	}
	add("AveragePool/all count", newModel(13, 2, 3, 7, 8).node("y", "AveragePool", "x", list("kernel_shape", 3, 3), list("strides", 2, 2), list("pads", 1, 1, 1, 1), number("count_include_pad", 1)))
	for _, mode := range []string{"SAME_UPPER", "SAME_LOWER"} {
		add("ConvTranspose/"+mode, newModel(13, 2, 2, 4, 5).floats("w", 2, 3, 4, 3).node("y", "ConvTranspose", "x w", text("auto_pad", mode), list("strides", 2, 2)))
	}
	add("ConvTranspose/output_shape", newModel(13, 2, 2, 4, 5).floats("w", 2, 3, 3, 3).node("y", "ConvTranspose", "x w", list("output_shape", 9, 10), list("strides", 2, 2)))
	add("ConvTranspose/padded", newModel(13, 2, 2, 4, 5).ints("p", 0, 0, 1, 0, 0, 0, 2, 1).floats("w", 2, 3, 3, 3).node("q", "Pad", "x p").node("y", "ConvTranspose", "q w"))
	for _, mode := range []string{"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"} {
		for i, size := range [][]int64{{8, 10}, {3, 9}, {1, 5}} {
			resize := func(attrs ...*onnxpb.AttributeProto) *maker {
				return newModel(13, 2, 3, 4, 5).floats("e", 0).ints("s", 2, 3, size[0], size[1]).node("y", "Resize", "x e e s", append(attrs, text("coordinate_transformation_mode", mode))...)
			}
			add(fmt.Sprint("Resize/linear/", mode, i), resize(text("mode", "linear")))
			if i < 2 {
				add(fmt.Sprint("Resize/nearest/", mode, i), resize(text("mode", "nearest"), text("nearest_mode", "floor")))
			}
		}
	}
	add("Resize/axes", newModel(18, 2, 3, 4, 5).floats("e", 0).ints("s", 9, 8).node("y", "Resize", "x e e s", text("mode", "linear"), list("axes", -1, 2)))
	for _, mode := range []string{"nearest", "linear"} {
		add("Resize/line/"+mode, newModel(13, 2, 3, 5).floats("e", 0).ints("s", 2, 3, 9).node("y", "Resize", "x e e s", text("mode", mode), text("coordinate_transformation_mode", "align_corners")))
	}
	for _, axis := range []int64{0, 1, 2, -1} {
		add(fmt.Sprint("Softmax/rows/", axis), newModel(11, 2, 3, 4, 5).node("y", "Softmax", "x", number("axis", axis)))
		add(fmt.Sprint("LogSoftmax/rows/", axis), newModel(11, 2, 3, 4, 5).node("y", "LogSoftmax", "x", number("axis", axis)))
		add(fmt.Sprint("LogSoftmax/axis/", axis), newModel(13, 2, 3, 4, 5).node("y", "LogSoftmax", "x", number("axis", axis)))
		for p := range int64(2) {
			add(fmt.Sprint("LpNormalization/", axis, 1+p), newModel(13, 2, 3, 4, 5).node("y", "LpNormalization", "x", number("axis", axis), number("p", 1+p)))
		}
	}
	add("LpNormalization/zeros", newModel(13, 2, 3).floats("z", 1).node("d", "Sub", "z z").node("m", "Mul", "x d").node("y", "LpNormalization", "m"))
	add("Pow/constant base", newModel(13, 2, 3, 4).floats("b", 1).node("y", "Pow", "b x"))
	add("Pow/integer", newModel(13, 2, 3, 4).ints("e", 3).node("y", "Pow", "x e"))
	toLast := list("perm", 0, 2, 3, 1)
	for _, op := range []string{"Mul", "Add", "Sub", "Div"} {
		add(op+"/two transposed", newModel(13, 2, 3, 4, 5).node("a", "Relu", "x").node("t", "Transpose", "a", toLast).node("g", "ReduceMean", "t", list("axes", 1, 2)).node("y", op, "t g"))
		add(op+"/transposed and shorter", newModel(13, 2, 3, 4).input("z", 5, 4).node("t", "Transpose", "x", list("perm", 0, 2, 1)).node("u", "Reshape", "t s").ints("s", 2, 4, 3).
			node("w", "Transpose", "z", list("perm", 1, 0)).node("v", "ReduceMean", "w", list("axes", 1)).node("y", op, "u v"))
	}
	add("Clip/computed", newModel(13, 2, 3, 4).node("m", "ReduceMean", "x", number("keepdims", 0)).floats("c").node("h", "Add", "m c").node("y", "Clip", "x m h"))
	add("Clip/least", newModel(13, 2, 3, 4).node("m", "ReduceMean", "x", number("keepdims", 0)).node("y", "Clip", "x m"))
	for k, op := range []string{"LSTM", "GRU", "RNN"} {
		gates := []int64{4, 3, 1}[k]
		sequence := func(directions int64) *maker {
			b := newModel(14, 3, 2, 4).floats("w", directions, gates*5, 4).floats("r", directions, gates*5, 5).floats("b", directions, 2*gates*5)
			for _, t := range b.m.Graph.Initializer {
				for i := range t.FloatData {
					t.FloatData[i] = 0.7 * (t.FloatData[i] - 1)
				}
			}
			return b
		}
		size := number("hidden_size", 5)
		more, inputs := []string{"h"}, "h0"
		if op == "LSTM" {
			more, inputs = []string{"h", "c"}, "h0 c0"
		}
		states := func(b *maker, directions int64) *maker {
			for _, name := range strings.Fields(inputs) {
				b.input(name, directions, 2, 5)
			}
			return b
		}
		add(op, sequence(1).node("y", op, "x w r", size))
		add(op+"/reverse", states(sequence(1).node("y", op, "x w r b - "+inputs, size, text("direction", "reverse")).outputs(more...), 1))
		add(op+"/bidirectional", states(sequence(2).node("y", op, "x w r b - "+inputs, size, text("direction", "bidirectional")).outputs(more...), 2))
	}
	size := number("hidden_size", 5)
	add("GRU/linear_before_reset", newModel(14, 3, 2, 4).floats("w", 1, 15, 4).floats("r", 1, 15, 5).floats("b", 1, 30).node("y", "GRU", "x w r b", size, number("linear_before_reset", 1)))
	add("RNN/Relu", newModel(14, 3, 2, 4).floats("w", 1, 5, 4).floats("r", 1, 5, 5).node("y", "RNN", "x w r", size, words("activations", "Relu")))
	return cases
}

func words(name string, values ...string) *onnxpb.AttributeProto {
	a := &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_STRINGS.Enum()}
	for _, v := range values {
		a.Strings = append(a.Strings, []byte(v))
	}
	return a
}

const operatorOutputs = "testdata/operators.json"

// stored has ONNX Runtime's outputs by case and name.
type stored map[string]map[string]*onnxtest.Tensor

// runCase imports a case's model, and returns the net's outputs after Forward of random inputs.
func runCase(t *testing.T, c operatorCase) (inputs, outputs map[string]*onnxtest.Tensor) {
	r, err := Net(&onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	n := build(t, r)
	inputs, outputs = onnxtest.FillInputs(n, &onnxtest.Case{}, 3), map[string]*onnxtest.Tensor{}
	forward(t, n)
	for _, out := range c.b.m.GetGraph().GetOutput() {
		b := n.Blob(out.GetName())
		if b == nil {
			t.Fatalf("no blob %q", out.GetName())
		}
		outputs[out.GetName()] = onnxtest.FromBlob(b.Shape(), b.Data())
	}
	return inputs, outputs
}

func compareAll(t *testing.T, got, want map[string]*onnxtest.Tensor) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d outputs, want %d", len(got), len(want))
	}
	for name, w := range want {
		if g := got[name]; g == nil || !slices.Equal(g.Dims, w.Dims) {
			t.Errorf("%s is %v, want shape %v", name, g, w.Dims)
			continue
		}
		data := make([]float32, len(w.Data))
		for i, v := range got[name].Data {
			data[i] = float32(v)
		}
		compare(t, name, data, w.Data, 1e-5)
	}
}

// TestOperators compares imported operators with what ONNX Runtime computed for the same inputs.
func TestOperators(t *testing.T) {
	text, err := os.ReadFile(operatorOutputs)
	if err != nil {
		t.Fatal(err)
	}
	var want stored
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, c := range operatorCases() {
		t.Run(c.name, func(t *testing.T) {
			_, got := runCase(t, c)
			if want[c.name] == nil {
				t.Fatalf("%s has no outputs; TestOperatorsRuntime -rewrite stores them", operatorOutputs)
			}
			compareAll(t, got, want[c.name])
		})
	}
}

// TestOperatorsRuntime compares with ONNX Runtime itself, and stores its outputs with -rewrite.
func TestOperatorsRuntime(t *testing.T) {
	o, all := onnxtest.StartOracle(t, "SWCAFFE_ONNX_RUNTIME"), stored{}
	for _, c := range operatorCases() {
		t.Run(c.name, func(t *testing.T) {
			inputs, got := runCase(t, c)
			m := proto.CloneOf(c.b.m)
			for _, out := range m.Graph.Output {
				out.Type.GetTensorType().Shape = nil
			}
			want, err := o.Run(t, m, inputs)
			if err != nil {
				t.Fatal(err)
			}
			compareAll(t, got, want)
			all[c.name] = map[string]*onnxtest.Tensor{}
			for name, v := range want {
				all[c.name][name] = v
			}
		})
	}
	if *rewrite && !t.Failed() {
		writeStored(t, all)
	}
}

// writeStored writes a line for each output.
func writeStored(t *testing.T, all stored) {
	text := []byte("{\n")
	for i, c := range operatorCases() {
		line, err := json.Marshal(all[c.name])
		if err != nil {
			t.Fatal(err)
		}
		end := ","
		if i == len(operatorCases())-1 {
			end = ""
		}
		text = fmt.Appendf(text, "%q: %s%s\n", c.name, line, end)
	}
	if err := os.WriteFile(operatorOutputs, append(text, '}', '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
}

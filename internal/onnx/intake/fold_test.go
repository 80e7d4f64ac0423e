package intake

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// ofConstants has the constants w of shape 3 x 2 x 4 with positive and negative values, p with positive ones and v of 4.
func ofConstants(opset int64) *maker {
	return newModel(opset, 2, 3).floats("p", 3, 2, 4).floats("one", 1).node("w", "Sub", "p one").floats("v", 4).ints("last", 2).ints("two", 0, -2).ints("none").ints("i", 3, -2, 7)
}

// wantFolded imports a model of constants, which leaves no layers but those that hold them, and compares them with the evaluator's.
func wantFolded(t *testing.T, b *maker) {
	t.Helper()
	m := &onnx.Model{ModelProto: b.m, Path: "test.onnx"}
	checkTranslation(t, &onnxtest.Case{}, m, "")
	r, err := Net(m, 2, onnxtest.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(r.Net.Layer, func(l *caffepb.LayerParameter) bool { return l.GetType() != "Input" && l.GetType() != "Parameter" }) {
		t.Errorf("layers compute constants: %v", r.Net.Layer)
	}
}

// TestReduceConstants reduces constants along axes of attributes and inputs, of all forms.
func TestReduceConstants(t *testing.T) {
	for _, op := range []string{"Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"} {
		for _, keep := range []int64{0, 1} {
			t.Run(fmt.Sprint(op, keep), func(t *testing.T) {
				value := "w"
				if op == "LogSum" {
					value = "p"
				}
				op, keep := "Reduce"+op, number("keepdims", keep)
				wantFolded(t, ofConstants(11).node("y", op, value, keep))
				wantFolded(t, ofConstants(11).node("y", op, value, list("axes", 2, 0), keep))
				wantFolded(t, ofConstants(11).node("y", op, value, list("axes", -2), keep))
				wantFolded(t, ofConstants(18).node("y", op, value+" two", keep))
				wantFolded(t, ofConstants(18).node("y", op, value+" last", keep, number("noop_with_empty_axes", 1)))
				wantFolded(t, ofConstants(18).node("y", op, value+" none", keep))
			})
		}
	}
	for _, op := range []string{"ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceSumSquare"} {
		wantFolded(t, ofConstants(13).node("r", op, "i").node("y", "Cast", "r", number("to", 1)))
	}
}

// TestFoldConstants folds the other operators.
func TestFoldConstants(t *testing.T) {
	for _, op := range []string{"Relu", "Sigmoid", "Tanh", "Sign", "Softplus", "Softmax", "LogSoftmax", "Erf", "Elu", "LeakyRelu"} {
		wantFolded(t, ofConstants(13).node("y", op, "w"))
	}
	wantFolded(t, ofConstants(13).node("y", "Elu", "w", real("alpha", 0.5)))
	wantFolded(t, ofConstants(13).node("y", "LeakyRelu", "w", real("alpha", 0.25)))
	for axis := int64(-3); axis <= 3; axis++ {
		wantFolded(t, ofConstants(13).node("y", "Flatten", "w", number("axis", axis)))
	}
	for _, shape := range [][]int64{{}, {1}, {5}, {3, 1}, {3, 5}} {
		wantFolded(t, newModel(13, 2, 3).floats("a", 4, 3).floats("b", 5, 4).floats("c", shape...).
			node("y", "Gemm", "a b c", number("transA", 1), number("transB", 1), real("alpha", 0.5), real("beta", 2)))
	}
	wantFolded(t, newModel(13, 2, 3).floats("a", 3, 4).floats("b", 4, 5).node("y", "Gemm", "a b"))
	wantFolded(t, newModel(13, 2, 3).floats("a", 3, 4).floats("b", 4, 5).node("y", "Gemm", "a b -"))
	wantFolded(t, ofConstants(13).ints("pads", 1, 0, 2, 0, 3, -1).bound("c", 0.75).node("y", "Pad", "w pads c"))
	wantFolded(t, ofConstants(13).ints("pads", 0, 0, 0, 1, 0, 0).node("y", "Pad", "w pads"))
	for _, op := range []string{"Sum", "Mean", "Max", "Min"} {
		wantFolded(t, ofConstants(13).node("y", op, "w"))
		wantFolded(t, ofConstants(13).floats("c", 2, 1).node("y", op, "w v c"))
	}
	wantFolded(t, ofConstants(13).node("y", "Softmax", "w", number("axis", 1)))
	wantFolded(t, ofConstants(13).floats("s", 2).floats("b", 2).floats("m", 2).floats("d", 2).node("y", "BatchNormalization", "w s b m d"))
	wantFolded(t, ofConstants(13).floats("c").node("y", "Clip", "p c"))
	wantFolded(t, ofConstants(13).floats("c").node("y", "Clip", "p - c"))
	wantFolded(t, ofConstants(13).bound("c", 0.75).bound("d", 1.25).node("y", "Clip", "p c d"))
	wantFolded(t, ofConstants(13).bound("c", 0.75).bound("d", 1.25).node("y", "Clip", "p d c"))
	for _, axes := range [][2][]int64{
		{{3, 4}, {4, 5}}, {{2, 3, 4}, {4, 5}}, {{2, 1, 3, 4}, {5, 4, 2}}, {{3, 4}, {2, 4, 5}}, {{4}, {2, 4, 5}}, {{2, 3, 4}, {4}}, {{4}, {4}}, {{1, 3, 4}, {3, 4, 2}},
	} {
		wantFolded(t, newModel(13, 2, 3).floats("a", axes[0]...).floats("b", axes[1]...).node("y", "MatMul", "a b"))
	}
	for _, c := range []*maker{
		ofConstants(13).ints("s", 1, 3).node("y", "Split", "w s", number("axis", -1)), ofConstants(13).node("y", "Split", "w", number("axis", 1)),
	} {
		wantFolded(t, c.outputs("z"))
	}
}

// TestFoldPad pads a constant by its own values, as numpy's pad does.
func TestFoldPad(t *testing.T) {
	model := func(opset int64) *maker {
		return newModel(opset, 2, 3).reals("w", []int64{1, 3}, 1, 2, 3).ints("pads", 0, 2, 0, 1).ints("two", 2, 1).ints("last", -1)
	}
	mode := func(name string) *maker { return model(19).node("y", "Pad", "w pads", text("mode", name)) }
	for name, c := range map[string]struct {
		b    *maker
		want []float32
	}{
		"edge": {mode("edge"), []float32{1, 1, 1, 2, 3, 3}}, "reflect": {mode("reflect"), []float32{3, 2, 1, 2, 3, 2}}, "wrap": {mode("wrap"), []float32{2, 3, 1, 2, 3, 1}},
		"attributes": {model(10).node("y", "Pad", "w", list("pads", 0, 1, 0, -1), real("value", 7)), []float32{7, 1, 2}},
		"axes":       {model(18).node("y", "Pad", "w two - last"), []float32{0, 0, 1, 2, 3, 0}},
	} {
		r, err := Net(&onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		if err != nil {
			t.Fatal(err)
		}
		n := build(t, r)
		forward(t, n)
		if got := n.Blob("y").Data(); !slices.Equal(got, c.want) || len(r.Net.Layer) > 2 {
			t.Errorf("%s: %v, want %v; layers %v", name, got, c.want, r.Net.Layer)
		}
	}
	for _, mode := range []string{"reflect", "wrap"} {
		b := newModel(19, 2, 3).floats("w", 1, 3).ints("pads", 0, 4, 0, 0).node("y", "Pad", "w pads", text("mode", mode))
		_, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		wantError(t, err, "repeats 4 values of an axis of 3")
	}
}

// TestOldFolds: forms that the evaluator does not know have the values of other operators.
func TestOldFolds(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new *maker
	}{
		{"bounds as attributes", ofConstants(10).node("y", "Clip", "p", real("min", 0.75)), ofConstants(13).bound("b", 0.75).node("y", "Max", "p b")},
		{"no axes and noop_with_empty_axes", ofConstants(18).node("y", "ReduceSum", "w", number("noop_with_empty_axes", 1)), ofConstants(18).node("y", "Identity", "w")},
		{"empty axes and noop_with_empty_axes", ofConstants(18).node("y", "ReduceMax", "w none", number("noop_with_empty_axes", 1)), ofConstants(18).node("y", "Identity", "w")},
		{"Softmax along all axes", ofConstants(11).node("y", "Softmax", "w"), ofConstants(13).ints("s", 3, 8).ints("f", 3, 2, 4).node("a", "Reshape", "w s").
			node("b", "Softmax", "a").node("y", "Reshape", "b f")},
	} {
		r, err := Net(&onnx.Model{ModelProto: c.old.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		if err != nil {
			t.Fatal(c.name, err)
		}
		n := build(t, r)
		forward(t, n)
		want, err := onnxtest.Run(c.new.m, map[string]*onnxtest.Tensor{"x": onnxtest.New(2, 3)})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := n.Blob("y"); !slices.Equal(got.Shape(), want["y"].Dims) {
			t.Errorf("%s: shape %v, want %v", c.name, got.Shape(), want["y"].Dims)
		} else {
			compare(t, c.name, got.Data(), want["y"].Data, 1e-6)
		}
	}
}

// TestNormalisedWeights: kernels that a model computes from constants are weights of the convolution.
func TestNormalisedWeights(t *testing.T) {
	model := func() *maker { return newModel(13, 2, 2, 7, 6).floats("w", 3, 2, 3, 3) }
	for _, b := range []*maker{
		model().node("m", "ReduceMean", "w", list("axes", 1, 2, 3)).node("k", "Mul", "w m").node("y", "Conv", "x k"),
		model().floats("g", 3, 1, 1, 1).node("m", "ReduceL2", "w", list("axes", 1, 2, 3)).node("d", "Div", "w m").node("k", "Mul", "d g").node("y", "Conv", "x k"),
	} {
		m := &onnx.Model{ModelProto: b.m, Path: "test.onnx"}
		checkTranslation(t, &onnxtest.Case{}, m, "")
		r, err := Net(m, 2, onnxtest.Device(t))
		if err != nil || len(r.Net.Layer) != 2 {
			t.Errorf("error %v, layers %v", err, r.Net.Layer)
		}
	}
}

// TestUnfolded names the node that is not folded, and huge results stay refused.
func TestUnfolded(t *testing.T) {
	model := func() *maker { return newModel(13, 2, 2, 7, 6).floats("w", 3, 2, 3, 3) }
	for _, c := range []struct {
		want string
		b    *maker
	}{
		{`node 3, "n_y" (Conv): input 1 ("k") is computed from constants by node 0, "n_a" (Selu), which is not folded; Caffe needs a constant there`,
			model().node("a", "Selu", "w").node("b", "Relu", "a").node("k", "Mul", "a b").node("y", "Conv", "x k")},
		{`(Conv): input 1 ("k") is computed; Caffe needs a constant there`,
			model().node("a", "Selu", "w").node("m", "ReduceMean", "x", list("axes", 0, 1, 2, 3)).node("k", "Mul", "a m").node("y", "Conv", "x k")},
		{`node 0, "n_k" (ReduceSum): axis 4 of a value with 4 axes`, model().ints("a", 4).node("k", "ReduceSum", "w a").node("y", "Conv", "x k")},
		{`node 2, "n_k" (MatMul): a constant of shape [16777216 16777216]`,
			model().ints("a", 1<<24, 1).ints("b", 1, 1<<24).node("c", "ConstantOfShape", "a").node("d", "ConstantOfShape", "b").node("k", "MatMul", "c d").node("y", "Add", "x k")},
		{`node 0, "n_y" (ReduceMean): input 0 ("i") has type INT64: the operator drops fractions`, model().ints("i", 1, 2).node("y", "ReduceMean", "i")},
		{`(ReduceL2): noop_with_empty_axes without axes`, newModel(18, 2, 3).floats("w", 2, 3).node("y", "ReduceL2", "w", number("noop_with_empty_axes", 1))},
	} {
		_, err := Net(&onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		wantError(t, err, c.want)
	}
}

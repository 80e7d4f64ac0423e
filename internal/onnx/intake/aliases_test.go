package intake

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"google.golang.org/protobuf/proto"
)

// TestAliases adds a constant to another name of a convolution's output, which a ReLU reads without it.
func TestAliases(t *testing.T) {
	base := func() *maker {
		return newModel(13, 2, 3, 4, 5).floats("w", 3, 3, 1, 1).floats("b", 3, 1, 1).ints("s", 0).ints("e", 99).ints("same", 2, 3, 4, 5).node("c", "Conv", "x w")
	}
	for name, b := range map[string]*maker{
		"Identity": base().node("y", "Identity", "c"),
		"Cast":     base().node("y", "Cast", "c", number("to", 1)),
		"Slice":    base().node("y", "Slice", "c s e"),
		"Reshape":  base().node("y", "Reshape", "c same"),
		"two":      base().node("u", "Identity", "c").node("y", "Identity", "u"),
	} {
		t.Run(name, func(t *testing.T) {
			b.node("z", "Add", "y b").node("q", "Relu", "c").node("o", "Add", "z q")
			checkTranslation(t, &onnxtest.Case{}, &onnx.Model{ModelProto: b.m, Path: "test.onnx"}, "")
		})
	}
}

// TestShapeOfSomeAxes reads start and end of Shape, by the operator's text in opset 15.
func TestShapeOfSomeAxes(t *testing.T) {
	for _, c := range []struct {
		attrs []*onnxpb.AttributeProto
		want  []int64
	}{
		{[]*onnxpb.AttributeProto{number("start", 0), number("end", 2)}, []int64{2, 3}},
		{[]*onnxpb.AttributeProto{number("end", -3)}, []int64{2}},
		{[]*onnxpb.AttributeProto{number("start", -9), number("end", 1)}, []int64{2}},
		{[]*onnxpb.AttributeProto{number("start", 3), number("end", 1)}, nil},
	} {
		want := []int{}
		left := 2 * 3 * 4 * 5
		for _, d := range c.want {
			want = append(want, int(d))
			left /= int(d)
		}
		b := newModel(15, 2, 3, 4, 5).ints("m", -1).node("s", "Shape", "x", c.attrs...).node("t", "Concat", "s m", number("axis", 0)).node("y", "Reshape", "x t")
		r, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := build(t, r).Blob("y").Shape(); !slices.Equal(got, append(want, left)) {
			t.Errorf("Shape with %v: %v instead of %v", c.attrs, got, append(want, left))
		}
	}
}

// TestCrossedBounds clips to a minimum above the maximum: every value becomes the maximum.
func TestCrossedBounds(t *testing.T) {
	b := newModel(13, 2, 3).node("y", "Clip", "x lo hi")
	for name, v := range map[string]float32{"lo": 2, "hi": -1} {
		b.m.Graph.Initializer = append(b.m.Graph.Initializer, &onnxpb.TensorProto{Name: proto.String(name), DataType: proto.Int32(1), FloatData: []float32{v}})
	}
	r, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	n := build(t, r)
	onnxtest.FillInputs(n, &onnxtest.Case{}, 1)
	forward(t, n)
	for i, v := range n.Blob("y").Data() {
		if v != -1 {
			t.Errorf("value %d is %g instead of -1", i, v)
		}
	}
}

// TestDropoutInTraining refuses a Dropout that drops values when the model is computed.
func TestDropoutInTraining(t *testing.T) {
	b := newModel(13, 2, 3).floats("ratio", 1)
	b.m.Graph.Initializer = append(b.m.Graph.Initializer, &onnxpb.TensorProto{Name: proto.String("training"), DataType: proto.Int32(9), Int32Data: []int32{1}})
	_, err := Net(&onnx.Model{ModelProto: b.node("y", "Dropout", "x ratio training").m, Path: "test.onnx"}, 2, onnxtest.Device(t))
	wantError(t, err, "training_mode is true")
}

// TestLogSoftmax: logits so far apart that their probabilities are 0 keep their logarithms, along every axis, and over all axes from one on
// before opset 13. The expected values are the definition's, in float64.
func TestLogSoftmax(t *testing.T) {
	for _, c := range []struct {
		opset int64
		axis  int64
		shape []int64
		group func(i int) int // the sum that value i belongs to
	}{
		{13, 1, []int64{2, 3}, func(i int) int { return i / 3 }},
		{13, -1, []int64{2, 3, 4}, func(i int) int { return i / 4 }},
		{13, 1, []int64{2, 3, 2, 2}, func(i int) int { return i/12*4 + i%4 }},
		{13, 0, []int64{2, 3}, func(i int) int { return i % 3 }},
		{11, 1, []int64{2, 3, 4}, func(i int) int { return i / 12 }},
		{11, 0, []int64{2, 3}, func(int) int { return 0 }},
	} {
		b := newModel(c.opset, c.shape...).node("y", "LogSoftmax", "x", number("axis", c.axis))
		r, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, int(c.shape[0]), onnxtest.Device(t))
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		n := build(t, r)
		x := n.Blob("x").Data()
		most, sums := map[int]float64{}, map[int]float64{}
		for i := range x {
			x[i] = float32(i*i%7*40) + float32(i)/8
			if m, ok := most[c.group(i)]; !ok || float64(x[i]) > m {
				most[c.group(i)] = float64(x[i])
			}
		}
		for i, v := range x {
			sums[c.group(i)] += math.Exp(float64(v) - most[c.group(i)])
		}
		inputs := slices.Clone(x)
		forward(t, n)
		for i, got := range n.Blob("y").Data() {
			g := c.group(i)
			if want := float64(inputs[i]) - most[g] - math.Log(sums[g]); math.Abs(float64(got)-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("opset %d, axis %d of %v: value %d is %g, not %g", c.opset, c.axis, c.shape, i, got, want)
				break
			}
		}
	}
}

// TestCastToIntegers: a cast to integers is nothing for whole numbers, and refused for others, whose fractions it drops.
func TestCastToIntegers(t *testing.T) {
	whole := func(op string, attrs ...*onnxpb.AttributeProto) *maker {
		return newModel(13, 2, 3).node("w", op, "x", attrs...).node("i", "Cast", "w", number("to", 7)).node("y", "Cast", "i", number("to", 1))
	}
	for name, b := range map[string]*maker{
		"ArgMax": whole("ArgMax", number("axis", 1)), "Sign": whole("Sign"),
		"reshaped": newModel(13, 2, 3).ints("s", 1).node("a", "ArgMax", "x", number("axis", 1)).node("w", "Unsqueeze", "a s").node("y", "Cast", "w", number("to", 6)),
	} {
		if _, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 2, onnxtest.Device(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, b := range map[string]*maker{
		"input": newModel(13, 2, 3).node("i", "Cast", "x", number("to", 7)).node("y", "Cast", "i", number("to", 1)),
		"Tanh":  whole("Tanh"),
	} {
		if _, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 2, onnxtest.Device(t)); err == nil || !strings.Contains(err.Error(), "a cast to integers drops the fractions") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

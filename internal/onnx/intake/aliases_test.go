package intake

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// TestAliases gives what a layer computes another name, absorbs a constant or not, and reads it under both names: as inputs of nodes and as outputs
// of the graph. Whatever is merged, each name keeps its value, and each output of the graph is an output of the net.
func TestAliases(t *testing.T) {
	kernel := list("kernel_shape", 3, 3)
	producers := map[string]func(b *maker) *maker{
		"Conv":    func(b *maker) *maker { return b.floats("w", 3, 3, 1, 1).node("c", "Conv", "x w") },
		"Deconv":  func(b *maker) *maker { return b.floats("w", 3, 3, 1, 1).node("c", "ConvTranspose", "x w") },
		"MatMul":  func(b *maker) *maker { return b.floats("w", 5, 5).node("c", "MatMul", "x w") },
		"Scale":   func(b *maker) *maker { return b.floats("w", 3, 1, 1).node("c", "Mul", "x w") },
		"Gemm":    func(b *maker) *maker { return b.floats("w", 60, 4).node("f", "Flatten", "x").node("c", "Gemm", "f w") },
		"one":     func(b *maker) *maker { return b.ints("a", 2, 3).node("c", "ReduceMean", "x", list("axes", 2, 3)) },
		"average": func(b *maker) *maker { return b.node("c", "AveragePool", "x", kernel, list("pads", 1, 1, 1, 1)) },
		"BatchNorm": func(b *maker) *maker {
			return b.floats("g", 3).floats("h", 3).floats("m", 3).floats("v", 3).node("c", "BatchNormalization", "x g h m v")
		},
		"permuted": func(b *maker) *maker {
			return b.node("r", "Relu", "x").node("c", "Transpose", "r", list("perm", 0, 1, 3, 2))
		},
		"padded": func(b *maker) *maker { return b.ints("p", 0, 0, 1, 1, 0, 0, 1, 1).node("c", "Pad", "x p") },
		"input":  func(b *maker) *maker { b.m.Graph.Input[0].Name = proto.String("c"); return b },
	}
	aliases := map[string]func(b *maker) *maker{
		"none":     func(b *maker) *maker { return b },
		"Identity": func(b *maker) *maker { return b.node("y", "Identity", "c") },
		"Cast":     func(b *maker) *maker { return b.node("y", "Cast", "c", number("to", 1)) },
		"Slice":    func(b *maker) *maker { return b.ints("s", 0).ints("e", 99).node("y", "Slice", "c s e") },
		"Reshape": func(b *maker) *maker {
			return b.ints("same", 0, 0, -1, 1).ints("back", 2, 3, -1, 5).node("u", "Reshape", "c same").node("y", "Reshape", "u back")
		},
		"kept":      func(b *maker) *maker { return b.ints("same", 0, -1).node("y", "Reshape", "c same") },
		"Dropout":   func(b *maker) *maker { return b.node("y", "Dropout", "c") },
		"two":       func(b *maker) *maker { return b.node("u", "Identity", "c").node("y", "Identity", "u") },
		"Squeeze":   func(b *maker) *maker { return b.ints("e", 1).node("u", "Unsqueeze", "c e").node("y", "Squeeze", "u e") },
		"squeezed":  func(b *maker) *maker { return b.ints("e", 2, 3).node("y", "Squeeze", "c e") },
		"Transpose": func(b *maker) *maker { return b.node("u", "Transpose", "c").node("y", "Transpose", "u") },
		"Pad":       func(b *maker) *maker { return b.ints("o", 0, 0, 0, 0, 0, 0, 0, 0).node("y", "Pad", "c o") },
		"Flatten":   func(b *maker) *maker { return b.node("y", "Flatten", "c") },
		"Split":     func(b *maker) *maker { return b.ints("n", 3).node("y", "Split", "c n", number("axis", 1)) },
	}
	readers := map[string]func(b *maker, y string) *maker{
		"none": func(b *maker, y string) *maker { return b },
		"Add":  func(b *maker, y string) *maker { return b.floats("k", 3, 1, 1).node("z", "Add", y+" k") },
		"row":  func(b *maker, y string) *maker { return b.floats("k", 1).node("z", "Add", "k "+y) },
		"Mul":  func(b *maker, y string) *maker { return b.floats("k", 3, 1, 1).node("z", "Mul", y+" k") },
		"norm": func(b *maker, y string) *maker {
			return b.floats("k", 3).floats("l", 3).floats("q", 3).floats("z2", 3).node("z", "BatchNormalization", y+" k l q z2")
		},
		"twice": func(b *maker, y string) *maker {
			return b.floats("k", 3, 1, 1).node("z1", "Add", y+" k").node("z", "Add", "z1 k")
		},
		"clip": func(b *maker, y string) *maker { return b.node("z", "Relu", y) },
	}
	tried, graphs := 0, 0
	device := onnxtest.Device(t)
	for _, producer := range slices.Sorted(maps.Keys(producers)) {
		for _, alias := range slices.Sorted(maps.Keys(aliases)) {
			for _, reader := range slices.Sorted(maps.Keys(readers)) {
				for outputs := range 8 {
					y := "y"
					if alias == "none" {
						y = "c"
					}
					b := readers[reader](aliases[alias](producers[producer](newModel(13, 2, 3, 4, 5))), y)
					var names []string
					for k, name := range []string{"c", y, "z"} {
						if outputs>>k&1 == 1 && !slices.Contains(names, name) && (name != "z" || reader != "none") {
							names = append(names, name)
						}
					}
					if outputs&1 == 0 { // another reader of the value before its other name
						b.node("w", "Abs", "c")
						names = append(names, "w")
					}
					b.m.Graph.Output = nil
					for _, name := range names {
						b.m.Graph.Output = append(b.m.Graph.Output, valueInfo(name, nil))
					}
					if graphs++; testing.Short() && graphs%5 != 0 || len(names) == 0 || len(b.m.Graph.Node) == 0 {
						continue
					}
					if done, err := checkAliases(b.m, device); err != nil {
						t.Errorf("%s, %s, %s, outputs %v: %v", producer, alias, reader, names, err)
					} else if done {
						tried++
					}
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d graphs are valid and translated", tried)
	}
}

// checkAliases compares all outputs with the evaluator. Graphs whose shapes do not fit one another are none.
func checkAliases(m *onnxpb.ModelProto, device *layers.Device) (done bool, err error) {
	x := onnxtest.New(2, 3, 4, 5)
	for i := range x.Data {
		x.Data[i] = float64(float32(i%7)-2.5) / 2
	}
	input := m.GetGraph().GetInput()[0].GetName()
	want, err := onnxtest.Run(m, map[string]*onnxtest.Tensor{input: x})
	if err != nil {
		return false, nil
	}
	got, err := computed(&onnx.Model{ModelProto: m, Path: "test.onnx"}, []*onnxtest.Tensor{x}, device)
	if err != nil {
		return false, err
	}
	for k, out := range m.GetGraph().GetOutput() {
		if d := difference(got[k], want[out.GetName()]); d != "" {
			return false, fmt.Errorf("%s: %s", out.GetName(), d)
		}
	}
	return true, nil
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

// TestAttributes: an attribute at a value without an effect passes, also where the node does nothing; one that changes the result is refused.
func TestAttributes(t *testing.T) {
	resize := func(opset int64, attrs ...*onnxpb.AttributeProto) *maker {
		return newModel(opset, 2, 3, 4, 5).floats("e", 0).ints("s", 2, 3, 4, 5).node("y", "Resize", "x e e s", attrs...)
	}
	pool := func(attrs ...*onnxpb.AttributeProto) *maker {
		return newModel(13, 2, 3, 4, 5).node("y", "MaxPool", "x", append(attrs, list("kernel_shape", 2, 2))...)
	}
	norm := func(opset int64, attrs ...*onnxpb.AttributeProto) *maker {
		return newModel(opset, 2, 3, 4, 5).floats("g", 3).floats("h", 3).floats("m", 3).floats("v", 3).node("y", "BatchNormalization", "x g h m v", attrs...)
	}
	parts := func(opset int64, extent int64, attrs ...*onnxpb.AttributeProto) *maker {
		return newModel(opset, 2, extent).node("y", "Split", "x", append(attrs, number("axis", 1))...).outputs("z")
	}
	for _, c := range []struct {
		name string
		b    *maker
		want string
	}{
		{"Resize to the same size", resize(13, text("mode", "linear"), text("coordinate_transformation_mode", "asymmetric"), text("nearest_mode", "ceil")), ""},
		{"Resize to the same size, cubic", resize(13, text("mode", "cubic"), real("cubic_coeff_a", -0.5)), ""},
		{"Resize without smoothing", resize(18, number("antialias", 0), text("keep_aspect_ratio_policy", "stretch")), ""},
		{"Resize with smoothing", resize(18, number("antialias", 1)), "antialias"},
		{"Resize of a region", resize(13, text("mode", "linear"), text("coordinate_transformation_mode", "tf_crop_and_resize")), "tf_crop_and_resize"},
		{"MaxPool", pool(number("storage_order", 1), number("ceil_mode", 0), list("dilations", 1, 1), text("auto_pad", "NOTSET")), ""},
		{"MaxPool's indices", pool(number("storage_order", 1)).outputs("i"), "output 1"},
		{"MaxPool dilated", pool(list("dilations", 2, 1)), "dilations"},
		{"BatchNormalization", norm(15, number("training_mode", 0), real("momentum", 0.5)), ""},
		{"BatchNormalization in training", norm(15, number("training_mode", 1)), "training_mode"},
		{"BatchNormalization of opset 7", norm(7, number("spatial", 1)), ""},
		{"BatchNormalization of each element", norm(7, number("spatial", 0)), "spatial"},
		{"BatchNormalization of opset 6", norm(6, number("is_test", 1)), ""},
		{"BatchNormalization of opset 6 in training", norm(6), "is_test"},
		{"Dropout of opset 6", newModel(6, 2, 3).node("y", "Dropout", "x", number("is_test", 1)), ""},
		{"Dropout of opset 6 in training", newModel(6, 2, 3).node("y", "Dropout", "x", number("is_test", 0)), "is_test"},
		{"Split", parts(18, 5, number("num_outputs", 2)), ""},
		{"Split of opset 13", parts(13, 5), "2 equal parts of an axis of 5"},
		{"Split of a part", parts(11, 5, list("split", 2, 2)), "split [2 2] of an axis of 5"},
		{"unknown", newModel(13, 2, 3).node("y", "Relu", "x", number("slope", 0)), `attribute "slope" is not translated`},
	} {
		_, err := Net(&onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestPoolingRounding: a rounding is written only where Caffe's own, up, gives another size, and by BVLC's name.
func TestPoolingRounding(t *testing.T) {
	for _, c := range []struct {
		extent int64
		attrs  []*onnxpb.AttributeProto
		want   string
	}{
		{7, []*onnxpb.AttributeProto{list("kernel_shape", 3, 3), list("strides", 2, 2)}, "pool:MAX kernel_size:3 stride:2"},
		{8, []*onnxpb.AttributeProto{list("kernel_shape", 3, 3), list("strides", 2, 2)}, "pool:MAX kernel_size:3 stride:2 round_mode:FLOOR"},
		{8, []*onnxpb.AttributeProto{list("kernel_shape", 3, 3), list("strides", 2, 2), number("ceil_mode", 1)}, "pool:MAX kernel_size:3 stride:2"},
		{8, []*onnxpb.AttributeProto{list("kernel_shape", 3, 3), list("strides", 2, 2), list("pads", 1, 1, 1, 1)}, "pool:MAX pad:1 kernel_size:3 stride:2 round_mode:FLOOR"},
	} {
		b := newModel(13, 2, 3, c.extent, c.extent).node("y", "MaxPool", "x", c.attrs...)
		r, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(r.Net.GetLayer(), func(l *caffepb.LayerParameter) bool { return l.GetType() == "Pooling" })
		if got := strings.Join(strings.Fields(r.Net.GetLayer()[at].GetPoolingParam().String()), " "); got != c.want {
			t.Errorf("%d pixels a side: pooling_param { %s }, not { %s }", c.extent, got, c.want)
		}
	}
}

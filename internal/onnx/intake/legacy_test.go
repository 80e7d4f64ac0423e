package intake

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
)

// TestOldOpsets holds forms of the opsets 1 to 8 against those of today that say the same.
func TestOldOpsets(t *testing.T) {
	strings := func(name string, v ...float32) *onnxpb.AttributeProto {
		a := real(name, 0)
		a.F, a.Type, a.Floats = nil, onnxpb.AttributeProto_FLOATS.Enum(), v
		return a
	}
	one := number("broadcast", 1)
	image := func(opset int64) *maker { return newModel(opset, 2, 3, 4, 5) }
	for _, c := range []struct {
		name       string
		old, today *maker
	}{
		{"channels", image(6).floats("c", 3).node("y", "Add", "x c", one, number("axis", 1)), image(13).floats("c", 3, 1, 1).node("y", "Add", "x c")},
		{"negative axis", image(1).floats("c", 3, 4).node("y", "Mul", "x c", one, number("axis", -3), list("consumed_inputs", 0, 0)), image(13).floats("c", 3, 4, 1).node("y", "Mul", "x c")},
		{"at the end", image(6).floats("c", 4, 5).node("y", "Sub", "x c", one), image(13).floats("c", 4, 5).node("y", "Sub", "x c")},
		{"a number", image(6).floats("c").node("y", "Div", "x c", one, number("axis", 0)), image(13).floats("c").node("y", "Div", "x c")},
		{"a value", image(6).input("c", 3).node("y", "Add", "x c", one, number("axis", 1)), image(13).input("c", 3).ints("s", 3, 1, 1).node("d", "Reshape", "c s").node("y", "Add", "x d")},
		{"slopes", image(6).floats("c", 3).node("y", "PRelu", "x c"), image(13).floats("c", 3, 1, 1).node("y", "PRelu", "x c")},
		{"BatchNormalization", image(6).floats("s", 3).floats("b", 3).floats("m", 3).floats("v", 3).node("y", "BatchNormalization", "x s b m v", number("is_test", 1), number("spatial", 1)),
			image(13).floats("s", 3).floats("b", 3).floats("m", 3).floats("v", 3).node("y", "BatchNormalization", "x s b m v")},
		{"Dropout", image(6).node("y", "Dropout", "x", number("is_test", 1), real("ratio", 0.3)), image(10).node("y", "Dropout", "x", real("ratio", 0.3))},
		{"Gemm", newModel(6, 2, 3).floats("w", 3, 4).floats("c", 4).node("y", "Gemm", "x w c", one), newModel(13, 2, 3).floats("w", 3, 4).floats("c", 4).node("y", "Gemm", "x w c")},
		{"Cast", image(5).node("y", "Cast", "x", text("to", "FLOAT")), image(13).node("y", "Cast", "x", number("to", 1))},
		{"Reshape", image(1).node("y", "Reshape", "x", list("shape", 0, -1)), image(13).ints("s", 0, -1).node("y", "Reshape", "x s")},
		{"Pad", image(1).node("y", "Pad", "x", list("paddings", 0, 0, 1, 2, 0, 0, 3, 0), real("value", 2)), image(11).ints("p", 0, 0, 1, 2, 0, 0, 3, 0).ints("v", 2).node("w", "Cast", "v", number("to", 1)).node("y", "Pad", "x p w")},
		{"Upsample", image(1).node("y", "Upsample", "x", real("height_scale", 2), real("width_scale", 2)), image(7).node("y", "Upsample", "x", strings("scales", 1, 1, 2, 2))},
		{"Tile", image(1).ints("n", 3).ints("a", 2).node("y", "Tile", "x n a"), image(6).ints("r", 1, 1, 3, 1).node("y", "Tile", "x r")},
		{"Slice", image(1).node("y", "Slice", "x", list("axes", 2), list("starts", 1), list("ends", -1)), image(10).ints("a", 2).ints("s", 1).ints("e", -1).node("y", "Slice", "x s e a")},
		{"Clip", image(1).node("y", "Clip", "x", real("min", -0.5), real("max", 0.5), list("consumed_inputs", 0)), image(11).floats("h").node("y", "Clip", "x", real("min", -0.5), real("max", 0.5))},
		{"Concat", image(1).node("y", "Concat", "x x"), image(13).node("y", "Concat", "x x", number("axis", 1))},
		{"Selu", image(1).node("y", "Selu", "x", real("alpha", 2)), image(13).node("y", "Selu", "x", real("alpha", 2), real("gamma", 1.0507))},
	} {
		t.Run(c.name, func(t *testing.T) {
			var values [2]*onnxtest.Tensor
			for k, b := range []*maker{c.old, c.today} {
				_, out := runCase(t, operatorCase{c.name, b})
				values[k] = out["y"]
			}
			if !slices.Equal(values[0].Dims, values[1].Dims) || !slices.Equal(values[0].Data, values[1].Data) {
				t.Errorf("%v, want %v", values[0], values[1])
			}
		})
	}
	for want, b := range map[string]*maker{
		"without is_test: 1": image(6).node("y", "Dropout", "x"),
		"without broadcast":  image(6).floats("c", 5).node("y", "Add", "x c"),
		"from axis 1 on":     image(6).floats("c", 5).node("y", "Add", "x c", one, number("axis", 1)),
		"no opset":           image(0).node("y", "Relu", "x"),
	} {
		_, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		wantError(t, err, want)
	}
}

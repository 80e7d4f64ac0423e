package intake

import (
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"google.golang.org/protobuf/proto"
)

// as gives the input x a type.
func (b *maker) as(kind elementType) *maker {
	b.m.Graph.Input[0].GetType().GetTensorType().ElemType = proto.Int32(int32(kind))
	return b
}

// TestTypes refuses what elements of other types than float compute otherwise, and takes what they do not.
func TestTypes(t *testing.T) {
	to := func(kind elementType) *onnxpb.AttributeProto { return number("to", int64(kind)) }
	input := func() *maker { return newModel(13, 2, 3) }
	for _, c := range []struct {
		name string
		b    *maker
		want string
	}{
		{"string", input().as(onnxpb.TensorProto_STRING).node("y", "Cast", "x", to(float32s)), `input "x": it has type STRING`},
		{"complex", input().as(onnxpb.TensorProto_COMPLEX64).node("y", "Identity", "x"), `input "x": it has type COMPLEX64`},
		{"rounded", input().node("y", "Cast", "x", to(float16s)), "a cast to FLOAT16 rounds"},
		{"rounded and back", input().node("h", "Cast", "x", to(bfloat16s)).node("r", "Transpose", "h").node("y", "Cast", "r", to(float32s)), "a cast to BFLOAT16 rounds"},
		{"of 16 bits", input().as(float16s).node("y", "Cast", "x", to(float32s)), ""},
		{"computes in 16 bits", input().node("h", "Cast", "x", to(float16s)).node("e", "Exp", "h").node("y", "Cast", "e", to(float32s)), ""},
		{"quotient", input().as(int64s).ints("two", 2).node("y", "Div", "x two"), "drops fractions of integers"},
		{"quotient of floats", input().as(int64s).floats("c", 1).node("f", "Cast", "x", to(float32s)).node("y", "Div", "f c"), ""},
		{"small integers", input().as(onnxpb.TensorProto_UINT8).node("y", "Add", "x x"), "modulo its size"},
		{"mean", input().as(onnxpb.TensorProto_INT32).node("y", "ReduceMean", "x"), "drops fractions of integers"},
		{"image", input().as(onnxpb.TensorProto_UINT8).floats("c", 1).node("f", "Cast", "x", to(float32s)).node("y", "Mul", "f c"), ""},
	} {
		r, err := Net(&onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}, 2, onnxtest.Device(t))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if note := err == nil && strings.Contains(strings.Join(r.Notes, "\n"), "floats of 16 bits"); note != (c.name == "computes in 16 bits") {
			t.Errorf("%s: notes %q", c.name, r.Notes)
		}
	}
}

// TestTruths: a cast to truth values is 1 for all but 0.
func TestTruths(t *testing.T) {
	b := newModel(13, 1, 4).node("t", "Cast", "x", number("to", int64(truths))).node("y", "Cast", "t", number("to", 1))
	r, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 1, onnxtest.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	n := build(t, r)
	copy(n.Blob("x").Data(), []float32{0, 1e-30, -3, 0.5})
	forward(t, n)
	compare(t, "y", n.Blob("y").Data(), []float64{0, 1, 1, 1}, 0)
}

// TestRounded: the nearest floats of 16 bits, by IEEE 754's and bfloat16's definitions.
func TestRounded(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct{ from, half, brain float32 }{
		{1, 1, 1}, {1 + 1.0/2048, 1, 1}, {1 + 3.0/2048, 1 + 1.0/512, 1}, {2049, 2048, 2048}, {2051, 2052, 2048}, {65519, 65504, 65536}, {65520, inf, 65536}, {-1e38, -inf, -math.Float32frombits((math.Float32bits(1e38) + 0x8000) &^ 0xffff)},
		{0x1p-24, 0x1p-24, 0x1p-24}, {0x1p-25, 0, 0x1p-25}, {0x1.8p-25, 0x1p-24, 0x1.8p-25}, {math.MaxFloat32, inf, inf}, {0x1p-149, 0, 0},
	} {
		if h, b := rounded(c.from, float16s), rounded(c.from, bfloat16s); h != c.half || b != c.brain {
			t.Errorf("%g becomes %g and %g, not %g and %g", c.from, h, b, c.half, c.brain)
		}
	}
}

// TestGatherFromTheEnd computes indices, of which negative ones count from the end.
func TestGatherFromTheEnd(t *testing.T) {
	b := newModel(13, 3, 2).input("i", 4).node("y", "Gather", "x i")
	b.m.Graph.Input[1].GetType().GetTensorType().ElemType = proto.Int32(int32(int64s))
	r, err := Net(&onnx.Model{ModelProto: b.m, Path: "test.onnx"}, 3, onnxtest.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	n := build(t, r)
	copy(n.Blob("x").Data(), []float32{1, 2, 3, 4, 5, 6})
	copy(n.Blob("i").Data(), []float32{-1, 0, -3, 2})
	forward(t, n)
	compare(t, "y", n.Blob("y").Data(), []float64{5, 6, 1, 2, 1, 2, 5, 6}, 0)
}

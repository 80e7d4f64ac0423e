package intake

import (
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
)

// bound adds a constant of one number.
func (b *maker) bound(name string, value float32) *maker {
	b.floats(name)
	b.m.Graph.Initializer[len(b.m.Graph.Initializer)-1].FloatData[0] = value
	return b
}

type nanCase struct {
	name   string
	b      *maker
	hidden bool // the layer gives a number for NaN, and import says so
}

// nanCases are operators of single elements, which all give NaN for NaN.
func nanCases() (cases []nanCase) {
	x := func() *maker { return newModel(14, 2, 4) }
	for _, op := range strings.Fields("Relu LeakyRelu Elu Sigmoid Tanh Abs Softplus Exp Log Sqrt Neg Reciprocal Softsign Selu Celu Cosh Sinh HardSwish") {
		cases = append(cases, nanCase{op, x().node("y", op, "x"), false})
	}
	for _, op := range []string{"Max", "Min"} {
		cases = append(cases,
			nanCase{op + " of a constant behind", x().floats("c", 4).node("y", op, "x c"), false},
			nanCase{op + " of a constant before", x().floats("c", 2, 1).node("y", op, "c x"), false},
			nanCase{op + " of several", x().floats("c", 4).bound("d", 0.25).node("y", op, "d x c"), true},
			nanCase{op + " of a number", x().bound("c", 0.5).node("y", op, "x c"), true},
		)
	}
	return append(cases,
		nanCase{"PRelu", x().floats("s", 4).node("y", "PRelu", "x s"), false},
		nanCase{"no bounds", x().node("y", "Clip", "x"), true},
		nanCase{"two bounds", x().bound("l", -1).bound("h", 2).node("y", "Clip", "x l h"), true},
		nanCase{"ReLU", x().bound("l", 0).node("y", "Clip", "x l"), false},
		nanCase{"ReLU6", x().bound("l", 0).bound("h", 6).node("y", "Clip", "x l h"), true},
		nanCase{"HardSigmoid", x().node("y", "HardSigmoid", "x"), true},
		nanCase{"Sign", x().node("y", "Sign", "x"), true},
	)
}

var nanInput = &onnxtest.Tensor{Dims: []int{2, 4}, Data: []float64{math.NaN(), 1, 0.125, 3, 0.5, math.NaN(), 0.75, 7}}

// TestNotANumber: NaN stays NaN in single elements, or import says that a layer hides it.
func TestNotANumber(t *testing.T) {
	device := onnxtest.Device(t)
	for _, c := range nanCases() {
		m := &onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}
		r, err := Net(m, 2, device)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if said := strings.Contains(strings.Join(r.Notes, "\n"), "NaN"); said != c.hidden {
			t.Errorf("%s: notes %q", c.name, r.Notes)
		}
		got, err := computed(m, []*onnxtest.Tensor{nanInput}, device)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, x := range nanInput.Data {
			if math.IsNaN(got[0].Data[i]) != (math.IsNaN(x) && !c.hidden) {
				t.Errorf("%s: %v becomes %v", c.name, nanInput.Data, got[0].Data)
				break
			}
		}
	}
}

// TestNotANumberRuntime: ONNX Runtime gives NaN for NaN in all of these.
func TestNotANumberRuntime(t *testing.T) {
	o := onnxtest.StartOracle(t, "SWCAFFE_ONNX_RUNTIME")
	for _, c := range nanCases() {
		c.b.m.Graph.Output[0].Type.GetTensorType().Shape = nil
		want, err := o.Run(t, c.b.m, map[string]*onnxtest.Tensor{"x": nanInput})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, x := range nanInput.Data {
			if math.IsNaN(want["y"].Data[i]) != math.IsNaN(x) {
				t.Errorf("%s: ONNX Runtime makes %v of %v", c.name, want["y"].Data, nanInput.Data)
				break
			}
		}
	}
}

package all_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// stdMax and stdMin are those of C++, which return the first argument if either is NaN.
func stdMax(a, b float64) float64 {
	if a < b {
		return b
	}
	return a
}

func stdMin(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

// holds returns a C++ comparison as 0 or 1.
func holds(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// extreme is a function and its gradient as Caffe's CPU code computes them, with its comparisons and products with 0.
type extreme struct {
	typ, param string
	f          func(x float64) float64
	grad       func(x, y, dy float64) float64 // nil if there is none, or if Caffe's divides by 0 where the derivative exists
}

func reluExtreme(typ, param string, slope float64) extreme {
	return extreme{typ, param, func(x float64) float64 { return stdMax(x, 0) + single(slope*stdMin(x, 0)) },
		func(x, _, dy float64) float64 {
			if x != x && slope != 0 {
				return dy * slope // Caffe's is dy * 0
			}
			return dy * (holds(x > 0) + slope*holds(x <= 0))
		}}
}

var extremes = []extreme{
	reluExtreme("ReLU", "", 0),
	reluExtreme("ReLU", "relu_param { negative_slope: 0.5 }", 0.5),
	reluExtreme("ReLU", "relu_param { negative_slope: -0.5 }", -0.5),
	reluExtreme("PReLU", "", 0.25),
	reluExtreme("PReLU", "prelu_param { filler { value: 0 } }", 0),
	reluExtreme("PReLU", "prelu_param { filler { value: -0.5 } }", -0.5),
	reluExtreme("PReLU", "prelu_param { filler { value: -2 } channel_shared: true }", -2),
	{"Sigmoid", "", func(x float64) float64 { return 0.5*math.Tanh(0.5*x) + 0.5 }, func(_, y, dy float64) float64 { return dy * y * (1 - y) }},
	{"TanH", "", math.Tanh, func(_, y, dy float64) float64 { return dy * (1 - y*y) }},
	{"AbsVal", "", math.Abs, func(x, _, dy float64) float64 { return dy * (holds(x > 0) - holds(x < 0)) }},
	{"BNLL", "", func(x float64) float64 {
		if x > 0 {
			return x + math.Log(1+math.Exp(-x))
		}
		return math.Log(1 + math.Exp(x))
	}, func(x, _, dy float64) float64 { e := math.Exp(stdMin(x, 50)); return dy * e / (e + 1) }},
	{"Clip", "clip_param { min: -0.75 max: 2 }", func(x float64) float64 { return stdMax(-0.75, stdMin(x, 2)) },
		func(x, _, dy float64) float64 { return dy * holds(x >= -0.75 && x <= 2) }},
	{"Clip", "clip_param { min: 0 max: 2 }", func(x float64) float64 { return stdMax(0, stdMin(x, 2)) },
		func(x, _, dy float64) float64 { return dy * holds(x >= 0 && x <= 2) }},
	{"Clip", "clip_param { min: -2 max: 0 }", func(x float64) float64 { return stdMax(-2, stdMin(x, 0)) },
		func(x, _, dy float64) float64 { return dy * holds(x >= -2 && x <= 0) }},
	{"ELU", "elu_param { alpha: 0.5 }", func(x float64) float64 { return stdMax(x, 0) + single(0.5*(math.Exp(stdMin(x, 0))-1)) },
		func(x, y, dy float64) float64 { return dy * (holds(x > 0) + (0.5+y)*holds(x <= 0)) }},
	{"Threshold", "", func(x float64) float64 { return holds(x > 0) }, nil},
	{"Swish", "", func(x float64) float64 { return x / (1 + math.Exp(-x)) },
		func(x, y, dy float64) float64 { s := 1 / (1 + math.Exp(-x)); return dy * (y + s*(1-y)) }},
	{"Exp", "", math.Exp, func(_, y, dy float64) float64 { return y * dy }},
	{"Log", "", math.Log, func(x, _, dy float64) float64 { return dy / x }},
	{"Power", "", func(x float64) float64 { return x }, func(_, _, dy float64) float64 { return dy }},
	{"Power", "power_param { scale: -2 }", func(x float64) float64 { return -2 * x }, func(_, _, dy float64) float64 { return -2 * dy }},
	{"Power", "power_param { scale: -1 shift: 1 }", func(x float64) float64 { return 1 - x }, func(_, _, dy float64) float64 { return -dy }},
	{"Power", "power_param { power: 2 shift: 1 }", func(x float64) float64 { return (x + 1) * (x + 1) }, func(x, _, dy float64) float64 { return (2*x + 2) * dy }},
	{"Power", "power_param { power: 3 }", func(x float64) float64 { return math.Pow(x, 3) }, nil},
	{"Power", "power_param { power: 0 }", func(float64) float64 { return 1 }, func(_, _, dy float64) float64 { return 0 * dy }},
	{"Power", "power_param { power: 3 scale: 0 shift: 2 }", func(float64) float64 { return 8 }, func(_, _, dy float64) float64 { return 0 * dy }},
}

// single rounds a value to single precision, in which Caffe computes.
func single(x float64) float64 { return float64(float32(x)) }

// forks are layers that Caffe does not have, by their own formulas. They turn NaN into a bound.
var forks = []extreme{
	{"ReLU6", "", func(x float64) float64 { return stdMax(0, stdMin(x, 6)) }, func(x, _, dy float64) float64 { return dy * holds(x > 0 && x < 6) }},
	{"HardSigmoid", "", func(x float64) float64 { return stdMax(0, stdMin(0.2*x+0.5, 1)) }, nil},
	{"HardSwish", "", func(x float64) float64 { return x * stdMax(0, stdMin(x+3, 6)) / 6 }, nil},
	{"Mish", "", func(x float64) float64 { return x * math.Tanh(math.Log(1+math.Exp(x))) }, nil},
	{"Noise", "noise_param { gaussian_std: 1 }", func(x float64) float64 { return x }, func(_, _, dy float64) float64 { return dy }},
}

// TestNeuronsAtExtremes: functions of single values give Caffe's results on both paths for huge, infinite and NaN values and gradients.
func TestNeuronsAtExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	var x, dy []float32
	for _, g := range []float32{2, -3, inf, nan} {
		for _, v := range []float32{inf, -inf, 1e30, -1e30, nan, 0, 1, -1, 0.5} {
			x, dy = append(x, v), append(dy, g)
		}
	}
	b := layertest.NewBench(t)
	for _, tt := range extremes {
		var y, dx []float32
		for i, v := range x {
			y = append(y, float32(tt.f(float64(v))))
			if tt.grad != nil {
				dx = append(dx, float32(tt.grad(float64(v), float64(y[i]), float64(dy[i]))))
			}
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: tt.param, KeepWeights: true,
				Bottoms: []layertest.Bottom{layertest.Given(x, 2, 2, len(x)/4)}})
			name := tt.typ + " " + tt.param + " on " + engine.String()
			layertest.Equal(t, name, f.Forward(t)[0], y, 2e-6)
			if tt.grad != nil {
				got, _ := f.Backward(t, dy)
				layertest.Equal(t, name+": gradient", got[0], dx, 2e-6)
			}
		}
	}
}

// TestSignsOfZeros: where a function of single values or its gradient is 0, the sign is the formula's, on both paths, at every vector level, in
// place and not. Every layer of package neuron has a formula.
func TestSignsOfZeros(t *testing.T) {
	inf, nan, tiny, zero := float32(math.Inf(1)), float32(math.NaN()), float32(math.SmallestNonzeroFloat32), float32(0)
	var x, dy []float32
	for _, g := range []float32{2, -2, zero, -zero} {
		for _, v := range []float32{zero, 5, tiny, 3 * tiny, 1e-39, 0x1p-126, 1e-30, 1, 3, 6, 200, 1e30, inf, nan} {
			x, dy = append(x, v, float32(math.Copysign(float64(v), -1))), append(dy, g, g)
		}
	}
	all := slices.Concat(extremes, forks)
	for _, typ := range layers.Types() {
		layer := reflect.TypeOf(typ.New(&caffepb.LayerParameter{}, &layers.Device{})).Elem()
		if strings.HasSuffix(layer.PkgPath(), "layers/neuron") && !slices.ContainsFunc(all, func(e extreme) bool { return e.typ == typ.Name }) {
			t.Errorf("%s has no formula here", typ.Name)
		}
	}
	simdtest.Each(t, func(t *testing.T) {
		b := layertest.NewBench(t)
		for _, tt := range all {
			for _, engine := range layertest.Engines() {
				tt.zeros(t, b, engine, x, dy)
			}
		}
	})
}

// zeros compares the signs of zeros.
func (e *extreme) zeros(t *testing.T, b *layertest.Bench, engine layers.Engine, x, dy []float32) {
	typ, err := layers.Find(e.typ)
	if err != nil {
		t.Fatal(err)
	}
	for _, inPlace := range []bool{false, true} {
		if inPlace && !typ.InPlace {
			continue
		}
		c := layertest.Case{Type: e.typ, Param: e.param, KeepWeights: true, InPlace: inPlace, Phase: caffepb.Phase_TEST,
			Bottoms: []layertest.Bottom{layertest.Given(x, 2, 2, len(x)/4)}}
		f, name := layertest.Build(t, b, engine, c), fmt.Sprintf("%s %s on %v, in place %v", e.typ, e.param, engine, inPlace)
		y := f.Forward(t)[0]
		var dx []float32
		if e.grad != nil && !inPlace {
			grads, _ := f.Backward(t, dy)
			dx = grads[0]
		}
		for i, v := range x {
			want := float32(e.f(float64(v)))
			if other(y[i], want) {
				t.Errorf("%s: f(%g) is %v, want %v", name, v, y[i], want)
			}
			if dx != nil {
				if want = float32(e.grad(float64(v), float64(want), float64(dy[i]))); other(dx[i], want) {
					t.Errorf("%s: the gradient at %g times %g is %v, want %v", name, v, dy[i], dx[i], want)
				}
			}
		}
	}
}

// other reports whether two values are zeros of different signs.
func other(got, want float32) bool {
	return got == 0 && want == 0 && math.Signbit(float64(got)) != math.Signbit(float64(want))
}

// TestLayersAtExtremes: other layers give Caffe's results for infinities and NaN.
func TestLayersAtExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tests := []struct {
		typ, param string
		xs         [][]float32
		want       []float32
	}{
		{"Softmax", "", [][]float32{{inf, -inf, 0, nan}}, []float32{nan, nan, nan, nan}},
		{"Softmax", "", [][]float32{{1e30, -inf, 0, -1e30}}, []float32{1, 0, 0, 0}},
		{"Dropout", "dropout_param { dropout_ratio: 0.999 }", [][]float32{{inf, -inf, nan, 1}}, []float32{nan, nan, nan, 0}},
		{"HingeLoss", "", [][]float32{{nan, 3, -2}, {1}}, []float32{0}},
		{"HingeLoss", "hinge_loss_param { norm: L2 }", [][]float32{{inf, 3, nan}, {1}}, []float32{inf}},
		{"SigmoidCrossEntropyLoss", "", [][]float32{{nan}, {0}}, []float32{nan}},
		{"MultinomialLogisticLoss", "", [][]float32{{0, nan}, {1}}, []float32{nan}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			c := layertest.Case{Type: tt.typ, Param: tt.param}
			for _, x := range tt.xs {
				c.Bottoms = append(c.Bottoms, layertest.Given(x, 1, len(x)))
			}
			f := layertest.Build(t, b, engine, c)
			layertest.Equal(t, tt.typ+" "+tt.param+" on "+engine.String(), f.Forward(t)[0], tt.want, 2e-6)
		}
	}
}

package all_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	away := func(kinks ...float32) []layertest.Bottom {
		return []layertest.Bottom{layertest.Filled(layertest.AwayFrom(0.05, kinks...), 2, 3, 4)}
	}
	positive := []layertest.Bottom{layertest.Filled(layertest.Uniform(0.5, 2), 2, 3, 4)}
	again := [][]int{{70, 3, 110}}
	add := func(typ, name, param string, bottoms []layertest.Bottom) {
		addCases(typ, layertest.Case{Name: name, Param: param, Bottoms: bottoms, Again: again})
	}
	add("ReLU", "", "", away(0))
	add("ReLU", "slope", "relu_param { negative_slope: 0.3 }", away(0))
	add("Sigmoid", "", "", away())
	add("TanH", "", "", away())
	add("Swish", "", "swish_param { beta: 1.5 }", away())
	add("AbsVal", "", "", away(0))
	add("BNLL", "", "", away())
	add("Clip", "", "clip_param { min: -0.5 max: 0.4 }", away(-0.5, 0.4))
	add("ELU", "", "elu_param { alpha: 0.7 }", away(0))
	add("Power", "square", "power_param { power: 2 scale: 3 shift: 1 }", away())
	add("Power", "line", "power_param { scale: 3 shift: 1 }", away())
	add("Power", "root", "power_param { power: -0.5 scale: 0.5 shift: 1 }", positive)
	add("Power", "constant", "power_param { power: 0 scale: 2 }", positive)
	add("Exp", "", "exp_param { scale: 0.5 shift: 0.2 }", away())
	add("Exp", "base 2", "exp_param { base: 2 }", away())
	add("Log", "", "log_param { scale: 0.5 shift: 0.2 }", positive)
	add("Log", "base 10", "log_param { base: 10 }", positive)
	add("Threshold", "", "threshold_param { threshold: 0.2 }", away(0.2))
	add("PReLU", "", "", away(0))
	addCases("PReLU",
		layertest.Case{Name: "shared", Param: "prelu_param { channel_shared: true }", Bottoms: away(0), Again: [][]int{{3, 2, 9}}},
		layertest.Case{Name: "in place", InPlace: true, Bottoms: []layertest.Bottom{layertest.Filled(layertest.AwayFrom(0.05, 0), 2, 3, 40)}},
		layertest.Case{Name: "vectors", Bottoms: []layertest.Bottom{layertest.Filled(layertest.AwayFrom(0.05, 0), 5, 7)}, Again: [][]int{{301, 7}}},
		layertest.Case{Name: "many values", Bottoms: []layertest.Bottom{layertest.In(2, 5, 61, 40)}, NoGradient: "checked by the small cases"})
	addCases("ReLU", layertest.Case{Name: "in place", InPlace: true, Bottoms: away(0)})
	addCases("Sigmoid", layertest.Case{Name: "in place", InPlace: true, Bottoms: away()})
	addCases("Swish", layertest.Case{Name: "in place", InPlace: true, Bottoms: away()})
	addCases("ELU", layertest.Case{Name: "in place", InPlace: true, Bottoms: away(0)})
}

// TestNeuronsByHand compares every function and its derivative at a few points with values computed by hand.
func TestNeuronsByHand(t *testing.T) {
	e, ln2 := math.E, math.Ln2
	tests := []struct {
		typ, param string
		x, y, dx   []float64
	}{
		{"ReLU", "", []float64{-2, 0, 3}, []float64{0, 0, 3}, []float64{0, 0, 1}},
		{"ReLU", "relu_param { negative_slope: 0.1 }", []float64{-2, 0, 3}, []float64{-0.2, 0, 3}, []float64{0.1, 0.1, 1}},
		{"Sigmoid", "", []float64{0, math.Log(3)}, []float64{0.5, 0.75}, []float64{0.25, 0.1875}},
		{"TanH", "", []float64{0, math.Log(2)}, []float64{0, 0.6}, []float64{1, 0.64}},
		{"Swish", "swish_param { beta: 2 }", []float64{0}, []float64{0}, []float64{0.5}},
		{"AbsVal", "", []float64{-3, 0, 2}, []float64{3, 0, 2}, []float64{-1, 0, 1}},
		{"BNLL", "", []float64{0, 1000, -1000}, []float64{ln2, 1000, 0}, []float64{0.5, 1, 0}},
		{"Clip", "clip_param { min: -1 max: 2 }", []float64{-3, -1, 0, 2, 5}, []float64{-1, -1, 0, 2, 2}, []float64{0, 1, 1, 1, 0}},
		{"ELU", "elu_param { alpha: 2 }", []float64{-ln2, 3}, []float64{-1, 3}, []float64{1, 1}},
		{"Power", "power_param { power: 3 scale: 2 shift: 1 }", []float64{1, -2}, []float64{27, -27}, []float64{54, 54}},
		{"Exp", "exp_param { base: 2 scale: 3 shift: 1 }", []float64{0, 1}, []float64{2, 16}, []float64{6 * ln2, 48 * ln2}},
		{"Log", "log_param { scale: 2 }", []float64{e / 2}, []float64{1}, []float64{2 / e}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			c := layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: []layertest.Bottom{layertest.Given(floats(tt.x), len(tt.x))}}
			f := layertest.Build(t, b, engine, c)
			layertest.Equal(t, tt.typ, f.Forward(t)[0], floats(tt.y), 2e-6)
			ones := make([]float32, len(tt.x))
			for i := range ones {
				ones[i] = 1
			}
			dx, _ := f.Backward(t, ones)
			layertest.Equal(t, tt.typ+" gradient", dx[0], floats(tt.dx), 2e-6)
		}
	}
}

func floats(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}

func TestNeuronErrors(t *testing.T) {
	b := layertest.NewBench(t)
	one := []layertest.Bottom{layertest.In(2, 3)}
	wantError(t, b, layertest.Case{Type: "Dropout", Param: "dropout_param { dropout_ratio: 1 }", Bottoms: one}, "less than 1", "it is 1")
	wantError(t, b, layertest.Case{Type: "Dropout", Param: "dropout_param { dropout_ratio: -0.5 }", Bottoms: one}, "at least 0", "it is -0.5")
	wantError(t, b, layertest.Case{Type: "Exp", Param: "exp_param { base: -3 }", Bottoms: one}, "base", "-3")
	wantError(t, b, layertest.Case{Type: "Log", Param: "log_param { base: 1 }", Bottoms: one}, "base must not be 1")
	wantError(t, b, layertest.Case{Type: "Clip", Bottoms: one}, "clip_param")
	wantError(t, b, layertest.Case{Type: "PReLU", Bottoms: []layertest.Bottom{layertest.In(3)}}, "axes", "3 (3)")
}

// TestThresholdIsStrict: a value equal to the threshold gives 0.
func TestThresholdIsStrict(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{
			Type: "Threshold", Param: "threshold_param { threshold: 0.5 }", Bottoms: []layertest.Bottom{layertest.Given([]float32{0.4, 0.5, 0.6, -1}, 4)},
		})
		layertest.Equal(t, "Threshold", f.Forward(t)[0], []float32{0, 0, 1, 0}, 0)
	}
}

// TestPReLUByHand: slopes start at 0.25, one per channel. Their gradients are the sums of dy * x over negative x.
func TestPReLUByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		for _, inPlace := range []bool{false, true} {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "PReLU", InPlace: inPlace, KeepWeights: true,
				Bottoms: []layertest.Bottom{layertest.Given([]float32{1, -2, -3, 4, -5, 6, 7, -8}, 2, 2, 2)}})
			layertest.Equal(t, "first slopes", f.Weight(0), []float32{0.25, 0.25}, 0)
			f.SetWeight(0, 0.5, -2)
			layertest.Equal(t, "y", f.Forward(t)[0], []float32{1, -1, 6, 4, -2.5, 6, 7, 16}, 0)
			dx, da := f.Backward(t, []float32{1, 2, 3, 4, 5, 6, 7, 8})
			layertest.Equal(t, "dx", dx[0], []float32{1, 1, -6, 4, 2.5, 6, 7, -16}, 0)
			layertest.Equal(t, "da", da[0], []float32{-4 - 25, -9 - 64}, 0)
		}
	}
}

// TestBNLLFarBelowZero: small results, about e^x, have full precision, like Caffe's, which adds 1 in double precision.
func TestBNLLFarBelowZero(t *testing.T) {
	var x []float32
	for v := float32(-80); v < 20; v += 0.37 {
		x = append(x, v)
	}
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "BNLL", Bottoms: []layertest.Bottom{layertest.Given(x, len(x))}})
		for i, y := range f.Forward(t)[0] {
			v := float64(x[i])
			if want := max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))); math.Abs(float64(y)-want) > 1e-6*want {
				t.Errorf("%v: BNLL of %g is %g, not %g", engine, v, y, want)
			}
		}
	}
}

// TestInPlaceAsCaffe: in place, Caffe's Power and Log layers lose the top's gradient and return the square of the derivative at y. BNLL
// takes its derivative at y.
func TestInPlaceAsCaffe(t *testing.T) {
	b := layertest.NewBench(t)
	x := []float32{1, 0.5}
	tests := []struct {
		typ, param string
		dx         []float32
	}{
		{"Power", "power_param { scale: 3 shift: 1 }", []float32{9, 9}},
		{"Power", "power_param { power: 2 }", []float32{4, 0.25}},
		{"Power", "power_param { power: 3 }", []float32{9, 9}},
		{"Power", "power_param { power: 3 shift: 1 }", []float32{64. / 9, 36 * 3.375 * 3.375 / (4 * 4.375 * 4.375)}},
		{"BNLL", "", []float32{float32(5 * (1 + math.E) / (2 + math.E)), float32(5 * (1 + math.Sqrt(math.E)) / (2 + math.Sqrt(math.E)))}},
		{"Log", "log_param { shift: 1 }", []float32{float32(1 / math.Pow(1+math.Log(2), 2)), float32(1 / math.Pow(1+math.Log(1.5), 2))}},
	}
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: tt.param, InPlace: true, Bottoms: []layertest.Bottom{layertest.Given(x, 2)}})
			layertest.Equal(t, tt.typ+" "+tt.param, backwardInPlace(t, f), tt.dx, 2e-6)
		}
	}
}

// backwardInPlace runs forward and backward with 5 for every gradient of the top.
func backwardInPlace(t *testing.T, f *layertest.Fixture) []float32 {
	dy := make([]float32, f.Top[0].Count())
	for i := range dy {
		dy[i] = 5
	}
	dx, _ := f.Backward(t, dy)
	return dx[0]
}

package layers_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	away := func(kinks ...float32) []layertest.Bottom {
		return []layertest.Bottom{layertest.Filled(layertest.AwayFrom(0.05, kinks...), 2, 3, 4)}
	}
	positive := []layertest.Bottom{layertest.Filled(layertest.Uniform(0.5, 2), 2, 3, 4)}
	again := [][]int{{70, 11, 30}}
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
	addCases("ReLU", layertest.Case{Name: "in place", InPlace: true, Bottoms: away(0)})
	addCases("Sigmoid", layertest.Case{Name: "in place", InPlace: true, Bottoms: away()})
	addCases("Swish", layertest.Case{Name: "in place", InPlace: true, Bottoms: away()})
	addCases("ELU", layertest.Case{Name: "in place", InPlace: true, Bottoms: away(0)})
}

// TestNeuronsByHand holds every function and its slope at a few points against values worked out by hand.
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

func init() {
	addCases("Dropout",
		layertest.Case{Name: "train", Param: "dropout_param { dropout_ratio: 0.3 }", Bottoms: []layertest.Bottom{layertest.In(4, 50)}, Again: [][]int{{3, 30000}}},
		layertest.Case{Name: "test", Phase: caffepb.Phase_TEST, Bottoms: []layertest.Bottom{layertest.In(4, 5)}},
		layertest.Case{Name: "in place", InPlace: true, Bottoms: []layertest.Bottom{layertest.In(4, 50)}})
}

// TestDropoutShare: the share of zeros is the ratio within four standard deviations, the rest is scaled by 1/(1-ratio), the
// mask of the gradient is that of the values, and the next pass has another.
func TestDropoutShare(t *testing.T) {
	const n, ratio = 100000, 0.3
	b := layertest.NewBench(t)
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	f := layertest.Build(t, b, layers.CPE, layertest.Case{
		Type: "Dropout", Param: "dropout_param { dropout_ratio: 0.3 }", Bottoms: []layertest.Bottom{layertest.Given(ones, n)},
	})
	y := append([]float32(nil), f.Forward(t)[0]...)
	zeros := 0
	for i, v := range y {
		switch {
		case v == 0:
			zeros++
		case math.Abs(float64(v)-1/(1-ratio)) > 1e-6:
			t.Fatalf("value %d is %g", i, v)
		}
	}
	if sd := math.Sqrt(ratio * (1 - ratio) * n); math.Abs(float64(zeros)-ratio*n) > 4*sd {
		t.Errorf("%d zeros of %d, want about %g", zeros, n, ratio*n)
	}
	dx, _ := f.Backward(t, ones)
	layertest.Equal(t, "gradient", dx[0], y, 0)
	if err := f.Layer.Forward(f.Bottom, f.Top); err != nil {
		t.Fatal(err)
	}
	same := 0
	for i, v := range f.Top[0].Data() {
		if v == y[i] {
			same++
		}
	}
	if same == n {
		t.Error("two passes have the same mask")
	}
}

func TestNeuronErrors(t *testing.T) {
	b := layertest.NewBench(t)
	one := []layertest.Bottom{layertest.In(2, 3)}
	wantError(t, b, layertest.Case{Type: "Dropout", Param: "dropout_param { dropout_ratio: 1 }", Bottoms: one}, "between 0 and 1", "it is 1")
	wantError(t, b, layertest.Case{Type: "Exp", Param: "exp_param { base: -3 }", Bottoms: one}, "base", "-3")
	wantError(t, b, layertest.Case{Type: "Log", Param: "log_param { base: 1 }", Bottoms: one}, "base must not be 1")
	wantError(t, b, layertest.Case{Type: "Clip", Bottoms: one}, "clip_param")
}

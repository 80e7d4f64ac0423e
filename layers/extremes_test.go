package layers_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

// TestNeuronsAtExtremes: both paths agree where values are huge, infinite or not a number, and give the limits. (ReLU
// multiplies by a negative slope of 0, as Caffe's does.)
func TestNeuronsAtExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := []float32{inf, -inf, 1e30, -1e30, nan, 0}
	tests := []struct {
		typ  string
		want []float32
	}{
		{"ReLU", []float32{inf, nan, 1e30, 0, nan, 0}},
		{"Sigmoid", []float32{1, 0, 1, 0, nan, 0.5}},
		{"TanH", []float32{1, -1, 1, -1, nan, 0}},
		{"AbsVal", []float32{inf, inf, 1e30, 1e30, nan, 0}},
		{"BNLL", []float32{inf, 0, 1e30, 0, nan, math.Ln2}},
		{"ELU", []float32{inf, -1, 1e30, -1, nan, 0}},
		{"Exp", []float32{inf, 0, inf, 0, nan, 1}},
		{"PReLU", []float32{inf, -inf, 1e30, -0.25e30, nan, 0}},
		{"Power", []float32{inf, -inf, 1e30, -1e30, nan, 0}},
		{"Softmax", []float32{nan, nan, nan, nan, nan, nan}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, KeepWeights: true, Bottoms: []layertest.Bottom{layertest.Given(x, 1, len(x))}})
			layertest.Equal(t, tt.typ+" on "+engine.String(), f.Forward(t)[0], tt.want, 2e-6)
		}
	}
}

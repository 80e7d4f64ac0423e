package all_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

// conts is a bottom of sequence indicators. Every sequence starts at t = 0, and some start again later.
func conts(t, n int) layertest.Bottom {
	return layertest.Bottom{Shape: []int{t, n}, NoGradient: true, Fill: func(r *rand.Rand, v []float32) {
		for i := range v {
			if v[i] = 0; i >= n && r.IntN(3) > 0 {
				v[i] = 1
			}
		}
	}}
}

func init() {
	const param = "recurrent_param { num_output: 3 "
	still := func(shape ...int) layertest.Bottom { return layertest.Bottom{Shape: shape, NoGradient: true} }
	x, cont := layertest.In(4, 2, 5), conts(4, 2)
	for _, typ := range []string{"LSTM", "RNN"} {
		hidden := []layertest.Bottom{still(1, 2, 3), still(1, 2, 3)}
		if typ == "RNN" {
			hidden = hidden[:1]
		}
		addCases(typ,
			layertest.Case{Param: param + "}", Bottoms: []layertest.Bottom{x, cont}, Again: [][]int{{4, 3, 5}, {4, 3}}},
			layertest.Case{Name: "static", Param: param + "}", Bottoms: []layertest.Bottom{x, cont, layertest.In(2, 2)}, Again: [][]int{{4, 3, 5}, {4, 3}, {3, 2}}},
			layertest.Case{Name: "expose hidden", Param: param + "expose_hidden: true }", Tops: 1 + len(hidden), GradTops: 1,
				Bottoms: append([]layertest.Bottom{x, {Shape: []int{4, 2}, NoGradient: true, Fill: layertest.Uniform(1, 1)}}, hidden...)},
			layertest.Case{Name: "wide", Param: "recurrent_param { num_output: 70 }", NoGradient: "others check it", Paths: 1e-4,
				Bottoms: []layertest.Bottom{layertest.In(3, 20, 40), conts(3, 20)}})
	}
	addCases("LSTMUnit", layertest.Case{Tops: 2, Again: [][]int{{1, 5, 40}, {1, 5, 160}, {1, 5}},
		Bottoms: []layertest.Bottom{layertest.In(1, 3, 4), layertest.In(1, 3, 16), conts(1, 3)}})
	addCases("LSTMUnit", layertest.Case{Name: "going on", Tops: 2, Bottoms: []layertest.Bottom{
		layertest.In(1, 3, 4), layertest.In(1, 3, 16), {Shape: []int{1, 3}, NoGradient: true, Fill: layertest.Uniform(1, 1)}}})
}

// TestLSTMUnitByHand: the gates are 1/2, 1/2, 1/2 and tanh(ln 2) = 0.6, the cell starts at 1.
func TestLSTMUnitByHand(t *testing.T) {
	b := layertest.NewBench(t)
	ln2 := float32(math.Ln2)
	for cont, c := range []float64{0.3, 0.8} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "LSTMUnit", Tops: 2, Bottoms: []layertest.Bottom{
				layertest.Given([]float32{1}, 1, 1, 1), layertest.Given([]float32{0, 0, 0, ln2}, 1, 1, 4), layertest.Given([]float32{float32(cont)}, 1, 1)}})
			tops := f.Forward(t)
			layertest.Equal(t, "c", tops[0], floats([]float64{c}), 1e-6)
			layertest.Equal(t, "h", tops[1], floats([]float64{math.Tanh(c) / 2}), 1e-6)
		}
	}
}

// TestRNNCarriesStateOver: with x = 0, no output bias and unit weights, h = tanh(b + cont * h').
func TestRNNCarriesStateOver(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "RNN", Param: "recurrent_param { num_output: 1 }",
			Bottoms: []layertest.Bottom{layertest.Given([]float32{0, 0}, 2, 1, 1), layertest.Given([]float32{1, 1}, 2, 1)}})
		for i, v := range []float32{1, 0.5, 1, 1, 0} {
			f.SetWeight(i, v)
		}
		h := 0.0
		for pass := range 3 {
			var want []float64
			for range 2 {
				h = math.Tanh(0.5 + h)
				want = append(want, math.Tanh(h))
			}
			if pass == 2 {
				want = want[:2]
			}
			layertest.Equal(t, "o", f.Forward(t)[0], floats(want), 1e-6)
		}
	}
}

func TestRecurrentErrors(t *testing.T) {
	b := layertest.NewBench(t)
	x := layertest.In(4, 2, 5)
	wantError(t, b, layertest.Case{Type: "LSTM", Bottoms: []layertest.Bottom{x, conts(4, 2)}}, "num_output", "0")
	wantError(t, b, layertest.Case{Type: "LSTM", Param: "recurrent_param { num_output: 2 }", Bottoms: []layertest.Bottom{x, conts(4, 3)}}, "4 2", "4 3 (12)")
	wantError(t, b, layertest.Case{Type: "LSTM", Param: "recurrent_param { num_output: 2 }", Bottoms: []layertest.Bottom{layertest.In(4, 2), conts(4, 2)}}, "bottom[0]", "3 axes", "4 2 (8)")
	wantError(t, b, layertest.Case{Type: "RNN", Param: "recurrent_param { num_output: 2 }", Bottoms: []layertest.Bottom{x, conts(4, 2), layertest.In(2)}}, "bottom[2]", "2 axes", "2 (2)")
	wantError(t, b, layertest.Case{Type: "RNN", Param: "recurrent_param { num_output: 2 expose_hidden: true }", Tops: 2,
		Bottoms: []layertest.Bottom{x, conts(4, 2), layertest.In(1, 2, 3)}}, "1 2 2", "1 2 3 (6)")
	wantError(t, b, layertest.Case{Type: "LSTMUnit", Tops: 2, Bottoms: []layertest.Bottom{layertest.In(1, 2, 3), layertest.In(1, 2, 3), conts(1, 2)}}, "12", "1 2 3 (6)")
}

package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	two := func(second ...int) []layertest.Bottom {
		return []layertest.Bottom{layertest.In(2, 3, 2, 2), layertest.In(second...)}
	}
	one := []layertest.Bottom{layertest.In(2, 3, 2, 2)}
	addCases("Scale",
		layertest.Case{Name: "by channel", Bottoms: one, Again: [][]int{{3, 3, 1, 5}}},
		layertest.Case{Name: "with bias", Param: "scale_param { bias_term: true }", Bottoms: one},
		layertest.Case{Name: "in place with bias", Param: "scale_param { bias_term: true }", Bottoms: one, InPlace: true, Again: [][]int{{1, 3, 4, 1}}},
		layertest.Case{Name: "vectors", Param: "scale_param { bias_term: true }", Bottoms: []layertest.Bottom{layertest.In(5, 7)}},
		layertest.Case{Name: "two axes", Param: "scale_param { axis: 1 num_axes: 2 }", Bottoms: one},
		layertest.Case{Name: "all axes", Param: "scale_param { axis: 0 num_axes: -1 bias_term: true }", Bottoms: one},
		layertest.Case{Name: "one factor", Param: "scale_param { num_axes: 0 bias_term: true }", Bottoms: one},
		layertest.Case{Name: "axis from the end", Param: "scale_param { axis: -1 }", Bottoms: one},
		layertest.Case{Name: "second bottom", Bottoms: two(3, 2)},
		layertest.Case{Name: "second bottom with bias", Param: "scale_param { axis: 0 bias_term: true }", Bottoms: two(2, 3)},
		layertest.Case{Name: "second bottom in place", Bottoms: two(3), InPlace: true},
		layertest.Case{Name: "second bottom without axes", Param: "scale_param { axis: 0 }", Bottoms: two()},
		layertest.Case{Name: "many values", Param: "scale_param { bias_term: true }", Bottoms: []layertest.Bottom{layertest.In(3, 41, 19, 18)},
			NoGradient: "checked by the small cases"},
		layertest.Case{Name: "many channels", Param: "scale_param { bias_term: true }", Bottoms: []layertest.Bottom{layertest.In(7, 5003)},
			NoGradient: "checked by the small cases"},
	)
	addCases("Bias",
		layertest.Case{Name: "by channel", Bottoms: one, Again: [][]int{{1, 3, 2, 5}}},
		layertest.Case{Name: "in place", Bottoms: one, InPlace: true},
		layertest.Case{Name: "one summand", Param: "bias_param { num_axes: 0 }", Bottoms: one},
		layertest.Case{Name: "second bottom", Param: "bias_param { axis: 2 }", Bottoms: two(2, 2)},
		layertest.Case{Name: "second bottom in place", Param: "bias_param { axis: 0 }", Bottoms: two(2), InPlace: true},
	)
}

func TestScaleByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		for _, inPlace := range []bool{false, true} {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Scale", Param: "scale_param { bias_term: true }", InPlace: inPlace,
				Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2)}})
			f.SetWeight(0, 10, -1)
			f.SetWeight(1, 0.5, 100)
			layertest.Equal(t, "y", f.Forward(t)[0], []float32{10.5, 20.5, 97, 96, 50.5, 60.5, 93, 92}, 0)
			dx, dw := f.Backward(t, []float32{1, 1, 2, 0, 0, 1, 0, 3})
			layertest.Equal(t, "dx", dx[0], []float32{10, 10, -2, 0, 0, 10, 0, -3}, 0)
			layertest.Equal(t, "ds", dw[0], []float32{9, 30}, 0)
			layertest.Equal(t, "db", dw[1], []float32{3, 5}, 0)
		}
	}
}

// TestScaleAndBiasBeginAsIdentities: without fillers a Scale layer multiplies by 1 and a Bias layer adds 0.
func TestScaleAndBiasBeginAsIdentities(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		for _, c := range []layertest.Case{{Type: "Scale", Param: "scale_param { bias_term: true }"}, {Type: "Bias"}} {
			c.KeepWeights, c.Bottoms = true, []layertest.Bottom{layertest.Given([]float32{3, -4, 5}, 1, 3)}
			layertest.Equal(t, c.Type, layertest.Build(t, b, engine, c).Forward(t)[0], []float32{3, -4, 5}, 0)
		}
	}
}

func TestScaleErrors(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In(2, 3, 4)
	tests := []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"Scale", "scale_param { axis: 3 }", []layertest.Bottom{in}, []string{"axis 3", "2 3 4"}},
		{"Scale", "scale_param { axis: 2 num_axes: 2 }", []layertest.Bottom{in}, []string{"2 axes", "axis 2", "2 3 4"}},
		{"Scale", "scale_param { num_axes: -2 }", []layertest.Bottom{in}, []string{"num_axes", "-2"}},
		{"Scale", "", []layertest.Bottom{in, layertest.In(3, 5)}, []string{"2 3 4", "[3 5]"}},
		{"Bias", "", []layertest.Bottom{in, layertest.In(3, 4, 1)}, []string{"2 3 4", "[3 4 1]"}},
		{"Bias", "bias_param { axis: -4 }", []layertest.Bottom{in}, []string{"axis -4", "2 3 4"}},
	}
	for _, tt := range tests {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}

package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("Concat",
		layertest.Case{Name: "channels", Bottoms: []layertest.Bottom{layertest.In(2, 1, 2, 2), layertest.In(2, 3, 2, 2), layertest.In(2, 2, 2, 2)},
			Again: [][]int{{3, 2, 1, 2}, {3, 2, 1, 2}, {3, 1, 1, 2}}},
		layertest.Case{Name: "items", Param: "concat_param { axis: 0 }", Bottoms: []layertest.Bottom{layertest.In(2, 3), layertest.In(1, 3)}},
		layertest.Case{Name: "last axis", Param: "concat_param { axis: -1 }", Bottoms: []layertest.Bottom{layertest.In(2, 2, 3), layertest.In(2, 2, 1)}},
		layertest.Case{Name: "concat_dim", Param: "concat_param { concat_dim: 2 }", Bottoms: []layertest.Bottom{layertest.In(1, 2, 3), layertest.In(1, 2, 2)}},
		layertest.Case{Name: "one bottom", Still: "the top is the bottom", Bottoms: []layertest.Bottom{layertest.In(2, 3)}},
		layertest.Case{Name: "many values", Bottoms: []layertest.Bottom{layertest.In(3, 20011), layertest.In(3, 9)}, NoGradient: "checked by the small cases"},
	)
}

func TestConcatByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Concat", Bottoms: []layertest.Bottom{
			layertest.Given([]float32{1, 2, 3, 4}, 2, 1, 2), layertest.Given([]float32{5, 6, 7, 8, 9, 10, 11, 12}, 2, 2, 2)}})
		if got := f.Top[0].ShapeString(); got != "2 3 2 (12)" {
			t.Fatalf("top has shape %s", got)
		}
		layertest.Equal(t, "top", f.Forward(t)[0], []float32{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}, 0)
		dx, _ := f.Backward(t, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
		layertest.Equal(t, "gradient of bottom 0", dx[0], []float32{1, 2, 7, 8}, 0)
		layertest.Equal(t, "gradient of bottom 1", dx[1], []float32{3, 4, 5, 6, 9, 10, 11, 12}, 0)
	}
}

// TestConcatLeavesUnwantedGradients: Backward does not write bottom gradients that are not requested.
func TestConcatLeavesUnwantedGradients(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		second := layertest.In(1, 2)
		second.NoGradient = true
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Concat", Bottoms: []layertest.Bottom{layertest.In(1, 1), second}})
		copy(f.Bottom[1].Diff(), []float32{7, 8})
		dx, _ := f.Backward(t, []float32{1, 2, 3})
		layertest.Equal(t, "gradient of bottom 0", dx[0], []float32{1}, 0)
		layertest.Equal(t, "gradient of bottom 1", f.Bottom[1].Diff(), []float32{7, 8}, 0)
	}
}

func TestConcatErrors(t *testing.T) {
	b := layertest.NewBench(t)
	tests := []struct {
		param   string
		bottoms []layertest.Bottom
		tops    int
		want    []string
	}{
		{"concat_param { axis: 1 concat_dim: 1 }", []layertest.Bottom{layertest.In(2, 3)}, 1, []string{"not both"}},
		{"concat_param { axis: 4 }", []layertest.Bottom{layertest.In(2, 3)}, 1, []string{"axis 4", "2 3"}},
		{"", []layertest.Bottom{layertest.In(2, 3, 4), layertest.In(2, 3, 5)}, 1, []string{"2 3 4", "2 3 5"}},
		{"", []layertest.Bottom{layertest.In(2, 3), layertest.In(2, 3, 1)}, 1, []string{"2 3 (6)", "2 3 1"}},
	}
	for _, tt := range tests {
		wantError(t, b, layertest.Case{Type: "Concat", Param: tt.param, Bottoms: tt.bottoms, Tops: tt.tops}, tt.want...)
	}
}

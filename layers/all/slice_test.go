package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("Slice",
		layertest.Case{Name: "even", Bottoms: []layertest.Bottom{layertest.In(2, 6, 2)}, Tops: 3, Again: [][]int{{1, 9, 2}}},
		layertest.Case{Name: "points", Param: "slice_param { slice_point: 1 slice_point: 3 }", Bottoms: []layertest.Bottom{layertest.In(2, 6, 2)}, Tops: 3},
		layertest.Case{Name: "items", Param: "slice_param { axis: 0 }", Bottoms: []layertest.Bottom{layertest.In(4, 3)}, Tops: 2},
		layertest.Case{Name: "slice_dim", Param: "slice_param { slice_dim: 2 slice_point: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 2, 3, 2)}, Tops: 2},
		layertest.Case{Name: "one top", Still: "the top is the bottom", Bottoms: []layertest.Bottom{layertest.In(2, 3)}},
	)
}

func TestSliceByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Slice", Param: "slice_param { slice_point: 1 }", Tops: 2,
			Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 2, 3, 4, 5, 6}, 2, 3)}})
		tops := f.Forward(t)
		layertest.Equal(t, "top 0", tops[0], []float32{1, 4}, 0)
		layertest.Equal(t, "top 1", tops[1], []float32{2, 3, 5, 6}, 0)
		dx, _ := f.Backward(t, []float32{1, 2}, []float32{3, 4, 5, 6})
		layertest.Equal(t, "gradient", dx[0], []float32{1, 3, 4, 2, 5, 6}, 0)
	}
}

func TestSliceErrors(t *testing.T) {
	b := layertest.NewBench(t)
	tests := []struct {
		param   string
		bottoms []layertest.Bottom
		tops    int
		want    []string
	}{
		{"slice_param { axis: 1 slice_dim: 1 }", []layertest.Bottom{layertest.In(2, 4)}, 2, []string{"not both"}},
		{"", []layertest.Bottom{layertest.In(2, 5)}, 2, []string{"(2)", "(5)"}},
		{"slice_param { slice_point: 1 slice_point: 2 }", []layertest.Bottom{layertest.In(2, 5)}, 2, []string{"2 slice_point", "2 tops"}},
		{"slice_param { slice_point: 3 slice_point: 2 }", []layertest.Bottom{layertest.In(2, 5)}, 3, []string{"[3 2]", "5"}},
		{"slice_param { slice_point: 5 }", []layertest.Bottom{layertest.In(2, 5)}, 2, []string{"[5]", "5"}},
	}
	for _, tt := range tests {
		wantError(t, b, layertest.Case{Type: "Slice", Param: tt.param, Bottoms: tt.bottoms, Tops: tt.tops}, tt.want...)
	}
}

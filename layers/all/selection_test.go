package all_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("ArgMax",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(3, 5, 2)}, Again: [][]int{{400, 30, 2}}},
		layertest.Case{Name: "both", Param: "argmax_param { top_k: 3 out_max_val: true }", Bottoms: []layertest.Bottom{layertest.In(3, 5)}, Again: [][]int{{400, 30}}},
		layertest.Case{Name: "axis", Param: "argmax_param { axis: 1 top_k: 2 }", Bottoms: []layertest.Bottom{layertest.In(2, 5, 3)}, Again: [][]int{{30, 9, 200}}},
		layertest.Case{Name: "classes of pixels", Param: "argmax_param { axis: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 5, 3, 7)}, Again: [][]int{{3, 21, 40, 9}}},
		layertest.Case{Name: "values along axis", Param: "argmax_param { axis: -1 out_max_val: true }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 5)}})
	addCases("BatchReindex", layertest.Case{Bottoms: []layertest.Bottom{layertest.In(5, 3, 2), layertest.Labels(5, 7)}, Again: [][]int{{6, 41, 2}, {3}}})
	selector := layertest.Labels(2, 5)
	addCases("Filter",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(5, 3, 2), selector}, Again: [][]int{{9, 31}, {9}}},
		layertest.Case{Name: "two", Tops: 2, Bottoms: []layertest.Bottom{layertest.In(5, 3), layertest.In(5), layertest.Labels(2, 5, 1, 1)}})
	for name, param := range map[string]string{
		"sum": "", "magnitudes": "operation: ASUM coeff: 0.5", "squares": "operation: SUMSQ coeff: -2", "mean": "operation: MEAN",
	} {
		away := []layertest.Bottom{layertest.Filled(layertest.AwayFrom(0.05, 0), 3, 4, 2)}
		addCases("Reduction",
			layertest.Case{Name: name, Param: "reduction_param { " + param + " }", Bottoms: away, Again: [][]int{{70, 11, 30}}, Paths: 1e-4},
			layertest.Case{Name: name + " over the last axes", Param: "reduction_param { axis: 1 " + param + " }", Bottoms: away, Again: [][]int{{500, 11}}},
			layertest.Case{Name: name + " over the last axis", Param: "reduction_param { axis: -1 " + param + " }", Bottoms: away, Again: [][]int{{7, 900, 1}}})
	}
	addCases("Tile",
		layertest.Case{Param: "tile_param { tiles: 3 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 4)}, Again: [][]int{{11, 70, 9}}},
		layertest.Case{Name: "axis 0", Param: "tile_param { axis: 0 tiles: 2 }", Bottoms: []layertest.Bottom{layertest.In(3, 2)}, Again: [][]int{{3, 20000}}},
		layertest.Case{Name: "last axis", Param: "tile_param { axis: -1 tiles: 4 }", Bottoms: []layertest.Bottom{layertest.In(3, 2, 1)}})
	addCases("Crop",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(2, 3, 5, 6), layertest.In(1, 1, 3, 4)}, Again: [][]int{{3, 2, 70, 41}, {1, 1, 69, 40}}},
		layertest.Case{Name: "offset", Param: "crop_param { offset: 1 offset: 2 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 5, 6), layertest.In(2, 3, 3, 4)}},
		layertest.Case{Name: "all axes", Param: "crop_param { axis: 0 offset: 1 }", Bottoms: []layertest.Bottom{layertest.In(3, 4, 3, 5), layertest.In(2, 2, 2, 2)}},
		layertest.Case{Name: "five axes", Param: "crop_param { axis: 0 offset: 1 offset: 0 offset: 1 offset: 0 offset: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(3, 2, 4, 2, 5), layertest.In(2, 1, 2, 2, 3)}},
		layertest.Case{Name: "nothing", Param: "crop_param { axis: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 4), layertest.In(9, 3, 4)}})
}

// TestSelectionsByHand: shapes and values of the layers in this file equal those computed by hand.
func TestSelectionsByHand(t *testing.T) {
	given := layertest.Given
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	ties := given([]float32{3, 7, 7, 1, 2, 2, 2, 2}, 2, 4)
	count := make([]float32, 24)
	for i := range count {
		count[i] = float32(i)
	}
	tests := []struct {
		typ, param string
		bottoms    []layertest.Bottom
		shape      string
		want       []float32
	}{
		{"ArgMax", "", []layertest.Bottom{ties}, "2 1 1 (2)", []float32{2, 3}},
		{"ArgMax", "argmax_param { top_k: 3 }", []layertest.Bottom{ties}, "2 1 3 (6)", []float32{2, 1, 0, 3, 2, 1}},
		{"ArgMax", "argmax_param { top_k: 2 out_max_val: true }", []layertest.Bottom{ties}, "2 2 2 (8)", []float32{2, 1, 7, 7, 3, 2, 2, 2}},
		{"ArgMax", "argmax_param { axis: 0 }", []layertest.Bottom{given([]float32{1, nan, 7, 1, 2, nan, 0, -inf, 7}, 3, 3)}, "1 3 (3)", []float32{1, 1, 2}},
		{"ArgMax", "argmax_param { axis: 0 }", []layertest.Bottom{given([]float32{-inf, nan, nan, nan}, 2, 2)}, "1 2 (2)", []float32{0, 1}},
		{"ArgMax", "argmax_param { axis: 0 }", []layertest.Bottom{ties}, "1 4 (4)", []float32{0, 0, 0, 1}},
		{"ArgMax", "argmax_param { axis: 0 top_k: 2 out_max_val: true }", []layertest.Bottom{ties}, "2 4 (8)", []float32{3, 7, 7, 2, 2, 2, 2, 1}},
		{"ArgMax", "", []layertest.Bottom{given(count, 2, 3, 2, 2)}, "2 1 1 1 (2)", []float32{11, 11}},
		{"BatchReindex", "", []layertest.Bottom{given(count[:6], 3, 2), fixed([]float32{2, 0, 2, 2}, 4)}, "4 2 (8)", []float32{4, 5, 0, 1, 4, 5, 4, 5}},
		{"Reduction", "reduction_param { operation: ASUM axis: 1 coeff: 2 }", []layertest.Bottom{given([]float32{1, -2, 3, -4}, 2, 2)}, "2 (2)", []float32{6, 14}},
		{"Reduction", "reduction_param { operation: MEAN }", []layertest.Bottom{given([]float32{1, -2, 3, -4}, 2, 2)}, "(1)", []float32{-0.5}},
		{"Reduction", "reduction_param { operation: SUMSQ axis: -1 }", []layertest.Bottom{given([]float32{1, -2, 3, -4}, 2, 2)}, "2 (2)", []float32{5, 25}},
		{"Tile", "tile_param { axis: 1 tiles: 2 }", []layertest.Bottom{given(count[:4], 2, 2)}, "2 4 (8)", []float32{0, 1, 0, 1, 2, 3, 2, 3}},
		{"Crop", "crop_param { offset: 1 }", []layertest.Bottom{given(count, 1, 2, 3, 4), layertest.In(1, 1, 2, 2)}, "1 2 2 2 (8)",
			[]float32{5, 6, 9, 10, 17, 18, 21, 22}},
		{"Crop", "crop_param { axis: -1 offset: 2 }", []layertest.Bottom{given(count, 2, 3, 4), layertest.In(1, 1, 1)}, "2 3 1 (6)", []float32{2, 6, 10, 14, 18, 22}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms})
			layertest.Equal(t, tt.typ+" "+tt.param, f.Forward(t)[0], tt.want, 0)
			if got := f.Top[0].ShapeString(); got != tt.shape {
				t.Errorf("%s %s: top has shape %s, expected %s", tt.typ, tt.param, got, tt.shape)
			}
		}
	}
}

// TestFilterByHand: at set-up the tops have room for the whole batch, afterwards for the selected items. Other items have gradient 0.
func TestFilterByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{
			Type: "Filter", Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 2, 3, 4, 5, 6}, 3, 2), fixed([]float32{1, 0, -2}, 3)},
		})
		if got := f.Top[0].ShapeString(); got != "3 2 (6)" {
			t.Errorf("at set-up the top has shape %s", got)
		}
		layertest.Equal(t, "kept", f.Forward(t)[0], []float32{1, 2, 5, 6}, 0)
		dx, _ := f.Backward(t, []float32{10, 20, 30, 40})
		layertest.Equal(t, "gradient", dx[0], []float32{10, 20, 0, 0, 30, 40}, 0)
		f.SetInput(1, 0, 0, 0)
		if f.Forward(t); f.Top[0].Count() != 0 {
			t.Errorf("with nothing kept the top has shape %s", f.Top[0].ShapeString())
		}
	}
}

// TestReindexChecksRange: the message has the index, its place and the number of items.
func TestReindexChecksRange(t *testing.T) {
	b := layertest.NewBench(t)
	for _, bad := range []float32{-1, 3, 1e20} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "BatchReindex", Bottoms: []layertest.Bottom{layertest.In(3, 2), fixed([]float32{0, bad}, 2)}})
			want := fmt.Sprintf("index %g, number 1 of bottom[1], is out of range: the batch has 3 items", bad)
			if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != want {
				t.Errorf("%v: error %v, expected %s", engine, err, want)
			}
		}
	}
}

func TestSelectionErrors(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In(3, 4)
	tests := []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"ArgMax", "argmax_param { top_k: 5 }", []layertest.Bottom{in}, []string{"top_k 5", "4"}},
		{"ArgMax", "argmax_param { top_k: 0 }", []layertest.Bottom{in}, []string{"top_k"}},
		{"ArgMax", "argmax_param { axis: 2 }", []layertest.Bottom{in}, []string{"axis 2", "3 4 (12)"}},
		{"BatchReindex", "", []layertest.Bottom{in, layertest.Labels(3, 2, 1)}, []string{"one axis", "2 1 (2)"}},
		{"Filter", "", []layertest.Bottom{in, layertest.Labels(2, 2)}, []string{"3 4 (12)", "2 (2)"}},
		{"Filter", "", []layertest.Bottom{in, layertest.Labels(2, 3, 2)}, []string{"selector", "3 2 (6)"}},
		{"Filter", "", []layertest.Bottom{in, in, layertest.Labels(2, 3)}, []string{"1 tops", "3 bottoms"}},
		{"Reduction", "reduction_param { axis: 2 }", []layertest.Bottom{in}, []string{"axis 2", "3 4 (12)"}},
		{"Tile", "", []layertest.Bottom{in}, []string{"tiles", "0"}},
		{"Tile", "tile_param { axis: -3 tiles: 2 }", []layertest.Bottom{in}, []string{"axis -3", "3 4 (12)"}},
		{"Crop", "crop_param { axis: 1 offset: 2 }", []layertest.Bottom{in, layertest.In(3, 3)}, []string{"dimension 1", "size 3", "offset 2", "3 4 (12)"}},
		{"Crop", "crop_param { axis: 0 offset: 1 offset: 1 offset: 1 }", []layertest.Bottom{in, in}, []string{"3 offsets", "2 dimensions"}},
		{"Crop", "crop_param { axis: 1 }", []layertest.Bottom{in, layertest.In(3)}, []string{"3 4 (12)", "3 (3)"}},
	}
	for _, tt := range tests {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}

package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	bottom := []layertest.Bottom{layertest.In(2, 3, 4, 5)}
	const view = "the top is the bottom in another shape"
	addCases("Flatten", layertest.Case{Still: view, Bottoms: bottom},
		layertest.Case{Name: "middle", Still: view, Param: "flatten_param { axis: -3 end_axis: 2 }", Bottoms: bottom})
	addCases("Reshape", layertest.Case{Still: view, Param: "reshape_param { shape { dim: 0 dim: -1 dim: 2 } }", Bottoms: bottom})
	addCases("Split", layertest.Case{Tops: 3, Bottoms: bottom, Again: [][]int{{3, 70000}}})
	addCases("Silence", layertest.Case{Still: "it computes nothing", Tops: -1, Bottoms: bottom})
	addCases("Parameter", layertest.Case{Still: "the top is the weight", Param: "parameter_param { shape { dim: 3 dim: 4 } }"})
	addCases("Input", layertest.Case{Still: "a program fills the top", Param: "input_param { shape { dim: 3 dim: 4 } }"})
	addCases("DummyData", layertest.Case{
		Still: "values come from the generator, one after the other",
		Tops:  2, Param: `dummy_data_param { shape { dim: 3 dim: 4 } shape { dim: 2 } data_filler { type: "gaussian" } data_filler { value: 3 } }`,
	})
}

func TestShapesOfViews(t *testing.T) {
	tests := []struct {
		typ, param string
		want       []int
	}{
		{"Flatten", "", []int{2, 60}},
		{"Flatten", "flatten_param { axis: 0 }", []int{120}},
		{"Flatten", "flatten_param { axis: 1 end_axis: -2 }", []int{2, 12, 5}},
		{"Reshape", "reshape_param { shape { dim: 0 dim: 6 dim: -1 } }", []int{2, 6, 10}},
		{"Reshape", "reshape_param { shape { dim: -1 } }", []int{120}},
		{"Reshape", "reshape_param { axis: 1 num_axes: 2 shape { dim: 4 dim: 3 } }", []int{2, 4, 3, 5}},
		{"Reshape", "reshape_param { axis: -1 num_axes: 0 shape { dim: 1 dim: 1 } }", []int{2, 3, 4, 5, 1, 1}},
		{"Reshape", "reshape_param { axis: 2 num_axes: 0 shape { dim: 1 } }", []int{2, 3, 1, 4, 5}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		f := layertest.Build(t, b, layers.CPE, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: []layertest.Bottom{layertest.In(2, 3, 4, 5)}})
		if got := blob.New(tt.want...); got.ShapeString() != f.Top[0].ShapeString() {
			t.Errorf("%s %s: shape %s, want %v", tt.typ, tt.param, f.Top[0].ShapeString(), tt.want)
		}
		if !f.Top[0].SharesData(f.Bottom[0]) || !f.Top[0].SharesDiff(f.Bottom[0]) {
			t.Errorf("%s: values were copied", tt.typ)
		}
	}
}

func TestViewErrors(t *testing.T) {
	b := layertest.NewBench(t)
	bottom := []layertest.Bottom{layertest.In(2, 3, 4)}
	wantError(t, b, layertest.Case{Type: "Flatten", Param: "flatten_param { axis: 3 }", Bottoms: bottom}, "axes 3 to -1", "2 3 4 (24)")
	wantError(t, b, layertest.Case{Type: "Reshape", Param: "reshape_param { shape { dim: 5 } }", Bottoms: bottom}, "2 3 4 (24)", "5 (5)")
	wantError(t, b, layertest.Case{Type: "Reshape", Param: "reshape_param { shape { dim: -1 dim: -1 } }", Bottoms: bottom}, "-1")
	wantError(t, b, layertest.Case{Type: "Reshape", Param: "reshape_param { shape { dim: 7 dim: -1 } }", Bottoms: bottom}, "24", "7")
	wantError(t, b, layertest.Case{Type: "Reshape", Param: "reshape_param { shape { dim: 2 dim: -2 } }", Bottoms: bottom}, "dim 1", "-2")
	// The product of these extents exceeds an int.
	wantError(t, b, layertest.Case{Type: "Reshape", Param: "reshape_param { shape { dim: 9223372036854775807 dim: 2 dim: -1 } }", Bottoms: bottom}, "dim 0", "9223372036854775807", "2147483647")
	wantError(t, b, layertest.Case{Type: "Reshape", Param: "reshape_param { shape { dim: 2147483647 dim: 2147483647 dim: 2147483647 dim: -1 } }", Bottoms: bottom}, "count (24)", "must be divisible")
	wantError(t, b, layertest.Case{Type: "Input", Param: "input_param { shape { dim: -3 } }"}, "-3")
	wantError(t, b, layertest.Case{Type: "DummyData", Param: "dummy_data_param { num: 2 channels: 3 height: 4 }"}, "width", "0 times")
	wantError(t, b, layertest.Case{Type: "Parameter", Param: "parameter_param { shape { dim: -1 } }"}, "-1")
}

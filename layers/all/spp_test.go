package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	distinct := func(shape ...int) []layertest.Bottom {
		return []layertest.Bottom{layertest.Filled(layertest.Distinct(-3, 3), shape...)}
	}
	addCases("SPP",
		layertest.Case{Name: "one level", Param: "spp_param { pyramid_height: 1 }", Bottoms: distinct(2, 2, 3, 4)},
		layertest.Case{Name: "three levels", Param: "spp_param { pyramid_height: 3 }", Bottoms: distinct(2, 2, 9, 8), Again: [][]int{{1, 2, 12, 9}}},
		layertest.Case{Name: "means", Param: "spp_param { pyramid_height: 2 pool: AVE }", Bottoms: distinct(2, 3, 5, 7)},
	)
}

func TestSPPByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "SPP", Param: "spp_param { pyramid_height: 2 }", Bottoms: []layertest.Bottom{
			layertest.Given([]float32{1, 2, 3, 4, 5, 6, 7, 8, 16, 15, 14, 13, 12, 11, 10, 9}, 1, 1, 4, 4)}})
		if got := f.Top[0].ShapeString(); got != "1 5 (5)" {
			t.Fatalf("top has shape %s", got)
		}
		layertest.Equal(t, "levels", f.Forward(t)[0], []float32{16, 6, 8, 16, 14}, 0)
		dx, _ := f.Backward(t, []float32{100, 1, 2, 3, 4})
		layertest.Equal(t, "gradient", dx[0], []float32{0, 0, 0, 0, 0, 1, 0, 2, 103, 0, 4, 0, 0, 0, 0, 0}, 0)
	}
}

func TestSPPErrors(t *testing.T) {
	b := layertest.NewBench(t)
	wantError(t, b, layertest.Case{Type: "SPP", Bottoms: []layertest.Bottom{layertest.In(1, 1, 4, 4)}}, "pyramid_height", "0")
	wantError(t, b, layertest.Case{Type: "SPP", Param: "spp_param { pyramid_height: 2 }", Bottoms: []layertest.Bottom{layertest.In(4, 4)}}, "4 axes", "4 4")
	wantError(t, b, layertest.Case{Type: "SPP", Param: "spp_param { pyramid_height: 3 }", Bottoms: []layertest.Bottom{layertest.In(1, 1, 3, 3)}}, "level 2", "3 x 3")
	wantError(t, b, layertest.Case{Type: "SPP", Param: "spp_param { pyramid_height: " + largest + " }", Bottoms: []layertest.Bottom{layertest.In(1, 1, 9, 5)}}, "pyramid_height "+largest, "level 3", "9 x 5")
}

package all_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	three := func(fill layertest.Fill) []layertest.Bottom {
		return []layertest.Bottom{layertest.Filled(fill, 2, 3, 2), layertest.Filled(fill, 2, 3, 2), layertest.Filled(fill, 2, 3, 2)}
	}
	far := layertest.AwayFrom(0.2, 0)
	addCases("Eltwise",
		layertest.Case{Name: "sum", Bottoms: three(nil), Again: [][]int{{3, 4}, {3, 4}, {3, 4}}},
		layertest.Case{Name: "sum with coefficients", Param: "eltwise_param { coeff: 0.5 coeff: -2 coeff: 1 }", Bottoms: three(nil)},
		layertest.Case{Name: "stable product", Param: "eltwise_param { operation: PROD }", Bottoms: three(nil)},
		layertest.Case{Name: "product by division", Param: "eltwise_param { operation: PROD stable_prod_grad: false }", Bottoms: three(far)},
		layertest.Case{Name: "maximum of three", Param: "eltwise_param { operation: MAX }", Again: [][]int{{7}, {7}, {7}},
			Bottoms: []layertest.Bottom{
				layertest.Given([]float32{3, 1, 2, -5, 0.5, 9}, 6), layertest.Given([]float32{2, 3, 1, -4, 0, 8}, 6),
				layertest.Given([]float32{1, 2, 3, -6, 1, 7}, 6)}},
		layertest.Case{Name: "many values", Param: "eltwise_param { coeff: 1 coeff: -1 }", NoGradient: "checked by the small cases",
			Bottoms: []layertest.Bottom{layertest.In(3, 70001), layertest.In(3, 70001)}},
	)
}

func TestEltwiseByHand(t *testing.T) {
	nan := float32(math.NaN())
	tests := []struct {
		name, param string
		xs          [][]float32
		y           []float32
		dxs         [][]float32 // for dy = 1, 10, 100
	}{
		{"sum", "", [][]float32{{1, 2}, {3, 5}}, []float32{4, 7}, [][]float32{{1, 10}, {1, 10}}},
		{"coefficients", "coeff: 2 coeff: -1", [][]float32{{1, 2}, {3, 5}}, []float32{-1, -1}, [][]float32{{2, 20}, {-1, -10}}},
		{"product with a zero", "operation: PROD", [][]float32{{0, 2}, {3, 5}, {7, 1}}, []float32{0, 10}, [][]float32{{21, 50}, {0, 20}, {0, 100}}},
		{"product by division", "operation: PROD stable_prod_grad: false", [][]float32{{4, 2}, {3, 5}}, []float32{12, 10}, [][]float32{{3, 50}, {4, 20}}},
		{"equal maxima", "operation: MAX", [][]float32{{1, 5}, {4, 5}, {4, 0}}, []float32{4, 5}, [][]float32{{0, 0}, {1, 10}, {0, 0}}},
		{"the first of three equal maxima counts last but one", "operation: MAX", [][]float32{{0, 3}, {0, 1}, {0, 3}}, []float32{0, 3}, [][]float32{{0, 10}, {1, 0}, {0, 0}}},
		{"negative maxima", "operation: MAX", [][]float32{{-1, -5}, {-4, -2}}, []float32{-1, -2}, [][]float32{{1, 0}, {0, 10}}},
		{"maximum beside NaN", "operation: MAX", [][]float32{{nan, 1, 1}, {2, nan, 2}, {1, 3, nan}}, []float32{2, nan, 2}, [][]float32{{0, 0, 0}, {1, 10, 100}, {0, 0, 0}}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			c := layertest.Case{Type: "Eltwise", Param: "eltwise_param { " + tt.param + " }"}
			for _, x := range tt.xs {
				c.Bottoms = append(c.Bottoms, layertest.Given(x, len(x)))
			}
			f := layertest.Build(t, b, engine, c)
			layertest.Equal(t, tt.name, f.Forward(t)[0], tt.y, 0)
			dxs, _ := f.Backward(t, []float32{1, 10, 100}[:len(tt.y)])
			for i, want := range tt.dxs {
				layertest.Equal(t, tt.name+": gradient", dxs[i], want, 1e-6)
			}
		}
	}
}

func TestEltwiseErrors(t *testing.T) {
	b := layertest.NewBench(t)
	two := []layertest.Bottom{layertest.In(2, 3), layertest.In(2, 3)}
	wantError(t, b, layertest.Case{Type: "Eltwise", Param: "eltwise_param { coeff: 1 }", Bottoms: two}, "1 coefficients", "2 bottoms")
	wantError(t, b, layertest.Case{Type: "Eltwise", Param: "eltwise_param { operation: PROD coeff: 1 coeff: 1 }", Bottoms: two}, "summation")
	wantError(t, b, layertest.Case{Type: "Eltwise", Bottoms: []layertest.Bottom{layertest.In(2, 3), layertest.In(3, 2)}}, "2 3 (6)", "3 2 (6)")
}

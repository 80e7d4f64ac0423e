package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("InnerProduct",
		layertest.Case{Name: "batch", Param: "inner_product_param { num_output: 5 }",
			Bottoms: []layertest.Bottom{layertest.In(3, 2, 3, 2)}, Again: [][]int{{4, 2, 3, 2}}},
		layertest.Case{Name: "no bias", Param: "inner_product_param { num_output: 3 bias_term: false }",
			Bottoms: []layertest.Bottom{layertest.In(2, 7)}},
		layertest.Case{Name: "normalize", Param: "inner_product_param { num_output: 3 normalize: true }", NoParams: []int{0},
			Bottoms: []layertest.Bottom{layertest.In(4, 3, 2)}, Again: [][]int{{30, 3, 2}}},
		layertest.Case{Name: "transposed", Param: "inner_product_param { num_output: 4 transpose: true }",
			Bottoms: []layertest.Bottom{layertest.In(3, 5)}},
		layertest.Case{Name: "axis 2", Param: "inner_product_param { num_output: 2 axis: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 2, 2)}, Again: [][]int{{2, 1, 4, 1}}},
		layertest.Case{Name: "larger than a block", Param: "inner_product_param { num_output: 70 }", NoGradient: "checked by the small cases",
			Paths: 1e-4, Bottoms: []layertest.Bottom{layertest.In(33, 301)}},
	)
}

func TestInnerProductByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		for _, tt := range []struct {
			param  string
			weight []float32
		}{
			{"inner_product_param { num_output: 2 }", []float32{1, 2, 3, -1, 0, 10}},
			{"inner_product_param { num_output: 2 transpose: true }", []float32{1, -1, 2, 0, 3, 10}},
		} {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "InnerProduct", Param: tt.param,
				Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 2, 3, 4, 5, 6}, 2, 3)}})
			f.SetWeight(0, tt.weight...)
			f.SetWeight(1, 100, 200)
			layertest.Equal(t, "y", f.Forward(t)[0], []float32{114, 229, 132, 256}, 0)
			bottoms, weights := f.Backward(t, []float32{1, 0, 2, -1})
			layertest.Equal(t, "dx", bottoms[0], []float32{1, 2, 3, 3, 4, -4}, 0)
			layertest.Equal(t, "db", weights[1], []float32{3, -1}, 0)
		}
	}
}

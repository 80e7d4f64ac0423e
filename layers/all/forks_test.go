package all_test

import (
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	away := func(kinks ...float32) []layertest.Bottom {
		return []layertest.Bottom{{Shape: []int{2, 3, 40}, Fill: scaledBy(5, layertest.AwayFrom(0.02, scaled(0.2, kinks)...))}}
	}
	again := [][]int{{70, 3, 110}}
	for _, n := range []struct {
		typ, param string
		kinks      []float32
	}{
		{"ReLU6", "", []float32{0}}, {"HardSigmoid", "", []float32{-2.5, 2.5}},
		{"HardSigmoid", "hardsigmoid_param { alpha: 0.3 beta: 0.4 }", []float32{-4. / 3, 2}}, {"HardSwish", "", []float32{-3, 3}}, {"Mish", "", nil},
	} {
		addCases(n.typ, layertest.Case{Name: n.param, Param: n.param, Bottoms: away(n.kinks...), Again: again},
			layertest.Case{Name: n.param + " in place", Param: n.param, Bottoms: away(n.kinks...), InPlace: true})
	}
	addCases("Noise",
		layertest.Case{Name: "normal", Param: "noise_param { gaussian_std: 0.5 bias: 1 }", Bottoms: away(), Again: again},
		layertest.Case{Name: "uniform in place", Param: "noise_param { uniform_range: 0.5 }", Bottoms: away(), InPlace: true},
		layertest.Case{Name: "none", Bottoms: away()},
		layertest.Case{Name: "test", Phase: caffepb.Phase_TEST, Param: "noise_param { gaussian_std: 0.5 bias: 1 }", Bottoms: away()})
	addCases("Permute",
		layertest.Case{Name: "channels last", Param: "permute_param { order: 0 order: 2 order: 3 order: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4, 5)}, Again: [][]int{{3, 70, 9, 31}}},
		layertest.Case{Name: "rows", Param: "permute_param { order: 0 order: 2 order: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4, 5)}, Again: [][]int{{2, 13, 11, 700}}},
		layertest.Case{Name: "reversed", Param: "permute_param { order: 4 order: 3 order: 2 order: 1 order: 0 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 2, 4, 2)}},
		layertest.Case{Name: "unchanged", Bottoms: []layertest.Bottom{layertest.In(2, 3, 4)}, Again: [][]int{{1, 50, 300}}},
		layertest.Case{Name: "first of the rest", Param: "permute_param { order: 2 }", Bottoms: []layertest.Bottom{layertest.In(3, 1, 4)}},
		layertest.Case{Name: "large", Param: "permute_param { order: 0 order: 2 order: 3 order: 1 }", NoGradient: "the small cases check it",
			Bottoms: []layertest.Bottom{layertest.In(2, 130, 37, 41)}})
	addCases("ShuffleChannel",
		layertest.Case{Param: "shuffle_channel_param { group: 3 }", Bottoms: []layertest.Bottom{layertest.In(2, 6, 3, 2)}, Again: [][]int{{3, 48, 7, 9}}},
		layertest.Case{Name: "one group", Bottoms: []layertest.Bottom{layertest.In(2, 6)}},
		layertest.Case{Name: "vectors", Param: "shuffle_channel_param { group: 2 }", Bottoms: []layertest.Bottom{layertest.In(3, 6)}})
	addCases("Axpy",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(2, 3, 1, 1), layertest.In(2, 3, 4, 5), layertest.In(2, 3, 4, 5)},
			Again: [][]int{{3, 50, 1, 1}, {3, 50, 21, 20}, {3, 50, 21, 20}}},
		layertest.Case{Name: "vectors", Bottoms: []layertest.Bottom{layertest.In(2, 3), layertest.In(2, 3), layertest.In(2, 3)},
			Again: [][]int{{30, 500}, {30, 500}, {30, 500}}},
		layertest.Case{Name: "factors without planes", Bottoms: []layertest.Bottom{layertest.In(2, 3), layertest.In(2, 3, 4), layertest.In(2, 3, 4)}})
	images, large := []layertest.Bottom{layertest.In(2, 4, 3, 2)}, [][]int{{3, 4, 30, 41}}
	addCases("Normalize",
		layertest.Case{Name: "items of a face", Bottoms: images, Again: [][]int{{3, 50, 7, 9}}},
		layertest.Case{Name: "vectors of a face", Bottoms: []layertest.Bottom{layertest.In(3, 5)}, Again: [][]int{{70, 513}}},
		layertest.Case{Name: "items", Param: "norm_param { }", Bottoms: images, Again: large},
		layertest.Case{Name: "items by channel", Param: "norm_param { channel_shared: false }", Bottoms: images, Again: large},
		layertest.Case{Name: "vectors by channel", Param: "norm_param { channel_shared: false }", Bottoms: []layertest.Bottom{layertest.In(3, 5)}, Again: [][]int{{70, 5}}},
		layertest.Case{Name: "pixels", Param: "norm_param { across_spatial: false }", Bottoms: images, Again: large},
		layertest.Case{Name: "pixels by channel", Param: "norm_param { across_spatial: false channel_shared: false }", Bottoms: images, Again: large},
		layertest.Case{Name: "pixels with eps", Param: "norm_param { across_spatial: false eps: 0.5 }", Bottoms: images})
}

// scaled returns values times a factor.
func scaled(by float32, values []float32) []float32 {
	var list []float32
	for _, v := range values {
		list = append(list, by*v)
	}
	return list
}

// scaledBy draws values from a fill and multiplies them by a factor.
func scaledBy(by float32, fill layertest.Fill) layertest.Fill {
	return func(r *rand.Rand, values []float32) {
		fill(r, values)
		copy(values, scaled(by, values))
	}
}

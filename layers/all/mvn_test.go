package all_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	in := []layertest.Bottom{layertest.In(2, 3, 2, 3)}
	addCases("MVN",
		layertest.Case{Name: "by channel", Bottoms: in, Again: [][]int{{1, 2, 4, 4}}},
		layertest.Case{Name: "across channels", Param: "mvn_param { across_channels: true }", Bottoms: in},
		layertest.Case{Name: "mean only", Param: "mvn_param { normalize_variance: false }", Bottoms: in},
		layertest.Case{Name: "mean only across channels", Param: "mvn_param { normalize_variance: false across_channels: true }", Bottoms: in},
		layertest.Case{Name: "in place", Bottoms: in, InPlace: true},
		layertest.Case{Name: "mean only in place", Param: "mvn_param { normalize_variance: false }", Bottoms: in, InPlace: true},
		layertest.Case{Name: "many values", Bottoms: []layertest.Bottom{layertest.In(3, 5, 61, 57)}, NoGradient: "checked by the small cases"},
	)
}

func TestMVNByHand(t *testing.T) {
	in := []layertest.Bottom{layertest.Given([]float32{1, 3, 10, 30}, 1, 2, 1, 2)}
	across := float32(math.Sqrt((100+64+1+361)/4.) + 0.5)
	tests := []struct {
		name, param string
		want        []float32
	}{
		{"eps is added to the standard deviation", "eps: 1", []float32{-0.5, 0.5, -10. / 11, 10. / 11}},
		{"mean only", "normalize_variance: false", []float32{-1, 1, -10, 10}},
		{"across channels", "across_channels: true eps: 0.5", []float32{-10 / across, -8 / across, -1 / across, 19 / across}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "MVN", Param: "mvn_param { " + tt.param + " }", Bottoms: in})
			layertest.Equal(t, tt.name, f.Forward(t)[0], tt.want, 1e-6)
		}
	}
}

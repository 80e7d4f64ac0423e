package all_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("LRN",
		layertest.Case{Name: "across channels", Param: "lrn_param { local_size: 3 alpha: 0.8 beta: 0.75 k: 1.5 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 5, 3, 2)}, Again: [][]int{{1, 4, 2, 5}}},
		layertest.Case{Name: "window wider than the channels", Param: "lrn_param { local_size: 9 alpha: 2 beta: 0.5 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 4, 2, 3)}},
		layertest.Case{Name: "the widest window", Param: "lrn_param { local_size: " + largest + " alpha: 1e9 beta: 0.5 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 4, 2, 3)}},
		layertest.Case{Name: "one channel", Param: "lrn_param { alpha: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 1, 3, 3)}},
		layertest.Case{Name: "within a channel", Param: "lrn_param { norm_region: WITHIN_CHANNEL local_size: 3 alpha: 1.2 beta: 0.75 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 4, 5)}, Again: [][]int{{1, 3, 5, 3}}},
		layertest.Case{Name: "many values", Param: "lrn_param { alpha: 0.3 }", Bottoms: []layertest.Bottom{layertest.In(2, 37, 13, 12)},
			NoGradient: "checked by the small cases"},
	)
}

// lrnOracle is the formula of Krizhevsky et al. 2012, section 3.3, or, within a channel, that of Caffe's documentation. There the mean's
// divisor counts padding inside size + pad.
func lrnOracle(x []float32, c, h, w, size int, alpha, beta, k float64, within bool) []float32 {
	y := make([]float32, len(x))
	at := func(ch, row, col int) float64 { return float64(x[(ch*h+row)*w+col]) }
	half := size / 2
	for ch := 0; ch < c; ch++ {
		for row := 0; row < h; row++ {
			for col := 0; col < w; col++ {
				var sum float64
				n := float64(size)
				if within {
					n = float64((min(row+half+1, h+half) - (row - half)) * (min(col+half+1, w+half) - (col - half)))
					for r := max(0, row-half); r <= min(h-1, row+half); r++ {
						for q := max(0, col-half); q <= min(w-1, col+half); q++ {
							sum += at(ch, r, q) * at(ch, r, q)
						}
					}
				} else {
					for o := max(0, ch-half); o <= min(c-1, ch+half); o++ {
						sum += at(o, row, col) * at(o, row, col)
					}
				}
				y[(ch*h+row)*w+col] = float32(at(ch, row, col) / math.Pow(k+alpha/n*sum, beta))
			}
		}
	}
	return y
}

func TestLRNAgainstItsFormula(t *testing.T) {
	const c, h, w = 6, 4, 3
	x := ramp(c*h*w, -3, 0.4)
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		for _, tt := range []struct {
			name, param string
			want        []float32
		}{
			{"across", "lrn_param { local_size: 5 alpha: 0.5 beta: 0.75 k: 2 }", lrnOracle(x, c, h, w, 5, 0.5, 0.75, 2, false)},
			{"within, where k is not used", "lrn_param { local_size: 3 alpha: 0.5 beta: 0.6 k: 2 norm_region: WITHIN_CHANNEL }",
				lrnOracle(x, c, h, w, 3, 0.5, 0.6, 1, true)},
		} {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "LRN", Param: tt.param,
				Bottoms: []layertest.Bottom{layertest.Given(x, 1, c, h, w)}})
			layertest.Equal(t, tt.name, f.Forward(t)[0], tt.want, 4e-6)
		}
	}
}

func TestLRNErrors(t *testing.T) {
	b := layertest.NewBench(t)
	in := []layertest.Bottom{layertest.In(1, 2, 3, 3)}
	wantError(t, b, layertest.Case{Type: "LRN", Param: "lrn_param { local_size: 4 }", Bottoms: in}, "odd", "4")
	wantError(t, b, layertest.Case{Type: "LRN", Bottoms: []layertest.Bottom{layertest.In(2, 3)}}, "4 axes", "2 3 (6)")
}

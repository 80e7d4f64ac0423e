package all_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestNVBatchNormByDefinition follows NVCaffe's BatchNorm over three batches and a test: tops, and running averages that begin with the first
// batch's and have unbiased variances. Stored sums with a divisor, as BVLC Caffe's files have them, become averages.
func TestNVBatchNormByDefinition(t *testing.T) {
	const items, channels, inner, fraction, eps = 4, 2, 3, 0.75, 0.01
	scale, bias := []float32{2, -0.5}, []float32{0.25, 3}
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		for _, start := range []struct{ mean, variance, divisor float64 }{{0, 0, 0}, {6, 10, 4}} {
			param := fmt.Sprintf("batch_norm_param { scale_bias: true moving_average_fraction: %g eps: %g }", fraction, eps)
			shape := layertest.Given(make([]float32, items*channels*inner), items, channels, inner, 1)
			train := layertest.Build(t, b, engine, layertest.Case{Type: "BatchNorm", Param: param, KeepWeights: true, Bottoms: []layertest.Bottom{shape}})
			setAll := func(f *layertest.Fixture, values [][]float32) {
				for i, v := range values {
					copy(f.Layer.Params()[i].Data(), v)
				}
			}
			stored := func(v float64) []float32 { return slices.Repeat([]float32{float32(v)}, channels) }
			setAll(train, [][]float32{stored(start.mean), stored(start.variance), {float32(start.divisor)}, scale, bias})
			var mean, variance [channels]float64
			for c := range channels {
				if start.divisor > 0 {
					mean[c], variance[c] = start.mean/start.divisor, start.variance/start.divisor
				}
			}
			for batch := range 3 {
				x := between(items*channels*inner, -1, float64(batch+2))
				slices.Reverse(x[:batch*5])
				copy(train.Bottom[0].Data(), x)
				want := make([]float32, len(x))
				for c := range channels {
					values := func(each func(i int)) {
						for i := range x {
							if i/inner%channels == c {
								each(i)
							}
						}
					}
					m, v := 0.0, 0.0
					values(func(i int) { m += float64(x[i]) / (items * inner) })
					values(func(i int) { v += (float64(x[i]) - m) * (float64(x[i]) - m) / (items * inner) })
					values(func(i int) { want[i] = float32((float64(x[i])-m)/math.Sqrt(v+eps))*scale[c] + bias[c] })
					old := fraction
					if batch == 0 && start.divisor == 0 {
						old = 0
					}
					mean[c] = old*mean[c] + (1-old)*m
					variance[c] = old*variance[c] + (1-old)*v*items*inner/(items*inner-1)
				}
				if err := train.Layer.Forward(train.Bottom, train.Top); err != nil {
					t.Fatal(err)
				}
				layertest.Equal(t, fmt.Sprintf("batch %d", batch), train.Top[0].Data(), want, 1e-5)
				layertest.Equal(t, "means", train.Weight(0), floats(mean[:]), 1e-5)
				layertest.Equal(t, "variances", train.Weight(1), floats(variance[:]), 1e-5)
				layertest.Equal(t, "divisor", train.Weight(2), []float32{1}, 0)
			}
			x := between(items*channels*inner, 0, 7)
			test := layertest.Build(t, b, engine, layertest.Case{Type: "BatchNorm", Param: param, Phase: caffepb.Phase_TEST, Bottoms: []layertest.Bottom{layertest.Given(x, items, channels, inner, 1)}})
			setAll(test, [][]float32{train.Weight(0), train.Weight(1), train.Weight(2), scale, bias})
			want := make([]float32, len(x))
			for i, v := range x {
				c := i / inner % channels
				want[i] = float32((float64(v)-mean[c])/math.Sqrt(variance[c]+eps))*scale[c] + bias[c]
			}
			if err := test.Layer.Forward(test.Bottom, test.Top); err != nil {
				t.Fatal(err)
			}
			layertest.Equal(t, "test", test.Top[0].Data(), want, 1e-5)
		}
	}
}

// TestNVBatchNormIsToldApart: any of NVCaffe's fields makes the layer of five weights, with their fillers; none makes BVLC Caffe's.
func TestNVBatchNormIsToldApart(t *testing.T) {
	b := layertest.NewBench(t)
	for param, want := range map[string]string{
		"": "[0 0] [0 0] [0]", "scale_bias: false engine: CUDNN": "[0 0] [0 0] [0]",
		"scale_bias: true": "[0 0] [0 0] [0] [1 1] [0 0]", "scale_filler { value: 3 }": "[0 0] [0 0] [0] [3 3] [0 0]", "bias_filler { value: 3 }": "[0 0] [0 0] [0] [1 1] [3 3]",
	} {
		f := layertest.Build(t, b, layers.CPE, layertest.Case{Type: "BatchNorm", Param: "param { lr_mult: 0 } batch_norm_param { " + param + " }", KeepWeights: true, Bottoms: []layertest.Bottom{layertest.In(3, 2)}})
		var got string
		for _, w := range f.Layer.Params() {
			got += fmt.Sprint(" ", w.Data())
		}
		if got[1:] != want {
			t.Errorf("%q: weights%s, want %s", param, got, want)
		}
	}
	wantError(t, b, layertest.Case{Type: "BatchNorm", Param: "batch_norm_param { scale_bias: true moving_average_fraction: 1.5 }", Bottoms: []layertest.Bottom{layertest.In(3, 2)}}, "moving_average_fraction", "1.5")
}

package all_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	in := []layertest.Bottom{layertest.In(3, 2, 3, 2)}
	statistics := []int{0, 1, 2}
	positive := []layertest.Fill{nil, layertest.Uniform(0.5, 2), layertest.Uniform(0.5, 2)}
	addCases("BatchNorm",
		layertest.Case{Name: "batch statistics", Bottoms: in, NoParams: statistics, Weights: positive, Again: [][]int{{2, 2, 1, 5}}},
		layertest.Case{Name: "in place", Bottoms: in, NoParams: statistics, Weights: positive, InPlace: true},
		layertest.Case{Name: "vectors", Bottoms: []layertest.Bottom{layertest.In(5, 4)}, NoParams: statistics, Weights: positive},
		layertest.Case{Name: "one axis", Bottoms: []layertest.Bottom{layertest.In(6)}, NoParams: statistics, Weights: positive},
		layertest.Case{Name: "stored statistics", Phase: caffepb.Phase_TEST, Bottoms: in, NoParams: statistics, Weights: positive,
			Again: [][]int{{1, 2, 4, 4}}},
		layertest.Case{Name: "stored statistics in place", Param: "batch_norm_param { use_global_stats: true }", Bottoms: in,
			NoParams: statistics, Weights: positive, InPlace: true},
		layertest.Case{Name: "many values", Bottoms: []layertest.Bottom{layertest.In(3, 19, 23, 22)}, NoParams: statistics, Weights: positive,
			NoGradient: "checked by the small cases"},
	)
}

// batchNormInput has two channels: 1, 3, 5, 7 (mean 4, variance 5) and 0, 0, 0, 8 (mean 2, variance 12).
var batchNormInput = layertest.Given([]float32{1, 3, 0, 0, 5, 7, 0, 8}, 2, 2, 2)

func TestBatchNormByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "BatchNorm", Bottoms: []layertest.Bottom{batchNormInput},
			Param: "batch_norm_param { eps: 4 moving_average_fraction: 0.5 }"})
		f.SetWeight(0, 10, 20)
		f.SetWeight(1, 30, 40)
		f.SetWeight(2, 2)
		layertest.Equal(t, "y", f.Forward(t)[0], []float32{-1, -1. / 3, -0.5, -0.5, 1. / 3, 1, -0.5, 1.5}, 1e-6)
		layertest.Equal(t, "sums of means", f.Weight(0), []float32{5 + 4, 10 + 2}, 1e-6)
		layertest.Equal(t, "sums of variances, times 4/3", f.Weight(1), []float32{15 + 20./3, 20 + 16}, 1e-6)
		layertest.Equal(t, "factor", f.Weight(2), []float32{2}, 1e-6)
	}
}

func TestBatchNormStoredStatistics(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "BatchNorm", Bottoms: []layertest.Bottom{batchNormInput}, Phase: caffepb.Phase_TEST,
			Param: "batch_norm_param { eps: 0.25 }"})
		f.SetWeight(0, 4, -2)
		f.SetWeight(1, 7.5, 0)
		f.SetWeight(2, 2)
		layertest.Equal(t, "y", f.Forward(t)[0], []float32{-0.5, 0.5, 2, 2, 1.5, 2.5, 2, 18}, 1e-6)
		layertest.Equal(t, "the statistics stay", f.Weight(0), []float32{4, -2}, 0)
		f.SetWeight(2, 0)
		layertest.Equal(t, "y where nothing is stored", f.Forward(t)[0], []float32{2, 6, 0, 0, 10, 14, 0, 16}, 1e-6)
		dx, _ := f.Backward(t, []float32{1, 2, 3, 4, 5, 6, 7, 8})
		layertest.Equal(t, "dx", dx[0], []float32{2, 4, 6, 8, 10, 12, 14, 16}, 1e-6)
	}
}

// TestBatchNormLargeMean: values are far from zero, where E[x^2] - E[x]^2 would lose all digits.
func TestBatchNormLargeMean(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "BatchNorm", Param: "batch_norm_param { eps: 0 }",
			Bottoms: []layertest.Bottom{layertest.Given([]float32{100000, 100001, 100002, 100003}, 4, 1)}})
		s := float32(math.Sqrt(1.25))
		layertest.Equal(t, "y", f.Forward(t)[0], []float32{-1.5 / s, -0.5 / s, 0.5 / s, 1.5 / s}, 1e-5)
	}
}

// TestBatchNormOutlier: the first value of a channel, the pivot, is far from all others.
func TestBatchNormOutlier(t *testing.T) {
	x := make([]float32, 4096)
	for i := range x {
		x[i] = float32(4000 + math.Sin(float64(i*i)))
	}
	x[0] = -1e6
	var mean, variance float64
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(x))
	}
	want := make([]float32, len(x))
	for i, v := range x {
		want[i] = float32((float64(v) - mean) / math.Sqrt(variance))
	}
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "BatchNorm", Param: "batch_norm_param { eps: 0 }",
			Bottoms: []layertest.Bottom{layertest.Given(x, 4, 1, 32, 32)}})
		layertest.Equal(t, "y", f.Forward(t)[0], want, 1e-5)
	}
}

// TestBatchNormMultipliers: the layer sets the statistics' multipliers to 0, so that the solver does not update them.
func TestBatchNormMultipliers(t *testing.T) {
	b := layertest.NewBench(t)
	in := []layertest.Bottom{layertest.In(2, 3)}
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "BatchNorm", Param: "param { lr_mult: 0 }", Bottoms: in})
		if n := len(f.Param.Param); n != 3 {
			t.Fatalf("%d param entries, expected 3", n)
		}
		for i, p := range f.Param.Param {
			if p.GetLrMult() != 0 || p.GetDecayMult() != 0 {
				t.Errorf("param %d has lr_mult %g and decay_mult %g", i, p.GetLrMult(), p.GetDecayMult())
			}
		}
	}
	wantError(t, b, layertest.Case{Type: "BatchNorm", Param: "param { lr_mult: 2 }", Bottoms: in}, "lr_mult", "2")
}

package all_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Oracles of the layers of forks: the papers' formulas in float64, value by value.

// between returns n values that go evenly from lo to hi, in a mixed order.
func between(n int, lo, hi float64) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(lo + (hi-lo)*float64(i*7919%n)/float64(n))
	}
	return values
}

// alternating returns n different gradients.
func alternating(n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i%5) - 1.5 + float32(i%3)/4
	}
	return values
}

func TestNeuronsOfForks(t *testing.T) {
	relu6 := func(x float64) float64 { return math.Min(math.Max(x, 0), 6) }
	inside := func(x, lo, hi float64) float64 { return holds(x > lo && x < hi) }
	tests := []struct {
		typ, param string
		f, slope   func(x float64) float64
	}{
		{"ReLU6", "", relu6, func(x float64) float64 { return inside(x, 0, 6) }},
		{"HardSigmoid", "", func(x float64) float64 { return math.Max(0, math.Min(1, float64(float32(0.2))*x+0.5)) }, func(x float64) float64 { return 0.2 * inside(x, -2.5, 2.5) }},
		{"HardSwish", "", func(x float64) float64 { return x * relu6(x+3) / 6 },
			func(x float64) float64 { return inside(x, -3, 3)*(2*x+3)/6 + holds(x >= 3) }},
		{"Mish", "", func(x float64) float64 { return x * math.Tanh(math.Log1p(math.Exp(x))) }, func(x float64) float64 { // Misra 2019, section 3
			if x > 50 {
				return 1
			}
			e := math.Exp(x)
			omega, delta := 4*(x+1)+4*e*e+e*e*e+e*(4*x+6), 2*e+e*e+2
			return e * omega / (delta * delta)
		}},
	}
	x := append(between(200, -9, 9), -3.01, 2.99, 60, 600, -60, -600, 1e30)
	dy := alternating(len(x))
	b := layertest.NewBench(t)
	for _, tt := range tests {
		var y, dx []float32
		for i, v := range x {
			y = append(y, float32(tt.f(float64(v))))
			dx = append(dx, float32(float64(dy[i])*tt.slope(float64(v))))
		}
		for _, engine := range layertest.Engines() {
			for _, inPlace := range []bool{false, true} {
				f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: tt.param, InPlace: inPlace, Bottoms: []layertest.Bottom{layertest.Given(x, len(x))}})
				layertest.Equal(t, tt.typ, f.Forward(t)[0], y, 1e-6)
				got, _ := f.Backward(t, dy)
				layertest.Equal(t, tt.typ+" gradient", got[0], dx, 2e-6)
			}
		}
	}
}

// TestNoiseStatistics: mean, deviation and range of the noise are those asked for, passes differ, and the test phase adds none.
func TestNoiseStatistics(t *testing.T) {
	const n = 40000
	b := layertest.NewBench(t)
	for _, tt := range []struct {
		param         string
		mean, std     float64
		furthest      float64
		phase         caffepb.Phase
		differs, same bool
	}{
		{"noise_param { gaussian_std: 2 bias: 3 }", 3, 2, 14, caffepb.Phase_TRAIN, true, false},
		{"noise_param { uniform_range: 2 bias: -1 }", -1, 2 / math.Sqrt(3), 2, caffepb.Phase_TRAIN, true, false},
		{"noise_param { uniform_range: 2 bias: -1 }", 0, 0, 0, caffepb.Phase_TEST, false, true},
	} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Noise", Param: tt.param, Phase: tt.phase, Bottoms: []layertest.Bottom{layertest.Given(make([]float32, n), n)}})
			first := f.Forward(t)[0]
			var sum, squares float64
			for _, v := range first {
				d := float64(v) - tt.mean
				if math.Abs(d) > tt.furthest {
					t.Fatalf("%s: noise of %g", tt.param, v)
				}
				sum, squares = sum+d, squares+d*d
			}
			if mean, std := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 4*tt.std/math.Sqrt(n) || math.Abs(std-tt.std) > 0.02*tt.std {
				t.Errorf("%s on %v: mean %g too much, deviation %g", tt.param, engine, mean, std)
			}
			if err := f.Layer.Forward(f.Bottom, f.Top); err != nil { // without the state of the first
				t.Fatal(err)
			}
			if again := f.Top[0].Data(); (again[0] != first[0]) != tt.differs {
				t.Errorf("%s on %v: a second pass gives %g after %g", tt.param, engine, again[0], first[0])
			}
		}
	}
}

// TestPermuteByIndex compares every element of permutations with its place by definition.
func TestPermuteByIndex(t *testing.T) {
	b := layertest.NewBench(t)
	for _, tt := range []struct {
		shape []int
		order []int
	}{
		{[]int{2, 3, 4, 5}, []int{0, 2, 3, 1}}, {[]int{2, 70, 9, 130}, []int{0, 2, 3, 1}}, {[]int{2, 70, 9, 130}, []int{3, 1, 2, 0}},
		{[]int{2, 3, 90, 70}, []int{1, 0, 2, 3}}, {[]int{3, 1, 5}, []int{2, 1, 0}}, {[]int{2, 3, 0, 4}, []int{3, 2, 1, 0}}, {[]int{7}, []int{0}},
		{[]int{5, 2, 3, 4, 6}, []int{4, 2, 0, 3, 1}},
	} {
		param, top := "permute_param {", make([]int, len(tt.order))
		for k, axis := range tt.order {
			param, top[k] = param+fmt.Sprintf(" order: %d", axis), tt.shape[axis]
		}
		x := between(max(1, blob.CountOf(tt.shape...)), -1, 1)[:blob.CountOf(tt.shape...)]
		want := make([]float32, len(x))
		for i := range want {
			index, rest := make([]int, len(top)), i
			for k := len(top) - 1; k >= 0; k-- {
				index[tt.order[k]], rest = rest%top[k], rest/top[k]
			}
			at := 0
			for k, n := range tt.shape {
				at = at*n + index[k]
			}
			want[i] = x[at]
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Permute", Param: param + " }", Bottoms: []layertest.Bottom{layertest.Given(x, tt.shape...)}})
			if got := fmt.Sprint(f.Top[0].Shape()); got != fmt.Sprint(top) {
				t.Errorf("%s: shape %s, want %v", param, got, top)
			}
			layertest.Equal(t, param, f.Forward(t)[0], want, 0)
			dx, _ := f.Backward(t, want)
			layertest.Equal(t, param+" gradient", dx[0], x, 0)
			all := strings.NewReplacer("permute_param", "transpose_param", "order", "dim").Replace(param) + " }"
			f = layertest.Build(t, b, engine, layertest.Case{Type: "Transpose", Param: all, Bottoms: []layertest.Bottom{layertest.Given(x, tt.shape...)}})
			layertest.Equal(t, all, f.Forward(t)[0], want, 0)
		}
	}
}

// TestReverseByIndex compares every element with its place by definition. Slices are larger and smaller than a kernel's tile.
func TestReverseByIndex(t *testing.T) {
	b := layertest.NewBench(t)
	for _, dims := range [][3]int{{1, 5, 6}, {2, 3, 1}, {3, 1, 4}, {2, 5, 9001}, {2, 9001, 1}, {1, 700, 13}, {2, 0, 3}} {
		outer, n, inner := dims[0], dims[1], dims[2]
		x := between(max(1, outer*n*inner), -1, 1)[:outer*n*inner]
		want := make([]float32, len(x))
		for o := range outer {
			for k := range n {
				copy(want[(o*n+n-1-k)*inner:][:inner], x[(o*n+k)*inner:])
			}
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Reverse", Param: "reverse_param { axis: 1 }", Bottoms: []layertest.Bottom{layertest.Given(x, outer, n, inner)}})
			layertest.Equal(t, fmt.Sprint(dims), f.Forward(t)[0], want, 0)
			dx, _ := f.Backward(t, want)
			layertest.Equal(t, fmt.Sprint(dims, " gradient"), dx[0], x, 0)
		}
	}
}

// TestShuffleChannelByIndex: six channels in two groups are interleaved.
func TestShuffleChannelByIndex(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "ShuffleChannel", Param: "shuffle_channel_param { group: 2 }",
			Bottoms: []layertest.Bottom{layertest.Given([]float32{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5}, 1, 6, 1, 2)}})
		layertest.Equal(t, "top", f.Forward(t)[0], []float32{0, 0.5, 3, 3.5, 1, 1.5, 4, 4.5, 2, 2.5, 5, 5.5}, 0)
	}
}

func TestAxpyByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Axpy", Bottoms: []layertest.Bottom{
			layertest.Given([]float32{2, -3}, 1, 2, 1, 1), layertest.Given([]float32{1, 2, 3, 4}, 1, 2, 1, 2), layertest.Given([]float32{10, 20, 30, 40}, 1, 2, 1, 2)}})
		layertest.Equal(t, "top", f.Forward(t)[0], []float32{12, 24, 21, 28}, 0)
		d, _ := f.Backward(t, []float32{1, 10, 100, 1000})
		layertest.Equal(t, "da", d[0], []float32{21, 4300}, 0)
		layertest.Equal(t, "dx", d[1], []float32{2, 20, -300, -3000}, 0)
		layertest.Equal(t, "dy", d[2], []float32{1, 10, 100, 1000}, 0)
	}
}

// TestNormalizeByDefinition compares all forms of Normalize with the definition, and their gradients with sums over the Jacobian: the
// derivative of x_j/n by x_i is (i == j)/n - x_i*x_j/n^3.
func TestNormalizeByDefinition(t *testing.T) {
	const items, channels, inner = 2, 3, 4
	b := layertest.NewBench(t)
	x := between(items*channels*inner, -2, 3)
	dy := alternating(len(x))
	for _, tt := range []struct {
		param         string
		eps           float64
		across, blobs bool
	}{
		{"", 0, true, false}, {"norm_param { eps: 0.25 }", 0.25, true, true}, {"norm_param { across_spatial: false eps: 0.25 channel_shared: false }", 0.25, false, true},
	} {
		s := []float64{1, 1, 1}
		if tt.blobs {
			s = []float64{1.5, 1.5, 1.5}
		}
		if !tt.across {
			s = []float64{0.5, -2, 3}
		}
		group := func(i int) int {
			if tt.across {
				return i / (channels * inner)
			}
			return i/(channels*inner)*inner + i%inner
		}
		norm := map[int]float64{}
		for i, v := range x {
			norm[group(i)] += float64(v) * float64(v)
		}
		y, dx, ds := make([]float32, len(x)), make([]float32, len(x)), make([]float64, channels)
		for i := range x {
			n, c := math.Sqrt(norm[group(i)]+tt.eps), i/inner%channels
			y[i] = float32(s[c] * float64(x[i]) / n)
			ds[c] += float64(dy[i]) * float64(x[i]) / n
			var sum float64
			for j := range x {
				if group(i) == group(j) {
					sum += float64(dy[j]) * s[j/inner%channels] * (holds(i == j)/n - float64(x[i])*float64(x[j])/(n*n*n))
				}
			}
			dx[i] = float32(sum)
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Normalize", Param: tt.param, Bottoms: []layertest.Bottom{layertest.Given(x, items, channels, 2, 2)}})
			switch {
			case len(f.Layer.Params()) == 0:
			case tt.across:
				f.SetWeight(0, 1.5)
			default:
				f.SetWeight(0, floats(s)...)
			}
			layertest.Equal(t, tt.param, f.Forward(t)[0], y, 1e-6)
			got, weights := f.Backward(t, dy)
			layertest.Equal(t, tt.param+" gradient", got[0], dx, 2e-6)
			if len(weights) > 0 {
				want := ds
				if tt.across {
					want = []float64{ds[0] + ds[1] + ds[2]}
				}
				layertest.Equal(t, tt.param+" weight gradient", weights[0], floats(want), 2e-6)
			}
		}
	}
}

func TestErrorsOfForks(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"Transpose", "transpose_param { dim: 0 dim: 1 }", []layertest.Bottom{in(2, 3, 4)}, []string{"2 of dim", "3 axes", "2 3 4 (24)"}},
		{"Transpose", "transpose_param { dim: 0 dim: 1 dim: 1 }", []layertest.Bottom{in(2, 3, 4)}, []string{"each of the 3 axes once", "[0 1 1]"}},
		{"Transpose", "transpose_param { dim: 0 dim: -1 }", []layertest.Bottom{in(2, 3)}, []string{"each of the 2 axes once", "[0 -1]"}},
		{"Reverse", "reverse_param { axis: 3 }", []layertest.Bottom{in(2, 3, 4)}, []string{"axis 3"}},
		{"Permute", "permute_param { order: 3 }", []layertest.Bottom{in(2, 3, 4)}, []string{"order should be less than the input dimension", "axis 3 of 3", "2 3 4 (24)"}},
		{"Permute", "permute_param { order: 1 order: 0 order: 1 }", []layertest.Bottom{in(2, 3, 4)}, []string{"duplicate", "axis 1"}},
		{"ShuffleChannel", "shuffle_channel_param { group: 0 }", []layertest.Bottom{in(2, 3, 4)}, []string{"group must be greater than 0", "it is 0"}},
		{"ShuffleChannel", "shuffle_channel_param { group: 4 }", []layertest.Bottom{in(2, 6, 4)}, []string{"group 4", "channels, 6"}},
		{"Axpy", "", []layertest.Bottom{in(2, 3), in(2, 3, 4), in(2, 3, 5)}, []string{"2 3 4 (24)", "2 3 5 (30)"}},
		{"Axpy", "", []layertest.Bottom{in(2, 2), in(2, 3, 4), in(2, 3, 4)}, []string{"2 2 (4)", "2 3 4 (24)"}},
		{"Axpy", "", []layertest.Bottom{in(2, 3, 4), in(2, 3, 4), in(2, 3, 4)}, []string{"one factor for each channel"}},
		{"Normalize", "norm_param { }", []layertest.Bottom{in(4)}, []string{"at least 2 axes", "4 (4)"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}

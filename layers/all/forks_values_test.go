package all_test

import (
	"fmt"
	"math"
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

// TestDepthwiseBySums compares depthwise convolutions with sums over each channel's own plane.
func TestDepthwiseBySums(t *testing.T) {
	const n, c, h, w, each, k, stride, pad = 2, 5, 7, 6, 2, 3, 2, 1
	x, weights, bias := between(n*c*h*w, -1, 1), between(c*each*k*k, -2, 1), between(c*each, 0, 1)
	oh, ow := (h+2*pad-k)/stride+1, (w+2*pad-k)/stride+1
	want := make([]float32, n*c*each*oh*ow)
	for i := range want {
		ox, oy, out, item := i%ow, i/ow%oh, i/ow/oh%(c*each), i/ow/oh/(c*each)
		sum := float64(bias[out])
		for ky := range k {
			for kx := range k {
				if y, xx := oy*stride+ky-pad, ox*stride+kx-pad; y >= 0 && y < h && xx >= 0 && xx < w {
					sum += float64(weights[(out*k+ky)*k+kx]) * float64(x[((item*c+out/each)*h+y)*w+xx])
				}
			}
		}
		want[i] = float32(sum)
	}
	b := layertest.NewBench(t)
	for _, typ := range []string{"ConvolutionDepthwise", "DepthwiseConvolution"} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: typ, Param: "convolution_param { num_output: 10 kernel_size: 3 stride: 2 pad: 1 }",
				Bottoms: []layertest.Bottom{layertest.Given(x, n, c, h, w)}})
			f.SetWeight(0, weights...)
			f.SetWeight(1, bias...)
			layertest.Equal(t, typ, f.Forward(t)[0], want, 1e-5)
		}
	}
}

// TestForksNamesOfFields: hole is DeepLab's name for the dilation, and ceil_mode: false rounds a pooling's output down.
func TestForksNamesOfFields(t *testing.T) {
	b := layertest.NewBench(t)
	x := []layertest.Bottom{layertest.In(1, 2, 8, 9)}
	for _, tt := range []struct{ typ, param, same string }{
		{"Convolution", "convolution_param { num_output: 2 kernel_size: 3 hole: 2 }", "convolution_param { num_output: 2 kernel_size: 3 dilation: 2 }"},
		{"Convolution", "convolution_param { num_output: 2 kernel_size: 3 hole_h: 3 hole_w: 2 }", "convolution_param { num_output: 2 kernel_size: 3 dilation: 3 dilation: 2 }"},
		{"Pooling", "pooling_param { kernel_size: 3 stride: 2 ceil_mode: false }", "pooling_param { kernel_size: 3 stride: 2 round_mode: FLOOR }"},
		{"Pooling", "pooling_param { kernel_size: 3 stride: 2 ceil_mode: true }", "pooling_param { kernel_size: 3 stride: 2 }"},
	} {
		for _, engine := range layertest.Engines() {
			got := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: x})
			want := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: tt.same, Bottoms: x})
			if g, w := got.Top[0].ShapeString(), want.Top[0].ShapeString(); g != w {
				t.Fatalf("%s: shape %s, want %s", tt.param, g, w)
			}
			layertest.Equal(t, tt.param, got.Forward(t)[0], want.Forward(t)[0], 0)
		}
	}
}

// TestInterpByDefinition compares Interp with the definition in float64, and its gradient with the transpose of the same sums.
func TestInterpByDefinition(t *testing.T) {
	const planes, h, w = 3, 6, 8
	b := layertest.NewBench(t)
	for _, tt := range []struct {
		param    string
		cut, end int
		oh, ow   int
	}{
		{"height: 11 width: 5", 0, 0, 11, 5}, {"zoom_factor: 8", 0, 0, 41, 57}, {"shrink_factor: 3", 0, 0, 2, 3}, {"shrink_factor: 2 zoom_factor: 3", 0, 0, 7, 10},
		{"height: 1 width: 3", 0, 0, 1, 3}, {"pad_beg: -2 pad_end: -1 zoom_factor: 2", 2, 1, 5, 9}, {"shrink_factor: 2 height: 50 width: 50", 0, 0, 3, 4},
		{"height: 200 width: 300", 0, 0, 200, 300},
	} {
		x := between(planes*h*w, -1, 2)
		y, dx := make([]float32, planes*tt.oh*tt.ow), make([]float64, len(x))
		dy := alternating(len(y))
		place := func(o, in, out int) (int, float64) {
			if out == 1 {
				return 0, 0
			}
			p := float64(o) * float64(in-1) / float64(out-1)
			at := math.Min(math.Floor(p+1e-6), float64(max(0, in-2)))
			return int(at), p - at
		}
		uh, uw := h-tt.cut-tt.end, w-tt.cut-tt.end
		for i := range y {
			r, fr := place(i/tt.ow%tt.oh, uh, tt.oh)
			c, fc := place(i%tt.ow, uw, tt.ow)
			var sum float64
			for _, corner := range []struct {
				r, c int
				f    float64
			}{{r, c, (1 - fr) * (1 - fc)}, {r + 1, c, fr * (1 - fc)}, {r, c + 1, (1 - fr) * fc}, {r + 1, c + 1, fr * fc}} {
				if corner.f == 0 {
					continue
				}
				at := (i/tt.ow/tt.oh*h+tt.cut+corner.r)*w + tt.cut + corner.c
				sum += corner.f * float64(x[at])
				dx[at] += corner.f * float64(dy[i])
			}
			y[i] = float32(sum)
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Interp", Param: "interp_param { " + tt.param + " }", Bottoms: []layertest.Bottom{layertest.Given(x, 1, planes, h, w)}})
			if got := fmt.Sprint(f.Top[0].Shape()); got != fmt.Sprint([]int{1, planes, tt.oh, tt.ow}) {
				t.Errorf("%s: shape %s", tt.param, got)
			}
			layertest.Equal(t, tt.param, f.Forward(t)[0], y, 1e-4)
			got, _ := f.Backward(t, dy)
			layertest.Equal(t, tt.param+" gradient", got[0], floats(dx), 1e-3)
		}
	}
}

// TestUpsampleUndoesPooling: values go back to the places where a Pooling layer found them, and gradients return from there.
func TestUpsampleUndoesPooling(t *testing.T) {
	b := layertest.NewBench(t)
	x := layertest.Given([]float32{5, 6, 7, 8}, 1, 1, 2, 2)
	mask := layertest.Bottom{Shape: []int{1, 1, 2, 2}, NoGradient: true, Fill: layertest.Given([]float32{1, 6, 8, 15}, 4).Fill}
	want := []float32{0, 5, 0, 0, 0, 0, 6, 0, 7, 0, 0, 0, 0, 0, 0, 8}
	dy := []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	for _, engine := range layertest.Engines() {
		for typ, param := range map[string]string{"Upsample": "upsample_param { scale: 2 }", "Unpooling": "unpooling_param { kernel_size: 2 stride: 2 unpool_size: 4 }"} {
			f := layertest.Build(t, b, engine, layertest.Case{Type: typ, Param: param, Bottoms: []layertest.Bottom{x, mask}})
			layertest.Equal(t, typ, f.Forward(t)[0], want, 0)
			dx, _ := f.Backward(t, dy)
			layertest.Equal(t, typ+" gradient", dx[0], []float32{1, 6, 8, 15}, 0)
			f.SetInput(1, 1, 6, 16, 15)
			copy(f.Bottom[1].Data(), []float32{1, 6, 16, 15})
			if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != "index 16 of value 2 is out of range: the top's planes have 16 values; does the mask belong to a plane of this size?" {
				t.Errorf("%s on %v: error %v", typ, engine, err)
			}
		}
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Unpooling", Param: "unpooling_param { kernel_size: 2 stride: 2 unpool_size: 3 }", Bottoms: []layertest.Bottom{x}})
		layertest.Equal(t, "corners", f.Forward(t)[0], []float32{5, 0, 6, 0, 0, 0, 7, 0, 8}, 0)
		f = layertest.Build(t, b, engine, layertest.Case{Type: "Upsample", Param: "upsample_param { scale: 2 }", Bottoms: []layertest.Bottom{x}})
		layertest.Equal(t, "nearest", f.Forward(t)[0], []float32{5, 5, 6, 6, 5, 5, 6, 6, 7, 7, 8, 8, 7, 7, 8, 8}, 0)
	}
}

// TestBNByDefinition compares both forms of BN with the definition, in both phases, and the running averages with theirs.
func TestBNByDefinition(t *testing.T) {
	const items, channels, inner = 3, 2, 4
	x := between(items*channels*inner, -1, 4)
	var mean, variance [channels]float64
	for i, v := range x {
		mean[i/inner%channels] += float64(v) / (items * inner)
	}
	for i, v := range x {
		d := float64(v) - mean[i/inner%channels]
		variance[i/inner%channels] += d * d / (items * inner)
	}
	slope, bias, storedMean, storedVariance := []float32{2, -0.5}, []float32{0.25, 3}, []float32{0.5, -1}, []float32{4, 0.25}
	b := layertest.NewBench(t)
	for _, tt := range []struct {
		param string
		phase caffepb.Phase
		kind  string
		eps   float64
	}{
		{"momentum: 0.75 eps: 0.01", caffepb.Phase_TRAIN, "batch", 0.01}, {"eps: 0.01", caffepb.Phase_TEST, "stored", 0.01}, {"frozen: true", caffepb.Phase_TRAIN, "stored", 1e-5},
		{"var_eps: 0.01", caffepb.Phase_TRAIN, "batch", 0.01}, {"bn_mode: LEARN", caffepb.Phase_TEST, "batch", 1e-9}, {"bn_mode: INFERENCE", caffepb.Phase_TEST, "none", 0},
	} {
		want := make([]float32, len(x))
		for i, v := range x {
			c := i / inner % channels
			m, s := 0.0, 1.0
			switch tt.kind {
			case "batch":
				m, s = mean[c], math.Sqrt(variance[c]+tt.eps)
			case "stored":
				m, s = float64(storedMean[c]), math.Sqrt(float64(storedVariance[c])+tt.eps)
			}
			want[i] = float32(float64(slope[c])*(float64(v)-m)/s + float64(bias[c]))
		}
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "BN", Param: "bn_param { " + tt.param + " }", Phase: tt.phase, Bottoms: []layertest.Bottom{layertest.Given(x, items, channels, 2, 2)}})
			f.SetWeight(0, slope...)
			f.SetWeight(1, bias...)
			stored := len(f.Layer.Params()) == 4
			if stored {
				f.SetWeight(2, storedMean...)
				f.SetWeight(3, storedVariance...)
			}
			layertest.Equal(t, tt.param, f.Forward(t)[0], want, 1e-6)
			if !stored {
				continue
			}
			for c := range channels {
				wantMean, wantVariance := float64(storedMean[c]), float64(storedVariance[c])
				if tt.kind == "batch" {
					wantMean, wantVariance = 0.75*wantMean+0.25*mean[c], 0.75*wantVariance+0.25*variance[c]
				}
				layertest.Equal(t, "running averages", []float32{f.Weight(2)[c], f.Weight(3)[c]}, floats([]float64{wantMean, wantVariance}), 1e-6)
			}
		}
	}
}

func TestErrorsOfSegmentation(t *testing.T) {
	b := layertest.NewBench(t)
	one := []layertest.Bottom{layertest.In(1, 3, 4, 5)}
	two := []layertest.Bottom{layertest.In(1, 3, 4, 5), layertest.In(1, 3, 4, 4)}
	masked := []layertest.Bottom{layertest.In(1, 3, 4, 5), layertest.In(1, 3, 4, 5)}
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"ConvolutionDepthwise", "convolution_param { num_output: 3 kernel_size: 1 group: 2 }", one, []string{"group 2", "channels, 3"}},
		{"ConvolutionDepthwise", "convolution_param { num_output: 4 kernel_size: 1 }", one, []string{"num_output 4", "group 3"}},
		{"Convolution", "convolution_param { num_output: 4 kernel_size: 1 hole: 3 dilation: 2 }", one, []string{"dilation is 2", "hole 3"}},
		{"Pooling", "pooling_param { kernel_size: 2 round_mode: FLOOR ceil_mode: true }", one, []string{"round_mode FLOOR", "ceil_mode true"}},
		{"Interp", "", one, []string{"needs height and width"}},
		{"Interp", "interp_param { height: 3 }", one, []string{"needs height and width"}},
		{"Interp", "interp_param { zoom_factor: 2 pad_beg: 1 }", one, []string{"non-positive padding", "pad_beg is 1"}},
		{"Interp", "interp_param { zoom_factor: 2 pad_beg: -2 pad_end: -2 }", one, []string{"1 3 4 5", "-2"}},
		{"Interp", "interp_param { zoom_factor: 0 }", one, []string{"positive", "they are 0 and 1"}},
		{"Interp", "interp_param { height: 0 width: 3 }", one, []string{"should be positive", "0 pixels"}},
		{"Upsample", "", two, []string{"1 3 4 5 (60)", "1 3 4 4 (48)"}},
		{"Upsample", "upsample_param { scale: 1 }", masked, []string{"more than 1", "1 x 1"}},
		{"Upsample", "upsample_param { scale: 3 pad_out_h: true }", masked, []string{"scale of 2", "3 x 3"}},
		{"Upsample", "upsample_param { upsample_h: 3 }", masked, []string{"upsample_h and upsample_w"}},
		{"Upsample", "upsample_param { upsample_h: 8 upsample_w: 8 }", one, []string{"one bottom"}},
		{"Unpooling", "unpooling_param { kernel_size: 2 unpool_size: 4 unpool: AVE }", one, []string{"AVE is not supported"}},
		{"Unpooling", "unpooling_param { kernel_size: 2 }", one, []string{"unpool_size", "0 x 0"}},
		{"BN", "bn_param { frozen: true bn_mode: LEARN }", one, []string{"PSPNet", "SegNet"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}

// The size of the planes that regions are tested on.
const roiH, roiW = 6, 7

// pixelsBetween returns the mean, the maximum and its place of the pixels y1 <= y < y2, x1 <= x < x2, by hand.
func pixelsBetween(plane []float32, y1, y2, x1, x2 int) (mean, largest float64, place, n int) {
	largest, place = math.Inf(-1), -1
	for y := max(0, y1); y < min(y2, roiH); y++ {
		for x := max(0, x1); x < min(x2, roiW); x++ {
			v := float64(plane[y*roiW+x])
			mean, n = mean+v, n+1
			if v > largest {
				largest, place = v, y*roiW+x
			}
		}
	}
	return mean / float64(max(1, n)), largest, place, n
}

// TestROIPoolingByHand: the region from (2, 1) to (9, 7) at scale 0.5 covers columns 1 to 5 (4.5 rounds up) and rows 1 (0.5 rounds up) to 4
// (3.5 rounds up). Its bins of 2 x 2.5 pixels overlap in column 3.
func TestROIPoolingByHand(t *testing.T) {
	b := layertest.NewBench(t)
	x := between(2*roiH*roiW, -3, 3)
	rois := layertest.Bottom{Shape: []int{2, 5}, NoGradient: true, Fill: layertest.Given([]float32{1, 2, 1, 9, 7, 0, 40, 40, 50, 50}, 10).Fill}
	dy := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	var y, dx = make([]float32, 8), make([]float32, len(x))
	for i, bin := range [][4]int{{1, 3, 1, 4}, {1, 3, 3, 6}, {3, 5, 1, 4}, {3, 5, 3, 6}} {
		_, largest, place, _ := pixelsBetween(x[roiH*roiW:], bin[0], bin[1], bin[2], bin[3])
		y[i] = float32(largest)
		dx[roiH*roiW+place] += dy[i]
	}
	for _, engine := range layertest.Engines() { // the second region lies outside: zeros
		f := layertest.Build(t, b, engine, layertest.Case{Type: "ROIPooling", Param: "roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 0.5 }",
			Bottoms: []layertest.Bottom{layertest.Given(x, 2, 1, roiH, roiW), rois}})
		layertest.Equal(t, "top", f.Forward(t)[0], y, 0)
		got, _ := f.Backward(t, dy)
		layertest.Equal(t, "gradient", got[0], dx, 0)
		copy(f.Bottom[1].Data()[5:], []float32{2})
		if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != "region 1 is of image 2, but there are 2 images" {
			t.Errorf("%v: error %v", engine, err)
		}
	}
}

// TestPSROIPoolingByHand: the region from (2, 1) to (9, 7) at scale 0.5 covers 1 <= x < 5 and 0.5 <= y < 4. Each of its 2 x 2 bins is a mean
// over the plane of its own, and bin (i, j) of output d is of plane 4d + 2i + j.
func TestPSROIPoolingByHand(t *testing.T) {
	b := layertest.NewBench(t)
	const plane = roiH * roiW
	x := between(8*plane, -3, 3)
	rois := layertest.Bottom{Shape: []int{1, 5}, NoGradient: true, Fill: layertest.Given([]float32{0, 2, 1, 9, 7}, 5).Fill}
	dy := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	y, dx := make([]float32, 8), make([]float32, len(x))
	for i := range y {
		bin := [][4]int{{0, 3, 1, 3}, {0, 3, 3, 5}, {2, 4, 1, 3}, {2, 4, 3, 5}}[i%4] // rows 0.5 to 2.25 and 2.25 to 4, columns 1 to 3 and 3 to 5
		mean, _, _, n := pixelsBetween(x[i*plane:], bin[0], bin[1], bin[2], bin[3])
		y[i] = float32(mean)
		for row := bin[0]; row < bin[1]; row++ {
			for col := bin[2]; col < bin[3]; col++ {
				dx[i*plane+row*roiW+col] += dy[i] / float32(n)
			}
		}
	}
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "PSROIPooling", Param: "psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 }",
			Bottoms: []layertest.Bottom{layertest.Given(x, 1, 8, roiH, roiW), rois}})
		layertest.Equal(t, "top", f.Forward(t)[0], y, 1e-6)
		got, _ := f.Backward(t, dy)
		layertest.Equal(t, "gradient", got[0], dx, 1e-6)
	}
}

// TestROIAlignOfPlanes: on an image whose values rise linearly, a mean of samples is the value in the middle of the samples.
func TestROIAlignOfPlanes(t *testing.T) {
	b := layertest.NewBench(t)
	x := make([]float32, 20*30)
	for i := range x {
		x[i] = float32(3*(i/30) - 2*(i%30) + 5)
	}
	at := func(y, x float64) float64 { return 3*y - 2*x + 5 }
	rois := layertest.Bottom{Shape: []int{2, 5}, NoGradient: true, Fill: layertest.Given([]float32{0, 8, 6, 40, 30, 0, 20.5, 10.25, 31, 12}, 10).Fill}
	var want []float64
	for _, r := range [][4]float64{{8, 6, 40, 30}, {20.5, 10.25, 31, 12}} {
		x1, y1 := r[0]/2, r[1]/2
		w, h := math.Max(1, r[2]/2-x1)/3, math.Max(1, r[3]/2-y1)/2
		for i := range 6 {
			want = append(want, at(y1+(float64(i/3)+0.5)*h, x1+(float64(i%3)+0.5)*w))
		}
	}
	for _, ratio := range []string{"", "sampling_ratio: 1", "sampling_ratio: 3"} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "ROIAlign", Param: "roi_align_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 " + ratio + " }",
				Bottoms: []layertest.Bottom{layertest.Given(x, 1, 1, 20, 30), rois}})
			layertest.Equal(t, "top, "+ratio, f.Forward(t)[0], floats(want), 1e-5)
			dx, _ := f.Backward(t, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
			var sum float64
			for _, v := range dx[0] {
				sum += float64(v)
			}
			if math.Abs(sum-78) > 1e-3 { // each bin's weights add up to 1
				t.Errorf("%v %s: the gradients add up to %g, not 78", engine, ratio, sum)
			}
		}
	}
}

func TestSmoothL1ByHand(t *testing.T) {
	b := layertest.NewBench(t)
	given := func(v ...float32) layertest.Bottom { return layertest.Given(v, 2, 2) }
	fixed := func(v ...float32) layertest.Bottom {
		return layertest.Bottom{Shape: []int{2, 2}, NoGradient: true, Fill: given(v...).Fill}
	}
	for _, engine := range layertest.Engines() {
		// d = 0.5, -3, 0, 1: terms 0.125, 2.5, 0, 0.5, slopes 0.5, -1, 0, 1
		f := layertest.Build(t, b, engine, layertest.Case{Type: "SmoothL1Loss", Bottoms: []layertest.Bottom{given(1.5, 0, 2, 3), given(1, 3, 2, 2)}})
		layertest.Equal(t, "loss", f.Forward(t)[0], []float32{3.125 / 2}, 1e-7)
		d, _ := f.Backward(t, []float32{2})
		layertest.Equal(t, "da", d[0], []float32{0.5, -1, 0, 1}, 1e-7)
		layertest.Equal(t, "db", d[1], []float32{-0.5, 1, 0, -1}, 1e-7)
		// sigma 2, w_in 0.25, 1, 1, 0.5: d = 0.125, -3, 0, 0.5 and 1/sigma^2 = 0.25: terms 2*0.015625, 3-0.125, 0, 0.5-0.125, slopes 0.5, -1, 0, 1
		f = layertest.Build(t, b, engine, layertest.Case{Type: "SmoothL1Loss", Param: "smooth_l1_loss_param { sigma: 2 }",
			Bottoms: []layertest.Bottom{given(1.5, 0, 2, 3), given(1, 3, 2, 2), fixed(0.25, 1, 1, 0.5), fixed(4, 1, 7, 2)}})
		layertest.Equal(t, "weighted loss", f.Forward(t)[0], []float32{(4*0.03125 + 2.875 + 2*0.375) / 2}, 1e-7)
		d, _ = f.Backward(t, []float32{2})
		layertest.Equal(t, "weighted da", d[0], []float32{4 * 0.25 * 0.5, -1, 0, 2 * 0.5}, 1e-7)
	}
}

func TestErrorsOfRegions(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"ROIPooling", "", []layertest.Bottom{in(1, 2, 3, 4), in(2, 5)}, []string{"pooled_h and pooled_w", "0 and 0"}},
		{"ROIPooling", "roi_pooling_param { pooled_h: 1 pooled_w: 1 }", []layertest.Bottom{in(1, 2, 3, 4), in(2, 4)}, []string{"5 values", "2 4 (8)"}},
		{"ROIPooling", "roi_pooling_param { pooled_h: 1 pooled_w: 1 }", []layertest.Bottom{in(2, 3, 4), in(2, 5)}, []string{"4 axes", "2 3 4 (24)"}},
		{"ROIAlign", "roi_align_param { pooled_h: 1 pooled_w: 1 spatial_scale: -1 }", []layertest.Bottom{in(1, 2, 3, 4), in(2, 5)}, []string{"spatial_scale", "it is -1"}},
		{"PSROIPooling", "psroi_pooling_param { spatial_scale: 1 group_size: 2 }", []layertest.Bottom{in(1, 2, 3, 4), in(2, 5)}, []string{"output_dim and group_size", "0 and 2"}},
		{"PSROIPooling", "psroi_pooling_param { spatial_scale: 1 output_dim: 2 group_size: 2 }", []layertest.Bottom{in(1, 7, 3, 4), in(2, 5)}, []string{"2 x 2 x 2 = 8", "1 7 3 4 (84)"}},
		{"SmoothL1Loss", "", []layertest.Bottom{in(2, 3), in(2, 3), in(2, 3)}, []string{"3 bottoms"}},
		{"SmoothL1Loss", "", []layertest.Bottom{in(2, 3), in(2, 4)}, []string{"2 3 (6)", "2 4 (8)"}},
		{"SmoothL1Loss", "smooth_l1_loss_param { sigma: 0 }", []layertest.Bottom{in(2, 3), in(2, 3)}, []string{"sigma", "it is 0"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}

// TestFocalLossByDefinition compares the loss with the definition, and its gradient with central differences of that.
func TestFocalLossByDefinition(t *testing.T) {
	x, labels := between(12, -2, 2), []float32{1, 0, 2, 1}
	for _, p := range [][2]float64{{0.25, 2}, {1, 0}, {0.5, 3.5}} {
		alpha, gamma := p[0], p[1]
		value := func(x []float64) (sum float64) {
			for n, label := range labels {
				var total float64
				for c := range 3 {
					total += math.Exp(x[3*n+c])
				}
				q := math.Exp(x[3*n+int(label)]) / total
				sum -= alpha * math.Pow(1-q, gamma) * math.Log(q) / 4
			}
			return sum
		}
		exact := make([]float64, len(x))
		for i, v := range x {
			exact[i] = float64(v)
		}
		var want []float64
		for i := range exact {
			const h = 1e-5
			exact[i] += h
			above := value(exact)
			exact[i] -= 2 * h
			want = append(want, (above-value(exact))/(2*h))
			exact[i] += h
		}
		b := layertest.NewBench(t)
		for _, typ := range []string{"FocalLoss", "SoftmaxFocalLoss"} {
			for _, engine := range layertest.Engines() {
				f := layertest.Build(t, b, engine, layertest.Case{Type: typ, Param: fmt.Sprintf("focal_loss_param { alpha: %g gamma: %g }", alpha, gamma),
					Bottoms: []layertest.Bottom{layertest.Given(x, 4, 3), {Shape: []int{4}, NoGradient: true, Fill: layertest.Given(labels, 4).Fill}}})
				layertest.Equal(t, "loss", f.Forward(t)[0], floats([]float64{value(exact)}), 1e-6)
				dx, _ := f.Backward(t, []float32{1})
				layertest.Equal(t, "gradient", dx[0], floats(want), 1e-6)
			}
		}
	}
}

// TestCenterLossByHand: class 1 has two items and class 0 has one, class 2 none. The centres' gradients are those of the paper's equation 4.
func TestCenterLossByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "CenterLoss", Param: "center_loss_param { num_output: 3 }", Bottoms: []layertest.Bottom{
			layertest.Given([]float32{1, 2, 3, 4, 5, 6}, 3, 2), {Shape: []int{3}, NoGradient: true, Fill: layertest.Given([]float32{1, 0, 1}, 3).Fill}}})
		f.SetWeight(0, 0, 1, 2, 2, 9, 9)
		layertest.Equal(t, "loss", f.Forward(t)[0], []float32{(1 + 0 + 9 + 9 + 9 + 16) / 6.}, 1e-6)
		dx, centres := f.Backward(t, []float32{6})
		layertest.Equal(t, "dx", dx[0], []float32{-2, 0, 6, 6, 6, 8}, 1e-6)
		layertest.Equal(t, "centres", centres[0], []float32{-1.5, -1.5, -2. / 3, -4. / 3, 0, 0}, 1e-6)
		copy(f.Bottom[1].Data(), []float32{1, 0, 3})
		if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != "label 3 of item 2 is out of range: there are 3 classes (0 to 2)" {
			t.Errorf("%v: error %v", engine, err)
		}
	}
}

// TestTripletLossByHand: the first triplet's term is 1 + 1 - 0.25 and the second's is negative.
func TestTripletLossByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		for _, weighted := range []bool{false, true} {
			bottoms := []layertest.Bottom{layertest.Given([]float32{0, 0, 1, 1}, 2, 2), layertest.Given([]float32{1, 0, 1, 1}, 2, 2), layertest.Given([]float32{0, 0.5, 4, 5}, 2, 2)}
			w := float32(1)
			if weighted {
				w, bottoms = 3, append(bottoms, layertest.Bottom{Shape: []int{2}, NoGradient: true, Fill: layertest.Given([]float32{3, 7}, 2).Fill})
			}
			f := layertest.Build(t, b, engine, layertest.Case{Type: "TripletLoss", Bottoms: bottoms})
			layertest.Equal(t, "loss", f.Forward(t)[0], []float32{w * 1.75 / 4}, 1e-6)
			d, _ := f.Backward(t, []float32{2})
			layertest.Equal(t, "anchors", d[0], []float32{-w, w * 0.5, 0, 0}, 1e-6)
			layertest.Equal(t, "positives", d[1], []float32{w, 0, 0, 0}, 1e-6)
			layertest.Equal(t, "negatives", d[2], []float32{0, -w * 0.5, 0, 0}, 1e-6)
		}
	}
}

func TestErrorsOfLossesOfForks(t *testing.T) {
	b := layertest.NewBench(t)
	in, labels := layertest.In(4, 3), layertest.Labels(3, 4)
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"FocalLoss", "focal_loss_param { type: LINEAR }", []layertest.Bottom{in, labels}, []string{"LINEAR is not supported"}},
		{"FocalLoss", "focal_loss_param { gamma: -1 }", []layertest.Bottom{in, labels}, []string{"gamma", "it is -1"}},
		{"FocalLoss", "", []layertest.Bottom{in, layertest.Labels(3, 4, 2)}, []string{"4 labels", "there are 8"}},
		{"CenterLoss", "", []layertest.Bottom{in, labels}, []string{"num_output", "it is 0"}},
		{"CenterLoss", "center_loss_param { num_output: 3 axis: 5 }", []layertest.Bottom{in, labels}, []string{"axis 5", "4 3 (12)"}},
		{"TripletLoss", "", []layertest.Bottom{in, in, layertest.In(4, 2)}, []string{"4 3 (12)", "4 2 (8)"}},
		{"TripletLoss", "", []layertest.Bottom{in, in, in, layertest.In(3)}, []string{"4 items", "3 (3)"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}

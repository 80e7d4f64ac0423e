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

// TestUnpoolingWindows: windows of 2 x 3 pixels, 2 apart, of which a plane of 3 x 6 cuts off the last ones; columns 2 and 4 lie in two windows.
func TestUnpoolingWindows(t *testing.T) {
	b := layertest.NewBench(t)
	x, dy := layertest.Given([]float32{6, 12, 24, 60, 120, 240}, 1, 1, 2, 3), make([]float32, 18)
	for i := range dy {
		dy[i] = float32(i)
	}
	for unpool, want := range map[string][2][]float32{
		"TILE": {{6, 6, 18, 12, 36, 24, 6, 6, 18, 12, 36, 24, 60, 60, 180, 120, 360, 240}, {4, 6, 7.5, 13, 15, 16.5}},
		"AVE":  {{1, 1, 3, 2, 8, 6, 1, 1, 3, 2, 8, 6, 20, 20, 60, 40, 160, 120}, {4, 6, 7.5, 13, 15, 16.5}},
	} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Unpooling", Bottoms: []layertest.Bottom{x},
				Param: "unpooling_param { unpool: " + unpool + " kernel_h: 2 kernel_w: 3 stride: 2 unpool_h: 3 unpool_w: 6 }"})
			layertest.Equal(t, unpool, f.Forward(t)[0], want[0], 1e-6)
			dx, _ := f.Backward(t, dy)
			layertest.Equal(t, unpool+" gradient", dx[0], want[1], 1e-6)
		}
	}
}

// TestBNByDefinition compares all forms of BN with the definition, in both phases, and the running averages with theirs.
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
		{"decay: 0.25 var_eps: 0.01", caffepb.Phase_TRAIN, "batch", 0.01},
		{"moving_average: true var_eps: 0.01 axis: 1", caffepb.Phase_TEST, "stored", 0.01}, {"decay: 0.25", caffepb.Phase_TEST, "batch", 1e-10},
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
				if tt.kind == "batch" && tt.phase == caffepb.Phase_TRAIN {
					wantMean, wantVariance = 0.75*wantMean+0.25*mean[c], 0.75*wantVariance+0.25*variance[c]
				}
				layertest.Equal(t, "running averages", []float32{f.Weight(2)[c], f.Weight(3)[c]}, floats([]float64{wantMean, wantVariance}), 1e-6)
			}
		}
	}
}

// TestBNStarts: the running variance starts at 0, in a frozen layer at 1. Weights have the forks' shapes.
func TestBNStarts(t *testing.T) {
	b := layertest.NewBench(t)
	for param, want := range map[string][]string{
		"": {"1 2 (2): [1 1]", "1 2 (2): [0 0]", "1 2 (2): [0 0]", "1 2 (2): [0 0]"}, "frozen: true": {"1 2 (2): [1 1]", "1 2 (2): [0 0]", "1 2 (2): [0 0]", "1 2 (2): [1 1]"},
		"moving_average: true scale_filler { value: 2 }": {"1 2 1 1 (2): [2 2]", "1 2 1 1 (2): [0 0]", "1 2 1 1 (2): [0 0]", "1 2 1 1 (2): [0 0]"},
		"shift_filler { value: 3 }":                      {"1 2 1 1 (2): [1 1]", "1 2 1 1 (2): [3 3]"},
	} {
		f := layertest.Build(t, b, layers.CPE, layertest.Case{Type: "BN", Param: "bn_param { " + param + " }", KeepWeights: true, Bottoms: []layertest.Bottom{layertest.In(3, 2)}})
		var got []string
		for _, w := range f.Layer.Params() {
			got = append(got, fmt.Sprintf("%s: %v", w.ShapeString(), w.Data()))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: weights %v, want %v", param, got, want)
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
		{"Unpooling", "unpooling_param { kernel_size: 2 }", one, []string{"unpool_size", "0 x 0"}},
		{"BN", "bn_param { frozen: true bn_mode: LEARN }", one, []string{"PSPNet", "SegNet"}},
		{"BN", "bn_param { frozen: true decay: 0.1 }", one, []string{"PSPNet's first", "different layers"}},
		{"BN", "bn_param { moving_average: true bn_mode: LEARN }", one, []string{"bn_mode", "two layers"}},
		{"BN", "bn_param { decay: 1.5 }", one, []string{"decay", "1.5"}},
		{"BN", "bn_param { axis: 2 }", one, []string{"axis must be 1, it is 2"}},
		{"Interp", "interp_param { zoom_factor: 2 interp_type: \"nearest_neighbor\" }", one, []string{"nearest_neighbor", "bilinear"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}

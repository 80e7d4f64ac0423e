package all_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("Convolution",
		layertest.Case{Name: "3x3 pad 1", Param: "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 5, 4)}, Again: [][]int{{3, 3, 4, 7}}, Step: 0.05}, // the objective is linear: a longer step is as exact and loses less to rounding
		layertest.Case{Name: "5x5 pad 2", Param: "convolution_param { num_output: 2 kernel_size: 5 pad: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(1, 2, 6, 5)}, Paths: 1e-4},
		layertest.Case{Name: "1x1", Param: "convolution_param { num_output: 3 kernel_size: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 4, 3, 3)}},
		layertest.Case{Name: "1x1 stride 2", Param: "convolution_param { num_output: 3 kernel_size: 1 stride: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 5, 4)}},
		layertest.Case{Name: "stride leaves a rest", Param: "convolution_param { num_output: 2 kernel_size: 3 stride: 2 bias_term: false }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 6, 8)}},
		layertest.Case{Name: "rectangular", Bottoms: []layertest.Bottom{layertest.In(2, 2, 5, 7)},
			Param: "convolution_param { num_output: 3 kernel_h: 2 kernel_w: 4 stride_h: 1 stride_w: 2 pad_h: 0 pad_w: 2 }"},
		layertest.Case{Name: "repeated fields", Bottoms: []layertest.Bottom{layertest.In(1, 2, 7, 6)},
			Param: "convolution_param { num_output: 2 kernel_size: 3 kernel_size: 2 stride: 2 stride: 1 pad: 1 pad: 0 dilation: 1 dilation: 3 }"},
		layertest.Case{Name: "dilated", Param: "convolution_param { num_output: 2 kernel_size: 3 pad: 2 dilation: 2 force_nd_im2col: true }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 6, 5)}},
		layertest.Case{Name: "2 groups", Param: "convolution_param { num_output: 4 kernel_size: 3 group: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 6, 4, 5)}, Again: [][]int{{1, 6, 6, 3}}},
		layertest.Case{Name: "strides far beyond the kernel", Param: "convolution_param { num_output: 3 kernel_size: 2 pad: 10 stride: 9 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 6, 5)}},
		layertest.Case{Name: "dilations far beyond the outputs", Param: "convolution_param { num_output: 3 kernel_size: 2 pad: 20 dilation: 41 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 3, 4)}},
		layertest.Case{Name: "depthwise", Param: "convolution_param { num_output: 3 kernel_size: 3 pad: 1 group: 3 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4, 4)}},
		layertest.Case{Name: "two bottoms share weights", Param: "convolution_param { num_output: 2 kernel_size: 2 }", Tops: 2,
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 3, 4), layertest.In(2, 2, 3, 4)}},
		layertest.Case{Name: "1 axis", Param: "convolution_param { num_output: 3 kernel_size: 3 pad: 1 stride: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 8)}},
		layertest.Case{Name: "3 axes", Param: "convolution_param { num_output: 2 kernel_size: 2 kernel_size: 3 kernel_size: 1 pad: 1 pad: 1 pad: 0 }",
			Bottoms: []layertest.Bottom{layertest.In(1, 2, 3, 4, 2)}},
		layertest.Case{Name: "no spatial axis", Param: "convolution_param { num_output: 6 kernel_size: 1 group: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(3, 4)}, Again: [][]int{{5, 4}}},
		layertest.Case{Name: "channels at axis 2", Param: "convolution_param { num_output: 2 kernel_size: 3 axis: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 2, 4, 3)}},
		layertest.Case{Name: "kernel as large as the image", Param: "convolution_param { num_output: 3 kernel_size: 4 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 4, 4)}},
		layertest.Case{Name: "larger than a block", Param: "convolution_param { num_output: 40 kernel_size: 3 pad: 1 }",
			NoGradient: "checked by the small cases", Bottoms: []layertest.Bottom{layertest.In(2, 19, 21, 18)}, Paths: 2e-4},
	)
	addCases("Deconvolution",
		layertest.Case{Name: "4x4 stride 2", Param: "convolution_param { num_output: 2 kernel_size: 4 stride: 2 pad: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 3, 4)}, Again: [][]int{{1, 3, 5, 2}}},
		layertest.Case{Name: "2 groups", Param: "convolution_param { num_output: 4 kernel_size: 3 group: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 6, 3, 2)}, Step: 0.05}, // the objective is linear, its sums are long
		layertest.Case{Name: "dilated without bias", Param: "convolution_param { num_output: 2 kernel_size: 2 dilation: 2 bias_term: false }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 3, 3)}},
		layertest.Case{Name: "rectangular", Param: "convolution_param { num_output: 3 kernel_h: 1 kernel_w: 3 stride_h: 2 stride_w: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(1, 2, 3, 4)}},
		layertest.Case{Name: "two bottoms share weights", Param: "convolution_param { num_output: 2 kernel_size: 2 }", Tops: 2,
			Bottoms: []layertest.Bottom{layertest.In(1, 2, 3, 2), layertest.In(1, 2, 3, 2)}},
		layertest.Case{Name: "no spatial axis", Param: "convolution_param { num_output: 3 axis: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4)}},
		layertest.Case{Name: "1 axis", Param: "convolution_param { num_output: 2 kernel_size: 3 stride: 3 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4)}},
	)
}

// image2D is a 2-D convolution in plain loops, the reference of both layers.
type image2D struct {
	n, c, h, w, out, group, oh, ow   int
	kh, kw, sh, sw, ph, pw, dilation int
}

// each visits all products, with the indices of the input, the weight and the output.
func (s image2D) each(visit func(x, w, y int)) {
	cg, og := s.c/s.group, s.out/s.group
	for n := 0; n < s.n; n++ {
		for o := 0; o < s.out; o++ {
			for c := 0; c < cg; c++ {
				for oy := 0; oy < s.oh; oy++ {
					for ox := 0; ox < s.ow; ox++ {
						for ky := 0; ky < s.kh; ky++ {
							for kx := 0; kx < s.kw; kx++ {
								y, x := oy*s.sh-s.ph+ky*s.dilation, ox*s.sw-s.pw+kx*s.dilation
								if y < 0 || x < 0 || y >= s.h || x >= s.w {
									continue
								}
								channel := o/og*cg + c
								visit(((n*s.c+channel)*s.h+y)*s.w+x, ((o*cg+c)*s.kh+ky)*s.kw+kx, ((n*s.out+o)*s.oh+oy)*s.ow+ox)
							}
						}
					}
				}
			}
		}
	}
}

func ramp(n int, from, step float32) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = from + step*float32(i*i%17)
	}
	return values
}

func TestConvolutionAgainstDirectLoops(t *testing.T) {
	b := layertest.NewBench(t)
	for _, s := range []image2D{
		{n: 2, c: 3, h: 5, w: 6, out: 2, group: 1, oh: 5, ow: 6, kh: 3, kw: 3, sh: 1, sw: 1, ph: 1, pw: 1, dilation: 1},
		{n: 1, c: 4, h: 7, w: 5, out: 6, group: 2, oh: 3, ow: 5, kh: 3, kw: 1, sh: 2, sw: 1, ph: 0, pw: 0, dilation: 1},
		{n: 2, c: 2, h: 9, w: 8, out: 3, group: 1, oh: 3, ow: 2, kh: 2, kw: 3, sh: 3, sw: 2, ph: 1, pw: 0, dilation: 2},
	} {
		param := fmt.Sprintf("convolution_param { num_output: %d group: %d kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d pad_h: %d pad_w: %d dilation: %d }",
			s.out, s.group, s.kh, s.kw, s.sh, s.sw, s.ph, s.pw, s.dilation)
		x, w := ramp(s.n*s.c*s.h*s.w, -2, 0.25), ramp(s.out*s.c/s.group*s.kh*s.kw, 1, -0.125)
		bias, dy := ramp(s.out, -1, 0.5), ramp(s.n*s.out*s.oh*s.ow, -1, 0.125)
		y, dx, dw := make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(w))
		for i := range y {
			y[i] = bias[i/(s.oh*s.ow)%s.out]
		}
		s.each(func(i, k, o int) {
			y[o] += x[i] * w[k]
			dx[i] += dy[o] * w[k]
			dw[k] += dy[o] * x[i]
		})
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "Convolution", Param: param,
				Bottoms: []layertest.Bottom{layertest.Given(x, s.n, s.c, s.h, s.w)}})
			f.SetWeight(0, w...)
			f.SetWeight(1, bias...)
			layertest.Equal(t, "y", f.Forward(t)[0], y, 1e-5)
			bottoms, weights := f.Backward(t, dy)
			layertest.Equal(t, "dx", bottoms[0], dx, 1e-5)
			layertest.Equal(t, "dw", weights[0], dw, 1e-5)
		}
	}
}

func TestDeconvolutionAgainstDirectLoops(t *testing.T) {
	b := layertest.NewBench(t)
	// The convolution goes from the layer's top (2 x 6 x 5 x 7) to its bottom (2 x 4 x 3 x 3).
	s := image2D{n: 2, c: 6, h: 5, w: 7, out: 4, group: 2, oh: 3, ow: 3, kh: 3, kw: 4, sh: 1, sw: 2, ph: 0, pw: 0, dilation: 1}
	s.w = s.sw*(s.ow-1) + s.kw
	x, w := ramp(s.n*s.out*s.oh*s.ow, -2, 0.25), ramp(s.out*s.c/s.group*s.kh*s.kw, 1, -0.125)
	bias, dy := ramp(s.c, -1, 0.5), ramp(s.n*s.c*s.h*s.w, -1, 0.125)
	y, dx, dw := make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(w))
	for i := range y {
		y[i] = bias[i/(s.h*s.w)%s.c]
	}
	s.each(func(o, k, i int) {
		y[o] += x[i] * w[k]
		dx[i] += dy[o] * w[k]
		dw[k] += dy[o] * x[i]
	})
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Deconvolution",
			Param:   "convolution_param { num_output: 6 group: 2 kernel_h: 3 kernel_w: 4 stride_h: 1 stride_w: 2 }",
			Bottoms: []layertest.Bottom{layertest.Given(x, s.n, s.out, s.oh, s.ow)}})
		if got, want := f.Top[0].ShapeString(), fmt.Sprintf("2 6 5 %d (%d)", s.w, len(y)); got != want {
			t.Fatalf("top has shape %s, expected %s", got, want)
		}
		f.SetWeight(0, w...)
		f.SetWeight(1, bias...)
		layertest.Equal(t, "y", f.Forward(t)[0], y, 1e-5)
		bottoms, weights := f.Backward(t, dy)
		layertest.Equal(t, "dx", bottoms[0], dx, 1e-5)
		layertest.Equal(t, "dw", weights[0], dw, 1e-5)
	}
}

// TestConvolutionSobel applies a Sobel filter to a step. The expected values are box sums, as in Caffe's own test.
func TestConvolutionSobel(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Convolution",
			Param:   "convolution_param { num_output: 1 kernel_size: 3 bias_term: false }",
			Bottoms: []layertest.Bottom{layertest.Given([]float32{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}, 1, 1, 3, 4)}})
		f.SetWeight(0, -1, 0, 1, -2, 0, 2, -1, 0, 1)
		layertest.Equal(t, "edge", f.Forward(t)[0], []float32{4, 4}, 0)
	}
}

// TestConvolutionOfVectors: a convolution without spatial axes is a matrix product, a deconvolution one with the transpose.
func TestConvolutionOfVectors(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		for _, tt := range []struct {
			typ, weights string
			w            []float32
		}{
			{"Convolution", "2 3 (6)", []float32{1, 10, 100, 2, 20, 200}},
			{"Deconvolution", "3 2 (6)", []float32{1, 2, 10, 20, 100, 200}},
		} {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: "convolution_param { num_output: 2 kernel_size: 1 }",
				Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 2, 3, 4, 5, 6}, 2, 3)}})
			if top, w := f.Top[0].ShapeString(), f.Layer.Params()[0].ShapeString(); top != "2 2 (4)" || w != tt.weights {
				t.Errorf("%v, %s: top has shape %s, weights %s", engine, tt.typ, top, w)
			}
			f.SetWeight(0, tt.w...)
			f.SetWeight(1, 0.5, -0.5)
			layertest.Equal(t, tt.typ, f.Forward(t)[0], []float32{321.5, 641.5, 654.5, 1307.5}, 1e-6)
			dx, _ := f.Backward(t, []float32{1, 0, 0, 1})
			layertest.Equal(t, tt.typ+" gradient", dx[0], []float32{1, 10, 100, 2, 20, 200}, 1e-6)
		}
	}
}

func TestConvolutionErrors(t *testing.T) {
	b := layertest.NewBench(t)
	tests := []struct {
		name, param string
		shape       []int
		want        []string
	}{
		{"group and channels", "num_output: 4 kernel_size: 1 group: 2", []int{1, 3, 2, 2}, []string{"3 channels", "group 2"}},
		{"group and outputs", "num_output: 3 kernel_size: 1 group: 2", []int{1, 4, 2, 2}, []string{"num_output 3", "group 2"}},
		{"padding too large", "num_output: 1 kernel_size: 3 pad: 4000000", []int{1, 1, 4, 4}, []string{"8000002", "2147483647"}},
		{"too many weights", "num_output: " + largest + " kernel_size: 3", []int{1, 1, 4, 4}, []string{largest + " 1 3 3", "2147483647"}},
		{"kernel too large", "num_output: 1 kernel_size: 7", []int{1, 1, 4, 9}, []string{"kernel 7", "4"}},
		{"no kernel", "num_output: 1", []int{1, 1, 4, 4}, []string{"kernel"}},
		{"no outputs", "kernel_size: 1", []int{1, 1, 4, 4}, []string{"num_output"}},
		{"zero stride", "num_output: 1 kernel_size: 1 stride: 0", []int{1, 1, 4, 4}, []string{"stride", "0"}},
		{"kernel twice", "num_output: 1 kernel_size: 1 kernel_h: 2 kernel_w: 2", []int{1, 1, 4, 4}, []string{"kernel_size", "kernel_h"}},
		{"three kernels for two axes", "num_output: 1 kernel_size: 1 kernel_size: 2 kernel_size: 3", []int{1, 1, 4, 4}, []string{"3", "2"}},
		{"stride along one axis", "num_output: 1 kernel_size: 1 stride_h: 2", []int{1, 1, 4, 4}, []string{"stride", "axis 1 has 0"}},
		{"two axes of none", "num_output: 1 kernel_h: 1 kernel_w: 1", []int{3, 4}, []string{"2 spatial axes", "0"}},
		{"no channels", "num_output: 1 kernel_size: 1", []int{1, 0, 4, 4}, []string{"no channels", "1 0 4 4"}},
		{"an empty axis", "num_output: 1 kernel_size: 1 stride: 2", []int{1, 1, 4, 0}, []string{"axis 1", "empty", "1 1 4 0"}},
		{"axis", "num_output: 1 kernel_size: 1 axis: 5", []int{1, 1, 4, 4}, []string{"axis 5"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, b, layertest.Case{Type: "Convolution", Param: "convolution_param { " + tt.param + " }",
				Bottoms: []layertest.Bottom{layertest.In(tt.shape...)}}, tt.want...)
		})
	}
}

func TestConvolutionBottomsOfDifferentShapes(t *testing.T) {
	wantError(t, layertest.NewBench(t), layertest.Case{Type: "Convolution", Param: "convolution_param { num_output: 1 kernel_size: 1 }", Tops: 2,
		Bottoms: []layertest.Bottom{layertest.In(1, 2, 3, 3), layertest.In(1, 2, 3, 4)}}, "1 2 3 3", "1 2 3 4")
}

// largest is the largest number of a field of 32 bits without a sign that an int holds.
var largest = strconv.Itoa(min(math.MaxUint32, math.MaxInt))

// wantError fails the test unless both paths refuse a case with an error that contains all parts.
func wantError(t *testing.T, b *layertest.Bench, c layertest.Case, parts ...string) {
	t.Helper()
	for _, engine := range layertest.Engines() {
		_, err := layertest.New(b.Device(engine), &c)
		if err == nil {
			t.Errorf("%v: %s was accepted", engine, c.Param)
			continue
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: the error %q does not contain %q", engine, err, part)
			}
		}
	}
}

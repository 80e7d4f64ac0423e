package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	addCases("Im2col",
		layertest.Case{Name: "3x3 pad 1", Param: "convolution_param { kernel_size: 3 pad: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 4, 5)}, Again: [][]int{{1, 3, 5, 3}}},
		layertest.Case{Name: "strides", Param: "convolution_param { kernel_h: 2 kernel_w: 3 stride_h: 2 stride_w: 3 pad_h: 1 pad_w: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 5, 6)}},
		layertest.Case{Name: "dilated", Param: "convolution_param { kernel_size: 3 pad: 2 stride: 2 dilation: 2 }",
			Bottoms: []layertest.Bottom{layertest.In(1, 2, 6, 7)}},
		layertest.Case{Name: "stride of rows only", Param: "convolution_param { kernel_size: 2 stride: 2 stride: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 5, 4)}},
		layertest.Case{Name: "1 axis", Param: "convolution_param { kernel_size: 3 stride: 2 pad: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 6)}},
		layertest.Case{Name: "3 axes", Param: "convolution_param { kernel_size: 2 stride: 1 stride: 2 stride: 1 pad: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(1, 2, 3, 2, 3)}},
	)
}

func TestIm2colByHand(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Im2col", Param: "convolution_param { kernel_h: 2 kernel_w: 1 pad_h: 1 pad_w: 0 }",
			Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 2, 3, 4}, 1, 1, 2, 2)}})
		if got := f.Top[0].ShapeString(); got != "1 2 3 2 (12)" {
			t.Fatalf("top has shape %s", got)
		}
		layertest.Equal(t, "columns", f.Forward(t)[0], []float32{0, 0, 1, 2, 3, 4, 1, 2, 3, 4, 0, 0}, 0)
		dx, _ := f.Backward(t, []float32{9, 9, 1, 2, 3, 4, 10, 20, 30, 40, 9, 9})
		layertest.Equal(t, "gradient", dx[0], []float32{11, 22, 33, 44}, 0)
	}
}

// TestIm2colTimesFiltersIsConvolution: the columns times the filters equal a Convolution with the same parameters.
func TestIm2colTimesFiltersIsConvolution(t *testing.T) {
	const param = "convolution_param { num_output: 3 kernel_size: 3 stride: 2 pad: 1 dilation: 2 bias_term: false }"
	in := layertest.In(2, 4, 9, 8)
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		conv := layertest.Build(t, b, engine, layertest.Case{Type: "Convolution", Param: param, Bottoms: []layertest.Bottom{in}})
		im2col := layertest.Build(t, b, engine, layertest.Case{Type: "Im2col", Param: param, Bottoms: []layertest.Bottom{in}})
		y, columns, w := conv.Forward(t)[0], im2col.Forward(t)[0], conv.Weight(0)
		depth, plane := im2col.Top[0].Dim(1), im2col.Top[0].CountFrom(2)
		want := make([]float32, len(y))
		for i := range want {
			n, o, p := i/plane/3, i/plane%3, i%plane
			for k := range depth {
				want[i] += w[o*depth+k] * columns[(n*depth+k)*plane+p]
			}
		}
		layertest.Equal(t, "y", y, want, 1e-5)
	}
}

func TestIm2colErrors(t *testing.T) {
	b := layertest.NewBench(t)
	for _, tt := range []struct {
		param string
		shape []int
		want  []string
	}{
		{"", []int{1, 1, 3, 3}, []string{"convolution_param"}},
		{"convolution_param { kernel_size: 5 }", []int{1, 1, 4, 6}, []string{"kernel 5", "4"}},
		{"convolution_param { kernel_size: 2 }", []int{2, 3}, []string{"axis 1", "2 3"}},
	} {
		wantError(t, b, layertest.Case{Type: "Im2col", Param: tt.param, Bottoms: []layertest.Bottom{layertest.In(tt.shape...)}}, tt.want...)
	}
}

package all_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	distinct := func(shape ...int) []layertest.Bottom {
		return []layertest.Bottom{layertest.Filled(layertest.Distinct(-3, 3), shape...)}
	}
	positive := []layertest.Bottom{layertest.Filled(layertest.Uniform(0.1, 1), 2, 2, 5, 4)}
	addCases("Pooling",
		layertest.Case{Name: "max", Param: "pooling_param { kernel_size: 2 stride: 2 }", Bottoms: distinct(2, 2, 4, 6), Again: [][]int{{1, 3, 5, 4}}},
		layertest.Case{Name: "max with places", Param: "pooling_param { kernel_size: 3 stride: 2 pad: 1 }", Bottoms: distinct(2, 2, 5, 4), Tops: 2, GradTops: 1},
		layertest.Case{Name: "overlapping rectangular max", Bottoms: distinct(2, 2, 5, 7),
			Param: "pooling_param { kernel_h: 3 kernel_w: 2 stride_h: 1 stride_w: 3 pad_h: 0 pad_w: 1 }"},
		layertest.Case{Name: "max rounded down", Param: "pooling_param { kernel_size: 3 stride: 2 round_mode: FLOOR }", Bottoms: distinct(1, 2, 6, 8)},
		layertest.Case{Name: "mean", Param: "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 6, 5)}, Again: [][]int{{1, 2, 3, 9}}},
		layertest.Case{Name: "global mean", Param: "pooling_param { pool: AVE global_pooling: true }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4, 5)}, Again: [][]int{{2, 3, 2, 2}}},
		layertest.Case{Name: "kernel larger than the image", Param: "pooling_param { pool: AVE kernel_size: 5 stride: 3 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 2, 3, 4)}},
		layertest.Case{Name: "drawn", Param: "pooling_param { pool: STOCHASTIC kernel_size: 2 stride: 2 }", Bottoms: positive,
			NoGradient: "a step can change which value is drawn"},
		layertest.Case{Name: "drawn from windows that hold nothing", Param: "pooling_param { pool: STOCHASTIC kernel_size: 1 stride: 2 }", Bottoms: positive,
			NoGradient: "draws a place"},
		layertest.Case{Name: "weighted mean", Param: "pooling_param { pool: STOCHASTIC kernel_size: 3 stride: 2 }", Bottoms: positive,
			Phase: caffepb.Phase_TEST, NoGradient: "there is none in phase TEST"},
		layertest.Case{Name: "rows that exceed a tile", Param: "pooling_param { kernel_size: 3 stride: 2 }", Bottoms: distinct(1, 2, 150, 131),
			NoGradient: "checked by the small cases"},
	)
}

func TestPoolingByHand(t *testing.T) {
	nan := float32(math.NaN())
	tests := []struct {
		name, param string
		h, w        int
		x           []float32
		shape       string
		y, dx       []float32 // dx for dy = 1, 2, 3, ...
	}{
		{"max rounds up", "kernel_size: 2 stride: 2", 3, 3, []float32{1, 2, 3, 4, 9, 6, 7, 8, 5}, "1 1 2 2 (4)",
			[]float32{9, 6, 8, 5}, []float32{0, 0, 0, 0, 1, 2, 0, 3, 4}},
		{"FLOOR rounds down", "kernel_size: 2 stride: 2 round_mode: FLOOR", 3, 3, []float32{1, 2, 3, 4, 9, 6, 7, 8, 5}, "1 1 1 1 (1)",
			[]float32{9}, []float32{0, 0, 0, 0, 1, 0, 0, 0, 0}},
		{"the first of equals", "kernel_size: 3", 3, 3, []float32{1, 7, 7, 7, 7, 0, 7, 7, 1}, "1 1 1 1 (1)",
			[]float32{7}, []float32{0, 1, 0, 0, 0, 0, 0, 0, 0}},
		{"all negative, padded", "kernel_size: 2 stride: 2 pad: 1", 2, 2, []float32{-1, -2, -3, -4}, "1 1 2 2 (4)",
			[]float32{-1, -2, -3, -4}, []float32{1, 2, 3, 4}},
		{"a last window past the image is dropped", "kernel_size: 2 stride: 3 pad: 1", 3, 3, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, "1 1 2 2 (4)",
			[]float32{1, 3, 7, 9}, []float32{1, 0, 2, 0, 0, 0, 3, 0, 4}},
		{"padding counts in the mean inside size + pad", "pool: AVE kernel_size: 3 stride: 2 pad: 1", 2, 2, []float32{9, 18, 27, 36}, "1 1 2 2 (4)",
			[]float32{10, 9, 10.5, 9}, nil},
		{"a last window behind the image holds nothing", "kernel_size: 1 stride: 2", 2, 2, []float32{1, 2, 3, 4}, "1 1 2 2 (4)",
			[]float32{1, -math.MaxFloat32, -math.MaxFloat32, -math.MaxFloat32}, []float32{1, 0, 0, 0}},
		{"NaN is not lost", "kernel_size: 2", 2, 2, []float32{1, nan, 3, 2}, "1 1 1 1 (1)", []float32{nan}, []float32{0, 1, 0, 0}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, engine := range layertest.Engines() {
				f := layertest.Build(t, b, engine, layertest.Case{Type: "Pooling", Param: "pooling_param { " + tt.param + " }",
					Bottoms: []layertest.Bottom{layertest.Given(tt.x, 1, 1, tt.h, tt.w)}})
				if got := f.Top[0].ShapeString(); got != tt.shape {
					t.Fatalf("%v: top has shape %s, expected %s", engine, got, tt.shape)
				}
				layertest.Equal(t, "y", f.Forward(t)[0], tt.y, 1e-6)
				if tt.dx == nil {
					continue
				}
				bottoms, _ := f.Backward(t, []float32{1, 2, 3, 4}[:len(tt.y)])
				layertest.Equal(t, "dx", bottoms[0], tt.dx, 0)
			}
		})
	}
}

func TestPoolingPlaces(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Pooling", Param: "pooling_param { kernel_size: 2 }", Tops: 2,
			Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 5, 2, 3, 4, 9, 8, 7, 7, 6, 3, 9}, 1, 2, 2, 3)}})
		tops := f.Forward(t)
		layertest.Equal(t, "y", tops[0], []float32{5, 9, 8, 9}, 0)
		layertest.Equal(t, "places in the plane", tops[1], []float32{1, 5, 0, 5}, 0)
	}
}

// TestStochasticPoolingFrequencies: a window's values are selected with probability proportional to them.
func TestStochasticPoolingFrequencies(t *testing.T) {
	const planes = 20000
	x := make([]float32, 4*planes)
	for i := range x {
		x[i] = float32(i%4 + 1)
	}
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Pooling", Param: "pooling_param { pool: STOCHASTIC kernel_size: 2 }",
			Bottoms: []layertest.Bottom{layertest.Given(x, 1, planes, 2, 2)}})
		var counts [5]int
		for _, v := range f.Forward(t)[0] {
			counts[int(v)]++
		}
		for v := 1; v <= 4; v++ {
			p := float64(v) / 10
			got, spread := float64(counts[v])/planes, math.Sqrt(p*(1-p)/planes)
			if math.Abs(got-p) > 4*spread {
				t.Errorf("%v: %d was drawn with frequency %.4f, expected %.4f +- %.4f", engine, v, got, p, 4*spread)
			}
		}
	}
}

func TestPoolingErrors(t *testing.T) {
	b := layertest.NewBench(t)
	tests := []struct {
		name, param string
		tops        int
		shape       []int
		want        []string
	}{
		{"axes", "kernel_size: 2", 1, []int{2, 3, 4}, []string{"4 axes", "2 3 4"}},
		{"pad", "kernel_size: 2 pad: 2", 1, []int{1, 1, 4, 4}, []string{"pad 2", "kernel 2"}},
		{"no kernel", "stride: 2", 1, []int{1, 1, 4, 4}, []string{"positive"}},
		{"kernel twice", "kernel_size: 2 kernel_h: 2 kernel_w: 2", 1, []int{1, 1, 4, 4}, []string{"not both"}},
		{"half a kernel", "kernel_h: 2", 1, []int{1, 1, 4, 4}, []string{"kernel_w"}},
		{"half a padding", "kernel_size: 2 pad_w: 1", 1, []int{1, 1, 4, 4}, []string{"pad_h and pad_w"}},
		{"global with a kernel", "global_pooling: true kernel_size: 2", 1, []int{1, 1, 4, 4}, []string{"global_pooling"}},
		{"global with a stride", "global_pooling: true stride: 2", 1, []int{1, 1, 4, 4}, []string{"global_pooling"}},
		{"zero stride", "kernel_size: 2 stride: 0", 1, []int{1, 1, 4, 4}, []string{"stride"}},
		{"places of means", "kernel_size: 2 pool: AVE", 2, []int{1, 1, 4, 4}, []string{"MAX"}},
		{"padded draws", "kernel_size: 2 pool: STOCHASTIC pad: 1", 1, []int{1, 1, 4, 4}, []string{"average and max"}},
		{"kernel too large", "kernel_size: 6", 1, []int{1, 1, 4, 9}, []string{"6 x 6", "4 x 9"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, b, layertest.Case{Type: "Pooling", Param: "pooling_param { " + tt.param + " }", Tops: tt.tops,
				Bottoms: []layertest.Bottom{layertest.In(tt.shape...)}}, tt.want...)
		})
	}
}

// TestPoolingOfNothing: planes without pixels are refused even with padding.
func TestPoolingOfNothing(t *testing.T) {
	wantError(t, layertest.NewBench(t), layertest.Case{Type: "Pooling", Param: "pooling_param { kernel_size: 2 pad: 1 }",
		Bottoms: []layertest.Bottom{layertest.In(1, 16, 4, 0)}}, "empty", "1 16 4 0")
}

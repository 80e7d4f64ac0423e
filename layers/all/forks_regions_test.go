package all_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

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

// TestRegionsFarAway: regions of any size and place, and such as are not numbers, take no time and read nothing outside; what they do not meet is 0.
func TestRegionsFarAway(t *testing.T) {
	b := layertest.NewBench(t)
	x := between(roiH*roiW*4, 1, 3)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	var rois []float32
	for _, r := range [][4]float32{{-1e30, -1e30, 1e30, 1e30}, {nan, nan, nan, nan}, {0, 0, inf, inf}, {-inf, 0, 3, 3}, {1e9, 1e9, 2e9, 2e9}, {-2e9, -2e9, 5, 5}, {5, 5, 1, 1}} {
		rois = append(rois, 0, r[0], r[1], r[2], r[3])
	}
	n := len(rois) / 5
	for kind, param := range map[string]string{"ROIPooling": "roi_pooling_param { pooled_h: 2 pooled_w: 2 }", "ROIAlign": "roi_align_param { pooled_h: 2 pooled_w: 2 }",
		"PSROIPooling": "psroi_pooling_param { spatial_scale: 1 output_dim: 1 group_size: 2 }"} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: kind, Param: param,
				Bottoms: []layertest.Bottom{layertest.Given(x, 1, 4, roiH, roiW), {Shape: []int{n, 5}, NoGradient: true, Fill: layertest.Given(rois, len(rois)).Fill}}})
			y := f.Forward(t)[0]
			each := len(y) / n
			for i, v := range y {
				if region := i / each; (region == 1 || region == 4) && v != 0 || !(v >= 0 && v <= 3) {
					t.Errorf("%s, %v: result %d of region %d is %g", kind, engine, i%each, region, v)
				}
			}
			f.Backward(t, between(len(y), -1, 1))
		}
	}
	f := layertest.Build(t, b, layertest.Engines()[0], layertest.Case{Type: "ROIAlign", Param: "roi_align_param { pooled_h: 2 pooled_w: 2 }",
		Bottoms: []layertest.Bottom{layertest.Given(x, 1, 4, roiH, roiW), {Shape: []int{1, 5}, NoGradient: true, Fill: layertest.Given([]float32{1e30, 0, 0, 3, 3}, 5).Fill}}})
	if err := f.Layer.Forward(f.Bottom, f.Top); err == nil || err.Error() != "region 0 is of image 1e+30, but there are 1 images" {
		t.Errorf("error %v", err)
	}
}

package all_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

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

// TestClassWeighting: each item counts as often as its label's weight says, and the divisor is that without weights.
func TestClassWeighting(t *testing.T) {
	b := layertest.NewBench(t)
	scores, labels := []float32{0, float32(math.Log(3)), 0, 0}, []float32{0, 1}
	param := "loss_param { weight_by_label_freqs: true class_weighting: 0.5 class_weighting: 3 }"
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "SoftmaxWithLoss", Param: param, Bottoms: []layertest.Bottom{layertest.Given(scores, 2, 2), fixed(labels, 2)}})
		layertest.Equal(t, "loss", f.Forward(t)[0], floats([]float64{(0.5*math.Log(4) + 3*math.Log(2)) / 2}), 1e-6)
		d, _ := f.Backward(t, []float32{2})
		layertest.Equal(t, "gradient", d[0], []float32{-0.375, 0.375, 1.5, -1.5}, 1e-6)
	}
	bottoms := []layertest.Bottom{layertest.In(4, 3), layertest.Labels(3, 4)}
	wantError(t, b, layertest.Case{Type: "SoftmaxWithLoss", Param: param, Bottoms: bottoms}, "2 values of class_weighting for 3 classes")
	wantError(t, b, layertest.Case{Type: "SoftmaxWithLoss", Param: "loss_param { class_weighting: 1 }", Bottoms: bottoms}, "needs weight_by_label_freqs: true")
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

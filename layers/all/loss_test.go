package all_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

func init() {
	scores := []layertest.Bottom{layertest.In(4, 5, 3), layertest.Labels(5, 4, 3)}
	for name, param := range map[string]string{
		"": "", "full": "normalization: FULL", "batch": "normalization: BATCH_SIZE", "none": "normalization: NONE",
		"ignore": "ignore_label: 2", "ignore, full": "ignore_label: 0 normalization: FULL", "not normalised": "normalize: false",
	} {
		addCases("SoftmaxWithLoss", layertest.Case{Name: name, Param: "loss_param { " + param + " }", Bottoms: scores, Again: [][]int{{300, 5, 20}, {300, 20}}})
	}
	addCases("SoftmaxWithLoss",
		layertest.Case{Name: "last axis", Param: "softmax_param { axis: -1 }", Bottoms: []layertest.Bottom{layertest.In(4, 3, 5), layertest.Labels(5, 4, 3)}},
		layertest.Case{Name: "probabilities", Tops: 2, GradTops: 1, Bottoms: scores})
	addCases("Softmax",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(3, 6)}, Again: [][]int{{200, 100}}},
		layertest.Case{Name: "spatial", Bottoms: []layertest.Bottom{layertest.In(2, 4, 3, 2)}, Again: [][]int{{3, 7, 40, 30}}},
		layertest.Case{Name: "axis 0", Param: "softmax_param { axis: 0 }", Bottoms: []layertest.Bottom{layertest.In(5, 3)}},
		layertest.Case{Name: "in place", InPlace: true, NoGradient: "the bottom's values are overwritten", Bottoms: []layertest.Bottom{layertest.In(3, 6)}})
	addCases("EuclideanLoss", layertest.Case{Bottoms: []layertest.Bottom{layertest.In(3, 2, 4), layertest.In(3, 8)}, Again: [][]int{{50, 1000}, {50, 1000}}})
	addCases("Accuracy",
		layertest.Case{Bottoms: scores, Again: [][]int{{300, 5, 20}, {300, 20}}},
		layertest.Case{Name: "along axis 2", Param: "accuracy_param { axis: 2 }", Bottoms: []layertest.Bottom{layertest.In(4, 3, 5), layertest.Labels(5, 4, 3)}},
		layertest.Case{Name: "by class", Param: "accuracy_param { top_k: 2 ignore_label: 1 }", Tops: 2, Bottoms: scores},
		layertest.Case{Name: "wrong label", Param: "accuracy_param { wrong_label: 5 }", Tops: 2, Bottoms: []layertest.Bottom{layertest.In(4, 5, 3), layertest.Labels(6, 4, 3)}})
	addCases("SegAccuracy",
		layertest.Case{Bottoms: scores, Again: [][]int{{300, 5, 20}, {300, 20}}},
		layertest.Case{Name: "ignored", Param: "seg_accuracy_param { ignore_label: 1 ignore_label: 3 }", Bottoms: []layertest.Bottom{layertest.In(2, 5, 3, 4), layertest.Labels(5, 2, 1, 3, 4)}},
		layertest.Case{Name: "vectors", Bottoms: []layertest.Bottom{layertest.In(4, 5), layertest.Labels(5, 4)}})
}

// TestSoftmaxLossByHand: two items with scores (0, ln 3) have probabilities (1/4, 3/4).
func TestSoftmaxLossByHand(t *testing.T) {
	ln3 := float32(math.Log(3))
	tests := []struct {
		param string
		loss  float64
		dx    []float64
	}{
		{"", (math.Log(4) + math.Log(4.0/3)) / 2, []float64{-0.375, 0.375, 0.125, -0.125}},
		{"normalization: NONE", math.Log(4) + math.Log(4.0/3), []float64{-0.75, 0.75, 0.25, -0.25}},
		{"ignore_label: 0", math.Log(4.0 / 3), []float64{0, 0, 0.25, -0.25}},
		{"ignore_label: 0 normalization: FULL", math.Log(4.0/3) / 2, []float64{0, 0, 0.125, -0.125}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{
				Type: "SoftmaxWithLoss", Param: "loss_param { " + tt.param + " }",
				Bottoms: []layertest.Bottom{layertest.Given([]float32{0, ln3, 0, ln3}, 2, 2), {Shape: []int{2}, NoGradient: true, Fill: layertest.Given([]float32{0, 1}, 2).Fill}},
			})
			layertest.Equal(t, "loss, "+tt.param, f.Forward(t)[0], floats([]float64{tt.loss}), 1e-6)
			dx, _ := f.Backward(t, []float32{1})
			layertest.Equal(t, "gradient, "+tt.param, dx[0], floats(tt.dx), 1e-6)
		}
	}
}

// TestSoftmaxLossIsBounded: a probability of zero counts as the smallest normal float32.
func TestSoftmaxLossIsBounded(t *testing.T) {
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{
			Type: "SoftmaxWithLoss", Bottoms: []layertest.Bottom{layertest.Given([]float32{0, 1000}, 1, 2), layertest.Given([]float32{0}, 1)},
		})
		layertest.Equal(t, "loss", f.Forward(t)[0], []float32{87.3365}, 1e-4)
	}
}

// TestAccuracyByHand: a tie with the label's score counts against it.
func TestAccuracyByHand(t *testing.T) {
	scores := []float32{3, 1, 2, 1, 1, 0, 0, 5, 4, 2, 2, 2} // best: 0; tie of 0 and 1; 1; tie of all
	labels := []float32{0, 0, 2, 1}
	tests := []struct {
		param string
		tops  int
		want  [][]float32
	}{
		{"", 1, [][]float32{{0.25}}},
		{"top_k: 2", 1, [][]float32{{0.75}}},
		{"top_k: 3", 1, [][]float32{{1}}},
		{"ignore_label: 2", 1, [][]float32{{1. / 3}}},
		{"top_k: 2", 2, [][]float32{{0.75}, {1, 0, 1}}},
	}
	wrong := []float32{0, 3, 3, 1} // two items of no class, and one of class 1 in a tie
	wrongWant := [][]float32{{0.25}, {1, 0, 0}}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{
				Type: "Accuracy", Param: "accuracy_param { " + tt.param + " }", Tops: tt.tops,
				Bottoms: []layertest.Bottom{layertest.Given(scores, 4, 3), layertest.Given(labels, 4)},
			})
			for i, got := range f.Forward(t) {
				layertest.Equal(t, tt.param, got, tt.want[i], 1e-6)
			}
		}
	}
	bottoms := []layertest.Bottom{layertest.Given(scores, 4, 3), layertest.Given(wrong, 4)}
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Accuracy", Param: "accuracy_param { wrong_label: 3 }", Tops: 2, Bottoms: bottoms})
		for i, got := range f.Forward(t) {
			layertest.Equal(t, "wrong label", got, wrongWant[i], 1e-6)
		}
	}
	wantError(t, b, layertest.Case{Type: "Accuracy", Param: "accuracy_param { wrong_label: 2 }", Bottoms: bottoms}, "wrong_label 2", "3 classes")
}

// TestSegAccuracyByHand: four pixels have the labels 0, 0, 2 and 1, and are found in 0, 1 (of a tie with 0), 1 and 2 (of a tie of all); class 3
// neither has nor gets any. A second Forward counts anew or, with reset: false, adds another right pixel of class 0.
func TestSegAccuracyByHand(t *testing.T) {
	scores := []float32{3, 1, 2, 0, 1, 1, 0, 0, 0, 5, 4, 0, 2, 2, 2, 0}
	labels := []float32{0, 0, 2, 1}
	tests := []struct {
		param        string
		first, again []float32
	}{
		{"", []float32{0.25, 0.5 / 3, (0.5 + 0 + 0 + 1) / 4}, []float32{1, 1, 1}},
		{"reset: false", []float32{0.25, 0.5 / 3, 1.5 / 4}, []float32{5. / 8, 5. / 6 / 3, (5./6 + 1) / 4}},
		{"ignore_label: 2 ignore_label: 1", []float32{0.5, 0.5, (0.5 + 0 + 1 + 1) / 4}, []float32{1, 1, 1}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{
				Type: "SegAccuracy", Param: "seg_accuracy_param { " + tt.param + " }",
				Bottoms: []layertest.Bottom{layertest.Given(scores, 4, 4), layertest.Given(labels, 4)},
			})
			if shape := fmt.Sprint(f.Top[0].Shape()); shape != "[1 1 1 3]" {
				t.Errorf("shape %s", shape)
			}
			layertest.Equal(t, tt.param, f.Forward(t)[0], tt.first, 1e-6)
			copy(f.Bottom[0].Data(), []float32{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})
			clear(f.Bottom[1].Data())
			if err := f.Layer.Forward(f.Bottom, f.Top); err != nil {
				t.Fatal(err)
			}
			layertest.Equal(t, tt.param+", again", f.Top[0].Data(), tt.again, 1e-6)
		}
	}
}

func TestLossErrors(t *testing.T) {
	b := layertest.NewBench(t)
	wantError(t, b, layertest.Case{Type: "SoftmaxWithLoss", Bottoms: []layertest.Bottom{layertest.In(4, 3), layertest.Labels(3, 4, 2)}}, "4 labels", "there are 8")
	wantError(t, b, layertest.Case{Type: "EuclideanLoss", Bottoms: []layertest.Bottom{layertest.In(4, 3), layertest.In(4, 2)}}, "4 3 (12)", "4 2 (8)")
	wantError(t, b, layertest.Case{Type: "EuclideanLoss", Bottoms: []layertest.Bottom{layertest.In(2, 1, 1, 1, 1), layertest.In(2, 1, 1, 1, 1)}}, "4 axes")
	wantError(t, b, layertest.Case{Type: "Accuracy", Param: "accuracy_param { top_k: 5 }", Bottoms: []layertest.Bottom{layertest.In(4, 3), layertest.Labels(3, 4)}}, "top_k 5", "3")
}

// TestLabelOutOfRange: the message has the label, the item and the number of classes, on both paths.
func TestLabelOutOfRange(t *testing.T) {
	b := layertest.NewBench(t)
	for _, typ := range []string{"SoftmaxWithLoss", "Accuracy", "SegAccuracy"} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{
				Type: typ, Bottoms: []layertest.Bottom{layertest.In(3, 4), layertest.Given([]float32{1, 2, 7}, 3)},
			})
			err := f.Layer.Forward(f.Bottom, f.Top)
			if err == nil || err.Error() != "label 7 of item 2 is out of range: there are 4 classes (0 to 3)" {
				t.Errorf("%s, %v: error %v", typ, engine, err)
			}
		}
	}
}

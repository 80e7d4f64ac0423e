package all_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	swproto "github.com/swcaffe/swcaffe/proto"
)

func init() {
	pairs := func(shape ...int) []layertest.Bottom {
		return []layertest.Bottom{layertest.In(shape...), layertest.In(shape...), layertest.Labels(2, shape[0])}
	}
	again := [][]int{{500, 30}, {500, 30}, {500}}
	addCases("ContrastiveLoss",
		layertest.Case{Param: "contrastive_loss_param { margin: 1.3 }", Bottoms: pairs(6, 4), Again: again},
		layertest.Case{Name: "legacy", Param: "contrastive_loss_param { margin: 2 legacy_version: true }", Bottoms: pairs(6, 4, 1, 1)})
	away := func(shape ...int) []layertest.Bottom {
		return []layertest.Bottom{layertest.Filled(layertest.AwayFrom(0.05, -1, 1), shape...), layertest.Labels(5, shape[0])}
	}
	addCases("HingeLoss",
		layertest.Case{Bottoms: away(4, 5), Again: [][]int{{900, 5}, {900}}},
		layertest.Case{Name: "squared", Param: "hinge_loss_param { norm: L2 }", Bottoms: away(4, 5), Again: [][]int{{900, 5}, {900}}})
	addCases("MultinomialLogisticLoss", layertest.Case{
		Bottoms: []layertest.Bottom{layertest.Filled(layertest.Uniform(0.2, 0.8), 4, 5), layertest.Labels(5, 4)},
		Again:   [][]int{{900, 5}, {900}},
	})
	matrix := layertest.Bottom{Shape: []int{3, 3}, NoGradient: true}
	scores := []layertest.Bottom{layertest.In(4, 3, 2), layertest.Labels(3, 4, 2), matrix}
	addCases("InfogainLoss",
		layertest.Case{Bottoms: scores, Again: [][]int{{100, 3, 50}, {100, 50}, {3, 3}}},
		layertest.Case{Name: "ignore", Param: "loss_param { ignore_label: 1 normalization: FULL }", Bottoms: scores},
		layertest.Case{Name: "last axis", Param: "infogain_loss_param { axis: -1 }", Bottoms: []layertest.Bottom{layertest.In(4, 2, 3), layertest.Labels(3, 4, 2), matrix}},
		layertest.Case{Name: "matrix file", Files: matrixFile, Tops: 2, GradTops: 1, Bottoms: []layertest.Bottom{layertest.In(4, 3), layertest.Labels(3, 4)}})
	for _, mode := range []string{"", "normalization: FULL", "normalization: NONE", "normalize: true ignore_label: 0"} {
		addCases("SigmoidCrossEntropyLoss", layertest.Case{
			Name: mode, Param: "loss_param { " + mode + " }",
			Bottoms: []layertest.Bottom{layertest.Filled(layertest.Uniform(-4, 4), 5, 3), {Shape: []int{5, 3}, NoGradient: true, Fill: layertest.Uniform(-0.5, 1.5)}},
			Again:   [][]int{{90, 300}, {90, 300}},
		})
	}
}

// matrixFile writes an infogain matrix in the format of Caffe's tools.
func matrixFile(t testing.TB) string {
	h := blob.New(1, 1, 3, 3)
	copy(h.Data(), []float32{1, 0.5, -0.25, 0, 2, 0, 0.75, -1, 3})
	path := filepath.Join(t.TempDir(), "h.binaryproto")
	if err := swproto.WriteBinary(path, h.ToProto(false)); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("infogain_loss_param { source: %q }", path)
}

func fixed(values []float32, shape ...int) layertest.Bottom {
	b := layertest.Given(values, shape...)
	b.NoGradient = true
	return b
}

// TestLabelLossesByHand: losses and gradients of single items or pairs equal values computed by hand.
func TestLabelLossesByHand(t *testing.T) {
	given, ln2 := layertest.Given, math.Ln2
	zeros := given([]float32{0, 0}, 1, 2)
	tests := []struct {
		typ, param string
		bottoms    []layertest.Bottom
		loss       float64
		dx         []float64
	}{
		{"HingeLoss", "", []layertest.Bottom{given([]float32{0.5, -3, 0.25, 2}, 1, 4), fixed([]float32{3}, 1)}, 1.5 + 1.25, []float64{1, 0, 1, 0}},
		{"HingeLoss", "", []layertest.Bottom{given([]float32{0.5, -3, 0.25, 2}, 2, 2), fixed([]float32{0, 0}, 2)}, (0.5 + 0.75 + 3) / 2, []float64{-0.5, 0, -0.5, 0.5}},
		{"HingeLoss", "hinge_loss_param { norm: L2 }", []layertest.Bottom{given([]float32{0.5, -3, 0.25}, 1, 3), fixed([]float32{1}, 1)},
			2.25 + 16 + 1.5625, []float64{3, -8, 2.5}},
		{"MultinomialLogisticLoss", "", []layertest.Bottom{given([]float32{0.25, 0.75, 0.5, 0.5}, 2, 2), fixed([]float32{0, 1}, 2)}, 1.5 * ln2, []float64{-2, 0, 0, -1}},
		{"MultinomialLogisticLoss", "", []layertest.Bottom{given([]float32{0, 1}, 1, 2), fixed([]float32{0}, 1)}, 20 * math.Ln10, []float64{-1e20, 0}},
		{"InfogainLoss", "", []layertest.Bottom{zeros, fixed([]float32{1}, 1), fixed([]float32{9, 9, 3, 1}, 2, 2)}, 4 * ln2, []float64{2 - 3, 2 - 1}},
		{"InfogainLoss", "", []layertest.Bottom{zeros, fixed([]float32{1}, 1), fixed([]float32{9, 9, 3, 1}, 4)}, 4 * ln2, []float64{2 - 3, 2 - 1}},
		{"SigmoidCrossEntropyLoss", "", []layertest.Bottom{given([]float32{0, 100, -100}, 1, 3), fixed([]float32{0.25, 0, 1}, 1, 3)}, ln2 + 200, []float64{0.25, 1, -1}},
		{"SigmoidCrossEntropyLoss", "loss_param { ignore_label: -1 normalization: VALID }",
			[]layertest.Bottom{given([]float32{0, 0, 7}, 3, 1), fixed([]float32{1, 0, -1}, 3, 1)}, ln2, []float64{-0.25, 0.25, 0}},
		{"ContrastiveLoss", "", []layertest.Bottom{given([]float32{3, 4}, 1, 2), zeros, fixed([]float32{1}, 1)}, 12.5, []float64{3, 4}},
		{"ContrastiveLoss", "contrastive_loss_param { margin: 6 }", []layertest.Bottom{given([]float32{3, 4}, 1, 2), zeros, fixed([]float32{0}, 1)},
			0.5, []float64{-3 / 5.0001, -4 / 5.0001}},
		{"ContrastiveLoss", "contrastive_loss_param { margin: 5 }", []layertest.Bottom{given([]float32{3, 4}, 1, 2), zeros, fixed([]float32{0}, 1)}, 0, []float64{0, 0}},
		{"ContrastiveLoss", "contrastive_loss_param { margin: 27 legacy_version: true }", []layertest.Bottom{given([]float32{3, 4}, 1, 2), zeros, fixed([]float32{0}, 1)},
			1, []float64{-3, -4}},
	}
	b := layertest.NewBench(t)
	for _, tt := range tests {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms})
			layertest.Equal(t, tt.typ+" "+tt.param, f.Forward(t)[0], floats([]float64{tt.loss}), 2e-6)
			dx, _ := f.Backward(t, []float32{1})
			layertest.Equal(t, tt.typ+" gradient "+tt.param, dx[0], floats(tt.dx), 2e-6)
			if tt.typ == "ContrastiveLoss" {
				for i := range dx[0] {
					dx[0][i] = -dx[0][i]
				}
				layertest.Equal(t, "gradient by b", dx[1], dx[0], 0)
			}
		}
	}
}

// TestHingeLeavesItsTerms: Forward writes max(0, 1 +- x) to the diff of the scores, for either norm.
func TestHingeLeavesItsTerms(t *testing.T) {
	b := layertest.NewBench(t)
	for _, norm := range []string{"L1", "L2"} {
		for _, engine := range layertest.Engines() {
			f := layertest.Build(t, b, engine, layertest.Case{Type: "HingeLoss", Param: "hinge_loss_param { norm: " + norm + " }",
				Bottoms: []layertest.Bottom{layertest.Given([]float32{0.5, -3, 3, 2}, 2, 2), fixed([]float32{0, 0}, 2)}})
			f.Forward(t)
			layertest.Equal(t, norm, f.Bottom[0].Diff(), []float32{0.5, 0, 0, 3}, 0)
		}
	}
}

func TestLabelLossErrors(t *testing.T) {
	b := layertest.NewBench(t)
	in, labels := layertest.In(4, 3), layertest.Labels(3, 4)
	for _, typ := range []string{"HingeLoss", "MultinomialLogisticLoss"} {
		wantError(t, b, layertest.Case{Type: typ, Bottoms: []layertest.Bottom{in, layertest.Labels(3, 4, 2)}}, "4 labels", "there are 8")
	}
	wantError(t, b, layertest.Case{Type: "InfogainLoss", Bottoms: []layertest.Bottom{in, labels}}, "infogain matrix source")
	wantError(t, b, layertest.Case{Type: "InfogainLoss", Param: "loss_param { normalize: false }", Bottoms: []layertest.Bottom{in, labels, layertest.In(3, 3)}}, "normalize", "normalization")
	wantError(t, b, layertest.Case{Type: "InfogainLoss", Bottoms: []layertest.Bottom{in, labels, layertest.In(2, 2)}}, "3 x 3", "2 2 (4)")
	wantError(t, b, layertest.Case{Type: "InfogainLoss", Param: `infogain_loss_param { source: "missing" }`, Bottoms: []layertest.Bottom{in, labels}}, "missing")
	wantError(t, b, layertest.Case{Type: "SigmoidCrossEntropyLoss", Bottoms: []layertest.Bottom{in, layertest.In(4, 2)}}, "4 3 (12)", "4 2 (8)")
	wantError(t, b, layertest.Case{Type: "ContrastiveLoss", Bottoms: []layertest.Bottom{in, layertest.In(4, 2), labels}}, "4 3 (12)", "4 2 (8)")
	wantError(t, b, layertest.Case{Type: "ContrastiveLoss", Bottoms: []layertest.Bottom{in, in, layertest.Labels(2, 3)}}, "4 pairs", "3 (3)")
}

// TestLabelsHaveNoGradient: a request for a label's gradient is an error that names the bottom.
func TestLabelsHaveNoGradient(t *testing.T) {
	b := layertest.NewBench(t)
	vec, labels := layertest.In(2, 3), layertest.Labels(2, 2)
	for typ, bottoms := range map[string][]layertest.Bottom{
		"SoftmaxWithLoss": {vec, labels}, "HingeLoss": {vec, labels}, "MultinomialLogisticLoss": {vec, labels}, "SigmoidCrossEntropyLoss": {vec, vec},
		"ContrastiveLoss": {vec, vec, labels}, "InfogainLoss": {vec, labels, layertest.In(3, 3)}, "BatchReindex": {vec, labels}, "Filter": {vec, labels},
	} {
		f := layertest.Build(t, b, layers.CPE, layertest.Case{Type: typ, Bottoms: bottoms})
		f.Forward(t)
		propagate := make([]bool, len(bottoms))
		propagate[len(bottoms)-1] = true
		if err := f.Layer.Backward(f.Top, propagate, f.Bottom); err == nil {
			t.Errorf("%s gave a gradient of its last bottom", typ)
		}
	}
}

// TestInfogainLossOfManyClasses compares with the definition, for more classes than the kernel processes at a time.
func TestInfogainLossOfManyClasses(t *testing.T) {
	const classes, label = 1100, 7
	x, h := make([]float32, classes), make([]float32, classes*classes)
	var sum, want float64
	for c := range x {
		x[c] = float32(math.Sin(float64(c)))
		h[label*classes+c] = float32(math.Cos(float64(3 * c)))
		sum += math.Exp(float64(x[c]))
	}
	for c, v := range x {
		want -= float64(h[label*classes+c]) * (float64(v) - math.Log(sum))
	}
	b := layertest.NewBench(t)
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "InfogainLoss", Bottoms: []layertest.Bottom{
			layertest.Given(x, 1, classes), layertest.Given([]float32{label}, 1), layertest.Given(h, classes, classes),
		}})
		layertest.Equal(t, "loss", f.Forward(t)[0], []float32{float32(want)}, 1e-5)
	}
}

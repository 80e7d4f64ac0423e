package all_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

// yoloRows computes a YOLO layer and compares its rows.
func yoloRows(t *testing.T, b *layertest.Bench, typ, param string, bottoms []layertest.Bottom, want ...[]float32) {
	t.Helper()
	for _, engine := range layertest.Engines() {
		f := layertest.Build(t, b, engine, layertest.Case{Type: typ, Param: param, Bottoms: bottoms})
		y := f.Forward(t)[0]
		var all []float32
		for _, row := range want {
			all = append(all, row...)
		}
		if shape := f.Top[0].Shape(); len(shape) != 4 || shape[2] != len(want) || shape[3] != 7 {
			t.Fatalf("%s: shape %v for %d rows: %v", param, shape, len(want), y)
		}
		layertest.Equal(t, param, y, all, 1e-6)
	}
}

// TestYoloByHand: an anchor in two cells, with objects of probability 3/4 and 1/2. The second box is twice as wide; their overlap is
// 0.125 / 0.625 = 0.2.
func TestYoloByHand(t *testing.T) {
	b := layertest.NewBench(t)
	ln := func(v float64) float32 { return float32(math.Log(v)) }
	third := []layertest.Bottom{layertest.Given([]float32{
		0, 0 /* x */, 0, 0 /* y */, 0, ln(2) /* w */, 0, 0 /* h */, ln(3), 0 /* object */, ln(3), ln(9), 0, ln(4),
	}, 1, 7, 1, 2)}
	const anchor = "biases: 99 biases: 99 biases: 8 biases: 4 mask: 1 anchors_scale: 8 mask_group_num: 1 num_box: 1 num_classes: 2 "
	left, right := []float32{0, 0.25, 0.5, 0.75}, []float32{0.25, 0.25, 1.25, 0.75}
	row := func(image, label, score float32, box []float32) []float32 {
		return append([]float32{image, label, score}, box...)
	}
	third3 := func(extra string) string { return "yolov3_detection_output_param { " + anchor + extra + " }" }
	yoloRows(t, b, "Yolov3DetectionOutput", third3("confidence_threshold: 0.38 nms_threshold: 0.3"), third,
		row(0, 1, 0.5625, left), row(0, 1, 0.45, right))
	yoloRows(t, b, "Yolov3DetectionOutput", third3("confidence_threshold: 0.37 nms_threshold: 1.5"), third,
		row(0, 1, 0.5625, left), row(0, 1, 0.45, right), row(0, 2, 0.4, right), row(0, 2, 0.375, left))
	yoloRows(t, b, "Yolov3DetectionOutput", third3("confidence_threshold: 0.3 nms_threshold: 0.15"), third, row(0, 1, 0.5625, left))
	yoloRows(t, b, "Yolov3DetectionOutput", third3("confidence_threshold: 0.9"), third, row(0, -1, -1, []float32{-1, -1, -1, -1}))

	// Version 2: classes 3 : 1 and 1 : 9, anchors in cells. A second image has one object of probability 9/10 in its second cell.
	second := []layertest.Bottom{layertest.Given([]float32{
		0, 0, 0, 0, 0, ln(2), 0, 0, ln(3), 0, ln(3), 0, 0, ln(9),
		0, 0, 0, 0, 0, ln(2), 0, 0, -9, ln(9), 0, 0, 0, ln(9),
	}, 2, 7, 1, 2)}
	const cells = "yolo_detection_output_param { biases: 1 biases: 0.5 num_box: 1 num_classes: 2 "
	yoloRows(t, b, "YoloDetectionOutput", cells+"confidence_threshold: 0.4 nms_threshold: 0.3 }", second,
		row(0, 1, 0.5625, left), row(0, 2, 0.45, right), row(1, 2, 0.81, right))
	yoloRows(t, b, "YoloDetectionOutput", cells+"confidence_threshold: 0.4 nms_threshold: 0.15 }", second, row(0, 1, 0.5625, left), row(1, 2, 0.81, right))
	yoloRows(t, b, "YoloDetectionOutput", cells+"confidence_threshold: 0.99 }", second,
		row(0, -1, -1, []float32{-1, -1, -1, -1}), row(1, -1, -1, []float32{-1, -1, -1, -1}))
}

// TestYoloSuppression compares with a plain suppression of all rows, which the layer lists with a threshold above 1. Scores have few values, so
// that many are equal, and some boxes are empty, so that all their classes stay.
func TestYoloSuppression(t *testing.T) {
	b, r := layertest.NewBench(t), rand.New(rand.NewPCG(3, 4))
	const side, classes = 7, 4
	x := make([]float32, 2*(5+classes)*side*side)
	for i := range x {
		switch channel := i / (side * side) % (5 + classes); {
		case channel == 2 && r.IntN(9) == 0:
			x[i] = -200
		case channel < 4:
			x[i] = float32(r.NormFloat64())
		default:
			x[i] = float32(r.IntN(3))
		}
	}
	overlap := func(a, b []float32) float64 {
		w := float64(min(a[5], b[5])) - float64(max(a[3], b[3]))
		h := float64(min(a[6], b[6])) - float64(max(a[4], b[4]))
		if w <= 0 || h <= 0 {
			return 0
		}
		area := func(v []float32) float64 { return (float64(v[5]) - float64(v[3])) * (float64(v[6]) - float64(v[4])) }
		return w * h / (area(a) + area(b) - w*h)
	}
	rows := func(engine layers.Engine, threshold string) (list [][]float32) {
		f := layertest.Build(t, b, engine, layertest.Case{Type: "Yolov3DetectionOutput", Bottoms: []layertest.Bottom{layertest.Given(x, 1, 2*(5+classes), side, side)},
			Param: "yolov3_detection_output_param { confidence_threshold: 0.4 num_classes: 4 num_box: 2 mask: 0 mask: 1 mask_group_num: 1 anchors_scale: 8 biases: 9 biases: 9 biases: 14 biases: 7 nms_threshold: " + threshold + " }"})
		for y := f.Forward(t)[0]; len(y) > 0; y = y[7:] {
			list = append(list, y[:7])
		}
		return list
	}
	for _, engine := range layertest.Engines() {
		var want [][]float32
		empty := 0
		for _, row := range rows(engine, "1.5") {
			if !slices.ContainsFunc(want, func(kept []float32) bool { return overlap(kept, row) > 0.437 }) {
				want = append(want, row)
				if row[3] == row[5] {
					empty++
				}
			}
		}
		got := rows(engine, "0.437")
		if empty < 3 || len(want) < 20 {
			t.Fatalf("%d rows, %d of them empty: the test has lost its point", len(want), empty)
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%d rows are not the %d of a plain suppression", len(got), len(want))
		}
	}
}

// TestYoloOrder: channels belong to anchors one after the other; of a cell in row 1 and column 2, the second anchor's box is found.
func TestYoloOrder(t *testing.T) {
	b := layertest.NewBench(t)
	x := make([]float32, 12*2*4)
	at := func(channel int) *float32 { return &x[channel*8+1*4+2] }
	for c := range 8 {
		x[4*8+c], x[10*8+c] = -20, -20
	}
	*at(6), *at(7), *at(10), *at(11) = 20, -20, 20, 20
	yoloRows(t, b, "YoloDetectionOutput", "yolo_detection_output_param { num_classes: 1 num_box: 2 biases: 9 biases: 9 biases: 2 biases: 1 confidence_threshold: 0.5 }",
		[]layertest.Bottom{layertest.Given(x, 1, 12, 2, 4)}, []float32{0, 1, 1, 0.5, 0.25, 1, 0.75})
}

func TestErrorsOfYolo(t *testing.T) {
	b := layertest.NewBench(t)
	in := layertest.In
	for _, tt := range []struct {
		typ, param string
		bottoms    []layertest.Bottom
		want       []string
	}{
		{"YoloDetectionOutput", "", []layertest.Bottom{in(1, 6, 2, 2)}, []string{"num_classes"}},
		{"YoloDetectionOutput", "yolo_detection_output_param { num_classes: 1 num_box: 2 biases: 1 }", []layertest.Bottom{in(1, 12, 2, 2)}, []string{"num_box 2", "it has 1"}},
		{"YoloDetectionOutput", "yolo_detection_output_param { num_classes: 1 num_box: 1 biases: 1 biases: 2 }", []layertest.Bottom{in(1, 7, 2, 2)}, []string{"= 6 channels", "1 7 2 2"}},
		{"Yolov3DetectionOutput", "yolov3_detection_output_param { num_classes: 1 }", []layertest.Bottom{in(1, 18, 2, 2)}, []string{"mask_group_num is 2", "1 bottoms"}},
		{"Yolov3DetectionOutput", "yolov3_detection_output_param { num_classes: 1 num_box: 1 mask_group_num: 1 mask: 3 anchors_scale: 8 biases: 1 biases: 2 }", []layertest.Bottom{in(1, 6, 2, 2)}, []string{"anchor 3", "1 anchors"}},
		{"Yolov3DetectionOutput", "yolov3_detection_output_param { num_classes: 1 num_box: 1 mask_group_num: 1 mask: 0 anchors_scale: 8 biases: 1 biases: 2 nms_threshold: -1 }", []layertest.Bottom{in(1, 6, 2, 2)}, []string{"nms_threshold", "-1"}},
	} {
		wantError(t, b, layertest.Case{Type: tt.typ, Param: tt.param, Bottoms: tt.bottoms}, tt.want...)
	}
}

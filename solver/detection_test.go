package solver

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/data/hdf5"
)

// detectionSolver is a solver whose test is of five images, each with two prior boxes, left and right, that are predicted unchanged.
//
//	image  found (class, box, score)       objects
//	0      1 left 0.9, 2 right 0.8         1 left, 2 right
//	1      1 left 0.6                      1 right
//	2                                      2 left
//	3      1 right 0.7                     1 right
//	4      2 left 0.95                     1 left
//
// Class 1 has 4 objects and the detections right (0.9), right (0.7), wrong (0.6): average precision 1/2. Class 2 has 2 objects and wrong
// (0.95), right (0.8): 1/4.
func detectionSolver(t *testing.T, fields string) string {
	dir := t.TempDir()
	left, right := []float32{0.05, 0.3, 0.45, 0.7}, []float32{0.55, 0.3, 0.95, 0.7}
	object := func(class float32, at []float32) []float32 {
		return slices.Concat([]float32{0, class, 0}, at, []float32{0})
	}
	none := []float32{-1, -1, -1, -1, -1, -1, -1, -1}
	scores := []float32{
		0.1, 0.9, 0, 0.2, 0, 0.8,
		0.4, 0.6, 0, 1, 0, 0,
		1, 0, 0, 1, 0, 0,
		1, 0, 0, 0.3, 0.7, 0,
		0, 0, 0.95, 1, 0, 0,
	}
	objects := slices.Concat(object(1, left), object(2, right), object(1, right), none, object(2, left), none, none, object(1, right), object(1, left), none)
	if err := hdf5.Write(filepath.Join(dir, "x.h5"), &hdf5.File{Floats: []hdf5.Dataset{
		{Path: "/codes", Shape: []int{5, 8}, Data: make([]float32, 40)}, {Path: "/scores", Shape: []int{5, 6}, Data: scores},
		{Path: "/objects", Shape: []int{5, 1, 2, 8}, Data: objects}}}); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "x.txt")
	if err := os.WriteFile(list, []byte(filepath.Join(dir, "x.h5")), 0o644); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`net_param {
		layer { name: "x" type: "HDF5Data" top: "codes" top: "scores" top: "objects" hdf5_data_param { source: %[1]q batch_size: 1 } include { phase: TEST } }
		layer { name: "x" type: "HDF5Data" top: "codes" top: "scores" top: "objects" hdf5_data_param { source: %[1]q batch_size: 5 } include { phase: TRAIN } }
		layer { include { phase: TEST } name: "map" type: "DummyData" top: "map" dummy_data_param { shape { dim: [1, 1, 1, 2] } } }
		layer { include { phase: TEST } name: "prior" type: "PriorBox" bottom: "map" bottom: "map" top: "prior" prior_box_param { min_size: 40 img_size: 100 } }
		layer { name: "ip" type: "InnerProduct" bottom: "codes" top: "y" inner_product_param { num_output: 8 } include { phase: TRAIN } }
		layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "codes" top: "loss" include { phase: TRAIN } }
		layer { name: "found" type: "DetectionOutput" bottom: "codes" bottom: "scores" bottom: "prior" top: "found" include { phase: TEST }
			detection_output_param { num_classes: 3 confidence_threshold: 0.5 } }
		layer { name: "eval" type: "DetectionEvaluate" bottom: "found" bottom: "objects" top: "detection_eval" include { phase: TEST }
			detection_evaluate_param { num_classes: 3 } } }
		base_lr: 0 lr_policy: "fixed" max_iter: 2 test_iter: 5 test_interval: 1 snapshot_after_train: false %[2]s`, list, fields)
}

// reports returns the lines of a solver's tests.
func reports(t *testing.T, workers int, text string) (lines []string) {
	var log bytes.Buffer
	c := crew{workers: workers, text: text, options: func(rank int, o *Options) {
		if rank == 0 {
			o.Log = logrus.New()
			o.Log.SetOutput(&log)
			o.Log.SetFormatter(&logrus.TextFormatter{DisableTimestamp: true, DisableQuote: true})
		}
	}}
	if err := c.run(t, func(_ int, s *Solver) error { return s.Solve() }); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(log.String()) {
		if _, what, _ := strings.Cut(line, "msg="); strings.Contains(what, "Test net output") || strings.HasPrefix(what, "class") || strings.HasPrefix(what, "Missing") {
			lines = append(lines, strings.TrimSpace(what))
		}
	}
	return lines
}

func TestDetectionIsReported(t *testing.T) {
	for _, tt := range []struct {
		fields string
		want   []string
	}{
		{`eval_type: "detection"`, []string{"Test net output #0: detection_eval = 0.375"}},
		{`eval_type: "detection" ap_version: "MaxIntegral" show_per_class_result: true`, []string{"class1: 0.5", "class2: 0.25", "Test net output #0: detection_eval = 0.375"}},
		{`eval_type: "detection" ap_version: "11point" show_per_class_result: true`, []string{"class1: 0.545455", "class2: 0.272727", "Test net output #0: detection_eval = 0.409091"}},
	} {
		text := detectionSolver(t, tt.fields)
		for _, workers := range []int{0, 2, 3} {
			if got := reports(t, workers, text); !slices.Equal(got, slices.Repeat(tt.want, 3)) {
				t.Errorf("%s, %d workers: %q, want three times %q", tt.fields, workers, got, tt.want)
			}
		}
	}
	text := strings.Replace(detectionSolver(t, `eval_type: "detection"`), "confidence_threshold: 0.5", "confidence_threshold: 0.92", 1)
	if got, want := reports(t, 0, text), []string{"Missing true_pos for label: 1", "Test net output #0: detection_eval = 0"}; !slices.Equal(got[:2], want) {
		t.Errorf("without detections of class 1: %q, want %q", got[:2], want)
	}
}

func TestErrorsOfEvaluation(t *testing.T) {
	for fields, want := range map[string]string{
		`eval_type: "ranking"`:                         `unknown eval_type "ranking": use classification or detection`,
		`eval_type: "detection" ap_version: "13point"`: `unknown ap_version "13point": use 11point, MaxIntegral or Integral`,
	} {
		c := crew{text: detectionSolver(t, fields)}
		if err := c.run(t, func(int, *Solver) error { return nil }); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", fields, err, want)
		}
	}
	text := strings.Replace(detectionSolver(t, `eval_type: "detection"`), `type: "DetectionEvaluate" bottom: "found" bottom: "objects"`, `type: "Concat" bottom: "codes" bottom: "scores"`, 1)
	text = strings.Replace(text, "detection_evaluate_param { num_classes: 3 }", "", 1)
	c := crew{text: text}
	want := `eval_type: detection needs outputs of DetectionEvaluate layers, of shape 1 1 N 5;`
	if err := c.run(t, func(int, *Solver) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %s", err, want)
	}
}

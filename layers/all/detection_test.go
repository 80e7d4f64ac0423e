package all_test

import (
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

// priors is a bottom of n prior boxes of different sizes and places, and their variances.
func priors(n int) layertest.Bottom {
	return layertest.Bottom{Shape: []int{1, 2, 4 * n}, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		half := len(values) / 2
		for i := 0; i < half; i += 4 {
			copy(values[i:], randomBox(r))
			copy(values[half+i:], []float32{0.1, 0.15, 0.2, 0.25})
		}
	}}
}

func randomBox(r *rand.Rand) []float32 {
	w, h := 0.15+r.Float32()*0.4, 0.15+r.Float32()*0.4
	x, y := r.Float32()*(1.1-w)-0.05, r.Float32()*(1.1-h)-0.05
	return []float32{x, y, x + w, y + h}
}

// objects is a bottom of n objects with classes 1 to classes-1. The last image has none; every fourth row is padding, every fifth object is
// difficult.
func objects(n, images, classes int) layertest.Bottom {
	return layertest.Bottom{Shape: []int{1, 1, n, 8}, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		for k := range len(values) / 8 {
			row := values[8*k:]
			row[0], row[1], row[2] = float32(r.IntN(max(1, images-1))), float32(1+r.IntN(classes-1)), float32(k)
			copy(row[3:], randomBox(r))
			if row[7] = 0; k%5 == 4 {
				row[7] = 1
			}
			if k%4 == 3 {
				copy(row, []float32{-1, -1, -1, -1, -1, -1, -1, -1})
			}
		}
	}}
}

// detections is a bottom of n detections.
func detections(n, images, classes int) layertest.Bottom {
	return layertest.Bottom{Shape: []int{1, 1, n, 7}, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		for k := range len(values) / 7 {
			row := values[7*k:]
			row[0], row[1], row[2] = float32(r.IntN(images)), float32(1+r.IntN(classes-1)), r.Float32()
			copy(row[3:], randomBox(r))
		}
	}}
}

func init() {
	addCases("PriorBox",
		layertest.Case{Name: "one square", Param: "prior_box_param { min_size: 30 }", Bottoms: []layertest.Bottom{layertest.In(1, 2, 3, 4), layertest.In(1, 3, 90, 80)}},
		layertest.Case{Name: "all", Param: "prior_box_param { min_size: [30, 45.5] max_size: [60, 70] aspect_ratio: [2, 3] clip: true variance: [0.1, 0.1, 0.2, 0.2] step_h: 9 step_w: 10 offset: 0.25 img_h: 100 img_w: 110 }",
			Bottoms: []layertest.Bottom{layertest.In(1, 2, 5, 3), layertest.In(1, 3, 9, 8)}, Again: [][]int{{1, 2, 11, 12}, {1, 3, 9, 8}}})
	addMultiBoxCases()
	pred := func(images, n, codes, classes int) []layertest.Bottom {
		return []layertest.Bottom{layertest.In(images, 4*n*codes), layertest.Filled(layertest.Distinct(0, 1), images, n*classes), priors(n)}
	}
	grows := "the number of detections varies"
	addCases("DetectionOutput",
		layertest.Case{Param: "detection_output_param { num_classes: 3 code_type: CENTER_SIZE keep_top_k: 5 confidence_threshold: 0.2 nms_param { nms_threshold: 0.3 top_k: 8 } }",
			Bottoms: pred(2, 12, 1, 3), Again: [][]int{{3, 48}, {3, 36}, {1, 2, 48}}},
		layertest.Case{Name: "a box for each class", Param: "detection_output_param { num_classes: 3 share_location: false variance_encoded_in_target: true nms_param { nms_threshold: 0.9 eta: 0.8 } }",
			Bottoms: pred(2, 12, 3, 3)},
		layertest.Case{Name: "no background", Param: "detection_output_param { num_classes: 2 background_label_id: -1 code_type: CORNER_SIZE }", Bottoms: append(pred(1, 300, 1, 2), layertest.In(1, 3, 5, 5))},
		layertest.Case{Name: "none", Param: "detection_output_param { num_classes: 2 confidence_threshold: 2 }", Bottoms: pred(3, 4, 1, 2)})
	addCases("DetectionEvaluate",
		layertest.Case{Param: "detection_evaluate_param { num_classes: 4 overlap_threshold: 0.2 }", Bottoms: []layertest.Bottom{detections(30, 3, 4), objects(20, 3, 4)},
			Again: [][]int{{1, 1, 50, 7}, {1, 1, 7, 8}}, Allocates: grows},
		layertest.Case{Name: "difficult", Param: "detection_evaluate_param { num_classes: 4 evaluate_difficult_gt: false overlap_threshold: 0.1 }",
			Bottoms: []layertest.Bottom{detections(30, 3, 4), objects(20, 3, 4)}, Allocates: grows})
}

func addMultiBoxCases() {
	bottoms := func(images, n, codes, classes, rows int) []layertest.Bottom {
		return []layertest.Bottom{layertest.In(images, 4*n*codes), layertest.Filled(layertest.Distinct(-2, 2), images, n*classes), priors(n), objects(rows, images, classes)}
	}
	for _, c := range []struct {
		name, param string
		codes       int
	}{
		{"SSD", "code_type: CENTER_SIZE", 1},
		{"bipartite", "match_type: BIPARTITE mining_type: NONE use_difficult_gt: false", 1},
		{"logistic", "conf_loss_type: LOGISTIC loc_loss_type: L2 loc_weight: 2 neg_pos_ratio: 1.5 code_type: CORNER_SIZE", 1},
		{"all logistic", "conf_loss_type: LOGISTIC mining_type: NONE overlap_threshold: 0.2", 1},
		{"a box for each class", "share_location: false mining_type: NONE overlap_threshold: 0.3", 3},
		{"predicted boxes for each class", "share_location: false mining_type: NONE use_prior_for_matching: false overlap_threshold: 0.3", 3},
		{"predicted boxes", "use_prior_for_matching: false bp_inside: true neg_overlap: 0.3", 1},
		{"hard examples", "mining_type: HARD_EXAMPLE sample_size: 6 code_type: CENTER_SIZE nms_param { nms_threshold: 0.6 }", 1},
		{"suppressed negatives", "nms_param { nms_threshold: 0.3 top_k: 10 } use_prior_for_nms: true ignore_cross_boundary_bbox: true", 1},
	} {
		addCases("MultiBoxLoss", layertest.Case{Name: c.name, Param: "multibox_loss_param { num_classes: 3 " + c.param + " }", Bottoms: bottoms(3, 24, c.codes, 3, 9), Step: 1e-3, Tolerance: 2e-3})
	}
	addCases("MultiBoxLoss",
		layertest.Case{Name: "agnostic", Param: "loss_param { normalization: FULL } multibox_loss_param { num_classes: 2 map_object_to_agnostic: true }", Bottoms: bottoms(2, 12, 1, 2, 5), Step: 1e-3, Tolerance: 2e-3},
		layertest.Case{Name: "batch", Param: "loss_param { normalize: false } multibox_loss_param { num_classes: 2 bp_inside: true }", Bottoms: bottoms(2, 12, 1, 2, 5), Step: 1e-3, Tolerance: 2e-3,
			Again: [][]int{{3, 80}, {3, 40}, {1, 2, 80}, {1, 1, 9, 8}}},
		layertest.Case{Name: "variance in target", Param: "multibox_loss_param { num_classes: 2 encode_variance_in_target: true }", Bottoms: bottoms(2, 12, 1, 2, 5), NoGradient: "SSD's gradient is another"},
		layertest.Case{Name: "many", Param: "multibox_loss_param { num_classes: 21 code_type: CENTER_SIZE }", Bottoms: bottoms(2, 3000, 1, 21, 30), NoGradient: "the small cases check it"})
}

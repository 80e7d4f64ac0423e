package nets

import "fmt"

// detection appends a layer of a detection net to images. Its top is an output of the net, or a loss.
func (b *builder) detection(t *tip) *tip {
	n := t.shape[0]
	switch b.r.IntN(8) {
	case 0, 1:
		classes := b.integer(1, 8)
		head := b.pointwise(t, 5+classes)
		if head == nil {
			return nil
		}
		if !b.smooth && b.chance(0.6) {
			return b.yoloLoss(head, classes)
		}
		if b.chance(0.5) {
			return b.dead("YoloDetectionOutput", head, fmt.Sprintf("yolo_detection_output_param { num_classes: %d num_box: 1 confidence_threshold: 0.4 biases: 1 biases: 2 }", classes))
		}
		return b.dead("Yolov3DetectionOutput", head, fmt.Sprintf(
			"yolov3_detection_output_param { num_classes: %d num_box: 1 mask_group_num: 1 mask: 0 anchors_scale: 8 confidence_threshold: 0.4 biases: 10 biases: 20 }", classes))
	case 2:
		return b.proposal(t)
	case 3:
		rows := b.integer(1, 60)
		bottoms := []*tip{b.input("region", rows, 5), b.input("prob", rows), b.input("label4", rows), b.input("flag", rows, 8)}
		b.layer("BoxAnnotatorOHEM", bottoms, []*tip{{name: b.blob()}, {name: b.blob()}}, fmt.Sprintf("box_annotator_ohem_param { roi_per_img: %d }", b.integer(1, 2*rows)))
		return t
	case 4:
		found, objects := b.input(fmt.Sprintf("detection%d", n), 1, 1, b.integer(1, 60), 7), b.input(fmt.Sprintf("object%d", n), 1, 1, b.integer(1, 30), 8)
		b.layer("DetectionEvaluate", []*tip{found, objects}, []*tip{{name: b.blob()}}, "detection_evaluate_param { num_classes: 4 overlap_threshold: 0.2 }")
		return t
	default:
		return b.singleShot(t)
	}
}

// yoloLoss appends a loss of YOLO with one anchor. No overlap exceeds its thresh: predictions near a limit would have no certain loss.
func (b *builder) yoloLoss(head *tip, classes int) *tip {
	kind, param := "RegionLoss", "region_loss_param { num: 1 biases: 2 biases: 1.5 rescore: %d"
	if b.chance(0.5) {
		kind, param = "Yolov3", "yolov3_param { num: 1 mask: 0 biases: 20 biases: 15 anchors_scale: 8 use_logic_gradient: %d"
	}
	param = fmt.Sprintf(param+" num_class: %d coord_scale: 1 thresh: 1 }", b.r.IntN(2), classes)
	labels := b.input(fmt.Sprintf("truth%d", classes), head.shape[0], b.integer(1, 5), 5)
	b.layer(kind, []*tip{head, labels}, []*tip{{name: b.blob()}}, param)
	return head
}

// pointwise appends a convolution with kernels of one pixel.
func (b *builder) pointwise(t *tip, out int) *tip {
	one := window{1, 1, 0, 1}
	return b.conv(t, one, one, out, 1)
}

// proposal appends Faster R-CNN's proposals, of heads for scores and steps. TanH bounds the steps.
func (b *builder) proposal(t *tip) *tip {
	anchors := 1 + b.r.IntN(3)
	scores := b.pointwise(t, 2*anchors)
	if scores == nil {
		return nil
	}
	steps := b.pointwise(t, 4*anchors)
	if steps == nil {
		return nil
	}
	bounded := b.one("TanH", steps, steps.shape, 0, "")
	if bounded == nil {
		return nil
	}
	param := "proposal_param { feat_stride: 8 min_size: 4 ratio: 1 pre_nms_topn: 300 post_nms_topn: 40 "
	for k := range anchors {
		param += fmt.Sprintf("scale: %d ", 1<<k)
	}
	tops := []*tip{{name: b.blob()}, {name: b.blob()}}[:1+b.r.IntN(2)]
	b.layer("Proposal", []*tip{scores, bounded, b.input("size", t.shape[0], 3)}, tops, param+"}")
	return bounded
}

// singleShot appends SSD's heads to a map, or to two maps: its loss, or its detections.
func (b *builder) singleShot(t *tip) *tip {
	const classes = 3
	image := b.input("gauss", 1, 1, b.integer(8, 100), b.integer(8, 100))
	maps := []*tip{t}
	if b.chance(0.4) {
		if other := b.open((*tip).images); other != nil && other != t && other.shape[0] == t.shape[0] {
			maps = append(maps, other)
		}
	}
	var codes, scores, priors []*tip
	for _, m := range maps {
		boxes, param := 1, "min_size: 10"
		if b.chance(0.5) {
			boxes, param = 4, "min_size: 10 max_size: 30 aspect_ratio: 2"
		}
		if m.shape[2]*m.shape[3]*boxes > 1500 {
			return nil
		}
		code, score := b.rowsOf(m, 4*boxes), b.rowsOf(m, classes*boxes)
		if code == nil || score == nil {
			return nil
		}
		prior := &tip{name: b.blob(), shape: []int{1, 2, 4 * boxes * m.shape[2] * m.shape[3]}}
		b.layer("PriorBox", []*tip{m, image}, []*tip{prior}, "prior_box_param { "+param+" variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }")
		codes, scores, priors = append(codes, code), append(scores, score), append(priors, prior)
	}
	code, score, prior := codes[0], scores[0], priors[0]
	if len(maps) > 1 {
		if code, score, prior = b.concat(1, codes...), b.concat(1, scores...), b.concat(2, priors...); code == nil || score == nil || prior == nil {
			return nil
		}
	}
	if b.chance(0.5) {
		b.layer("DetectionOutput", []*tip{code, score, prior}, []*tip{{name: b.blob()}}, fmt.Sprintf(
			"detection_output_param { num_classes: %d code_type: CENTER_SIZE keep_top_k: 20 confidence_threshold: 0.2 nms_param { nms_threshold: 0.4 top_k: 50 } }", classes))
		return code
	}
	param := []string{"", "mining_type: NONE "}[b.r.IntN(2)]
	if b.smooth {
		param = "mining_type: NONE loc_loss_type: L2 " // neither the order of losses nor a kink
	}
	param += fmt.Sprintf("num_classes: %d code_type: CENTER_SIZE }", classes)
	objects := b.input(fmt.Sprintf("object%d", t.shape[0]), 1, 1, b.integer(1, 12), 8)
	b.layer("MultiBoxLoss", []*tip{code, score, prior, objects}, []*tip{{name: b.blob()}},
		"propagate_down: true propagate_down: true propagate_down: false propagate_down: false multibox_loss_param { "+param)
	return code
}

// rowsOf appends a head of SSD: a convolution whose values of each pixel come one after another.
func (b *builder) rowsOf(t *tip, channels int) *tip {
	x := b.pointwise(t, channels)
	if x == nil {
		return nil
	}
	n, h, w := x.shape[0], x.shape[2], x.shape[3]
	if x = b.one("Permute", x, []int{n, h, w, channels}, 0, "permute_param { order: 0 order: 2 order: 3 order: 1 }"); x == nil {
		return nil
	}
	return b.one("Flatten", x, []int{n, h * w * channels}, 0, "")
}

// transcription appends the loss of sequences of labels to scores of time steps x items x classes, and their decoder.
func (b *builder) transcription(t *tip, top []*tip, weight string) {
	steps, items, classes := t.shape[0], t.shape[1], t.shape[2]
	if b.chance(0.5) {
		b.layer("CTCGreedyDecoder", []*tip{t, b.input("flag", steps, items)}, []*tip{{name: b.blob()}, {name: b.blob()}}, "")
	}
	switch b.r.IntN(4) {
	case 0: // sequences of all time steps; the last class is the blank of CTCLoss, the first that of WarpCTCLoss
		marks := &tip{name: b.blob(), shape: []int{steps, items}}
		b.layer("ContinuationIndicator", nil, []*tip{marks}, fmt.Sprintf("continuation_indicator_param { time_step: %d batch_size: %d }", steps, items))
		label := b.input(fmt.Sprintf("label%d", classes-1), b.integer(1, min(8, steps)), items)
		b.layer([]string{"CTCLoss", "WarpCTCLoss"}[b.r.IntN(2)], []*tip{t, marks, label}, top, weight)
		return
	case 1: // sequences of any length
		label := b.input(fmt.Sprintf("label%d", classes-1), 1, items)
		b.layer([]string{"CTCLoss", "WarpCTCLoss"}[b.r.IntN(2)], []*tip{t, b.input("flag", steps, items), label}, top, weight)
		return
	}
	label, blank := b.input(fmt.Sprintf("label%d", classes), items, b.integer(1, 8)), b.r.IntN(classes)
	if b.chance(0.3) {
		b.layer("WarpCTCLoss", []*tip{t, label}, top, weight+fmt.Sprintf("ctc_loss_param { blank_index: %d }", blank))
		return
	}
	b.layer("CtcLoss", []*tip{t, label}, top, weight+fmt.Sprintf("ctc_loss_param { alphabet_size: %d time_step: %d blank_label: %d }", classes, steps, blank))
}

package nets

import (
	"fmt"
	"slices"
)

// finish gives every unread tip an end: usually a loss; otherwise it is an output.
func (b *builder) finish() {
	losses := 0
	for _, t := range slices.Clone(b.tips) {
		if t.reads > 0 || t.source {
			continue
		}
		if losses > 0 && b.chance(0.15) {
			if b.chance(0.3) {
				b.layer("Silence", []*tip{t}, nil, "")
			}
			continue
		}
		b.loss(t)
		losses++
	}
}

// loss appends a loss on a tip.
func (b *builder) loss(t *tip) {
	weight := ""
	if b.chance(0.3) {
		weight = fmt.Sprintf("loss_weight: %g ", []float64{0.3, 2, 10}[b.r.IntN(3)])
	}
	top := func() []*tip { return []*tip{{name: b.blob()}} }
	n, classes := t.shape[0], 1
	if len(t.shape) > 1 {
		classes = t.shape[1]
	}
	if len(t.shape) == 3 && t.shape[0] <= 64 && t.shape[1] > 0 && t.shape[2] > 1 && b.chance(0.4) {
		b.transcription(t, top(), weight)
		return
	}
	inner := append([]int{n}, t.shape[min(2, len(t.shape)):]...)
	switch k := b.r.IntN(10); {
	case k == 3 && len(t.shape) > 1 && b.chance(0.5):
		b.lossOfForks(t, n, classes, top(), weight)
	case k < 4 && len(t.shape) > 1:
		label := b.input(fmt.Sprintf("label%d", classes), inner...)
		extra := ""
		if b.chance(0.3) {
			extra = []string{"loss_param { normalization: FULL } ", "loss_param { normalization: BATCH_SIZE } ", "loss_param { normalization: NONE } ", "loss_param { ignore_label: 0 } "}[b.r.IntN(4)]
		}
		if b.chance(0.3) {
			b.layer("Accuracy", []*tip{t, label}, top(), "")
		}
		if b.chance(0.2) {
			b.layer("SegAccuracy", []*tip{t, label}, top(), []string{"", "seg_accuracy_param { ignore_label: 0 } "}[b.r.IntN(2)])
		}
		b.layer("SoftmaxWithLoss", []*tip{t, label}, top(), weight+extra)
	case k == 5 && !b.smooth && b.chance(0.5):
		b.layer("SmoothL1Loss", []*tip{t, b.input("gauss", t.shape...)}, top(), weight)
	case k < 6 && len(t.shape) <= 4:
		b.layer("EuclideanLoss", []*tip{t, b.input("gauss", t.shape...)}, top(), weight)
	case k == 6:
		b.layer("SigmoidCrossEntropyLoss", []*tip{t, b.input("prob", t.shape...)}, top(), weight)
	case k == 7 && len(t.shape) == 2 && !b.smooth:
		b.layer("HingeLoss", []*tip{t, b.input(fmt.Sprintf("label%d", classes), n)}, top(), weight+[]string{"", "hinge_loss_param { norm: L2 }"}[b.r.IntN(2)])
	case k == 8 && len(t.shape) == 2 && b.chance(0.5):
		b.layer("ContrastiveLoss", []*tip{t, b.input("gauss", t.shape...), b.input("label2", n)}, top(), weight)
	case k == 8 && (len(t.shape) == 2 || len(t.shape) > 2 && classes <= 200):
		b.lossOfProbabilities(t, b.input(fmt.Sprintf("label%d", classes), inner...), classes, top(), weight)
	default:
		op := []string{"SUM", "SUMSQ", "MEAN"}[b.r.IntN(3)]
		if op != "SUMSQ" { // a plain sum of BatchNorm's results is 0, and so are all gradients
			product := &tip{name: b.blob(), shape: t.shape}
			b.layer("Eltwise", []*tip{t, b.input("gauss", t.shape...)}, []*tip{product}, "eltwise_param { operation: PROD }")
			t = product
		}
		b.layer("Reduction", []*tip{t}, top(), fmt.Sprintf("loss_weight: %g reduction_param { operation: %s }", 0.5, op))
	}
}

// lossOfProbabilities ends a blob in a softmax with one of the losses of probabilities.
func (b *builder) lossOfProbabilities(t, label *tip, classes int, top []*tip, weight string) {
	probabilities := &tip{name: b.blob(), shape: t.shape}
	b.layer("Softmax", []*tip{t}, []*tip{probabilities}, "")
	if classes <= 200 && (len(t.shape) > 2 || b.chance(0.5)) {
		b.layer("InfogainLoss", []*tip{t, label, b.input("prob", classes, classes)}, top, weight)
		b.layer("Silence", []*tip{probabilities}, nil, "")
		return
	}
	b.layer("MultinomialLogisticLoss", []*tip{probabilities, label}, top, weight)
}

package export

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// detections is a DetectionOutput layer. Of each image and class it takes the best boxes (TopK), suppresses those that overlap better ones
// (NonMaxSuppression), and marks the rest in an array of images x classes x boxes by falling score. Of the marked boxes of an image, a second
// TopK keeps the best ones. The places of the marks (NonZero) come in the order of SSD's rows.
type detections struct {
	*layer
	p       *caffepb.DetectionOutputParameter
	batch   dim
	priors  int
	classes []int // without the background
	codes   int   // of a prior: 1, or one for each class
	best    int   // boxes of a class that take part in the suppression
}

func detectionOutput(l *layer) error {
	p := l.p.GetDetectionOutputParam()
	d := &detections{layer: l, p: p, batch: l.dims(l.bottom[0])[0], priors: l.bottom[2].CountFrom(2) / 4, codes: 1}
	for c := range int(p.GetNumClasses()) {
		if c != int(p.GetBackgroundLabelId()) {
			d.classes = append(d.classes, c)
		}
	}
	if !p.GetShareLocation() {
		d.codes = int(p.GetNumClasses())
	}
	nms := p.GetNmsParam()
	if nms.GetEta() < 1 {
		return fmt.Errorf("eta %g changes the threshold between boxes, which NonMaxSuppression cannot", nms.GetEta())
	}
	if d.best = d.priors; nms != nil && nms.TopK != nil && nms.GetTopK() >= 0 {
		d.best = min(d.best, int(nms.GetTopK()))
	}
	if d.best == 0 || len(d.classes) == 0 {
		return fmt.Errorf("the layer has no detections: %d boxes of %d classes take part", d.best, len(d.classes))
	}
	l.set(0, d.rows())
	l.loose[l.top[0]] = 2
	return nil
}

// decoded returns the boxes, as images x priors x codes x 4.
func (d *detections) decoded() string {
	code := d.reshape(d.in[0], d.dims(d.bottom[0]), []dim{d.batch, {n: d.priors}, {n: d.codes}, {n: 4}})
	prior := d.reshape(d.in[2], d.dims(d.bottom[2]), known(2, d.priors, 1, 4))
	if !d.p.GetVarianceEncodedInTarget() {
		code = d.node("Mul", []string{code, d.part(prior, 0, 1, 2)})
	}
	prior = d.part(prior, 0, 0, 1)
	low, high := d.part(prior, 3, 0, 2), d.part(prior, 3, 2, 4)
	size := d.node("Sub", []string{high, low})
	switch d.p.GetCodeType() {
	case caffepb.PriorBoxParameter_CORNER:
		return d.node("Add", []string{code, prior})
	case caffepb.PriorBoxParameter_CORNER_SIZE:
		sides := d.node("Concat", []string{size, size}, attr{"axis", 3})
		return d.node("Add", []string{d.node("Mul", []string{code, sides}), prior})
	}
	middle := d.node("Mul", []string{d.node("Add", []string{low, high}), d.number("half", 0.5)})
	centre := d.node("Add", []string{d.node("Mul", []string{d.part(code, 3, 0, 2), size}), middle})
	sides := d.node("Mul", []string{d.node("Exp", []string{d.part(code, 3, 2, 4)}), size})
	return d.node("Concat", d.corners(centre, sides), attr{"axis", 3})
}

// candidates returns the best scores, as images x classes x best, and their boxes, as images x classes x best x 4.
func (d *detections) candidates() (scores, boxes string) {
	all := int(d.p.GetNumClasses())
	scores = d.reshape(d.in[1], d.dims(d.bottom[1]), []dim{d.batch, {n: d.priors}, {n: all}})
	scores = d.node("Transpose", []string{scores}, attr{"perm", []int{0, 2, 1}})
	scores = d.node("Gather", []string{scores, d.ints("classes", d.classes...)}, attr{"axis", 1})
	top := d.nodes("TopK", 2, []string{scores, d.ints("best", d.best)}, attr{"axis", 2})
	places := d.reshape(top[1], d.perClass(), append(d.perClass(), dim{n: 1}))
	if boxes = d.decoded(); d.p.GetClip() {
		boxes = d.clip(boxes, 0, 1)
	}
	if d.codes == 1 {
		boxes = d.reshape(boxes, []dim{d.batch, {n: d.priors}, {n: 1}, {n: 4}}, []dim{d.batch, {n: d.priors}, {n: 4}})
		return top[0], d.node("GatherND", []string{boxes, places}, attr{"batch_dims", 1})
	}
	boxes = d.node("Transpose", []string{boxes}, attr{"perm", []int{0, 2, 1, 3}})
	boxes = d.node("Gather", []string{boxes, d.ints("classes", d.classes...)}, attr{"axis", 1})
	return top[0], d.node("GatherND", []string{boxes, places}, attr{"batch_dims", 2})
}

// perClass returns the extents images x classes x best, and merged the extents (images classes) x best.
func (d *detections) perClass() []dim { return []dim{d.batch, {n: len(d.classes)}, {n: d.best}} }
func (d *detections) merged() []dim   { return []dim{product(d.perClass()[:2]), {n: d.best}} }

// suppressed returns marks of the boxes that overlap no better one, as (images classes) x best.
func (d *detections) suppressed(scores, boxes string) string {
	in := []string{
		d.reshape(boxes, append(d.perClass(), dim{n: 4}), append(d.merged(), dim{n: 4})),
		d.reshape(scores, d.perClass(), []dim{d.merged()[0], {n: 1}, {n: d.best}}),
		d.ints("boxes", d.best), d.number("overlap", min(1, d.p.GetNmsParam().GetNmsThreshold())),
	}
	if d.p.ConfidenceThreshold != nil {
		in = append(in, d.number("confidence", d.p.GetConfidenceThreshold()))
	}
	return d.mark(d.reshape(scores, d.perClass(), d.merged()), d.node("NonMaxSuppression", in))
}

// kept returns the marks of the keep_top_k best boxes of each image, as images x classes x best.
func (d *detections) kept(marks, scores string) string {
	all := []dim{d.batch, {n: len(d.classes) * d.best}}
	keep := int(d.p.GetKeepTopK())
	if keep < 0 || keep >= all[1].n {
		return d.reshape(marks, d.merged(), d.perClass())
	}
	lowest := d.number("lowest", float32(math.Inf(-1)))
	marked := d.node("Cast", []string{d.reshape(marks, d.merged(), all)}, attr{"to", int(onnxpb.TensorProto_BOOL)})
	top := d.nodes("TopK", 2, []string{d.node("Where", []string{marked, d.reshape(scores, d.perClass(), all), lowest}), d.ints("keep", keep)}, attr{"axis", 1})
	real := d.node("Cast", []string{d.node("Greater", []string{top[0], lowest})}, float)
	zeros := d.fill(d.node("Shape", []string{marked}), 0)
	return d.reshape(d.node("ScatterElements", []string{zeros, top[1], real}, attr{"axis", 1}), all, d.perClass())
}

// rows returns the layer's top.
func (d *detections) rows() string {
	scores, boxes := d.candidates()
	places := d.node("NonZero", []string{d.kept(d.suppressed(scores, boxes), scores)})
	row := func(k int) string { return d.node("Gather", []string{places, d.integer("row", k)}, attr{"axis", 0}) }
	labels := make([]float32, len(d.classes))
	for i, c := range d.classes {
		labels[i] = float32(c)
	}
	label := d.node("Gather", []string{d.array("labels", labels, len(labels)), row(1)}, attr{"axis", 0})
	index := d.node("Transpose", []string{places}, attr{"perm", []int{1, 0}})
	return d.table(row(0), label, d.node("GatherND", []string{scores, index}), d.node("GatherND", []string{boxes, index}))
}

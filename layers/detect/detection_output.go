package detect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/base/rank"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "DetectionOutput", Doc: "detections: the decoded boxes of each class that overlap no better one",
		Couples: layers.Always(layers.Rows, ""),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &detectionOutput{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Between(3, 4), Tops: layers.Exactly(1), Detections: true, NoGradient: true, Effects: writesDetections,
		Classes: func(p *caffepb.LayerParameter) int { return int(p.GetDetectionOutputParam().GetNumClasses()) },
	})
}

// detectionOutput is SSD's DetectionOutput layer. Bottoms are codes, scores and priors; a fourth one, the images, is not read. The top has
// shape 1 x 1 x detections x 7, ordered by image, class and score. For each class except the background, the nms_param.top_k best of the
// boxes whose score exceeds confidence_threshold take part in the suppression; of all boxes kept, an image's keep_top_k best are its
// detections. clip, which OpenCV added, clips boxes to the image before the suppression. A batch without detections has a row of image, -1, -1, ... for each image.
type detectionOutput struct {
	layers.Base
	p *caffepb.DetectionOutputParameter
	predictions
	background int
	threshold  float32
	topK, keep int // -1: all
	nms        box.Suppressor
	decode     decoder
	byClass    part.Permuter
	boxes      *blob.Blob
	scores     *blob.Blob // images x classes x priors
	save       *detectionFiles

	boxData, scoreData []float32 // of boxes and scores

	workers []suppression // of core groups
	kept    [][]detection // of each image and class
	found   []detection
}

// suppression is the state of a core group: it chooses the boxes of one class of an image at a time.
type suppression struct {
	box.Suppressor
	keys  []rank.Key // of candidates
	order []int      // the best candidates
}

// detection is a box that is kept.
type detection struct {
	image, label, prior int
	score               float32
}

func (l *detectionOutput) SetUp(_, _ []*blob.Blob) (err error) {
	p := l.Param.GetDetectionOutputParam()
	if p == nil || p.NumClasses == nil || p.GetNumClasses() < 1 {
		return errors.New("num_classes must be set and positive")
	}
	l.p, l.classes, l.codes, l.background = p, int(p.GetNumClasses()), 1, int(p.GetBackgroundLabelId())
	if !p.GetShareLocation() {
		l.codes = l.classes
	}
	nms := p.GetNmsParam()
	l.nms = box.Suppressor{Threshold: nms.GetNmsThreshold(), Eta: nms.GetEta()}
	if !(l.nms.Threshold >= 0) {
		return fmt.Errorf("nms_threshold must not be negative, it is %g", l.nms.Threshold)
	}
	if !(l.nms.Eta > 0 && l.nms.Eta <= 1) {
		return fmt.Errorf("eta must be positive and at most 1, it is %g", l.nms.Eta)
	}
	l.threshold, l.topK, l.keep = float32(math.Inf(-1)), -1, int(p.GetKeepTopK())
	if p.ConfidenceThreshold != nil {
		l.threshold = p.GetConfidenceThreshold()
	}
	if nms != nil && nms.TopK != nil {
		l.topK = int(nms.GetTopK())
	}
	if p.GetVisualize() || p.GetSaveFile() != "" {
		l.warn("visualize and save_file do nothing here; swcaffe detect draws detections")
	}
	l.decode.Coder = box.Coder{Code: box.Code(p.GetCodeType()), Plain: p.GetVarianceEncodedInTarget()}
	l.decode.clip = p.GetClip()
	l.boxes, l.scores = l.Device.NewBlob(0), l.Device.NewBlob(0)
	l.workers = slices.Repeat([]suppression{{Suppressor: l.nms}}, l.Device.Machine.Spec().CoreGroups)
	l.save, err = newDetectionFiles(p.GetSaveOutputParam(), l.classes, l.background, l.warn)
	return err
}

// warn logs a message with the layer's name.
func (l *detectionOutput) warn(message string) {
	if l.Device.Log != nil {
		l.Device.Log.Warnf("layer %q: %s", l.Param.GetName(), message)
	}
}

func (l *detectionOutput) Reshape(bottom, top []*blob.Blob) error {
	if err := l.read(bottom); err != nil {
		return err
	}
	l.boxes.Reshape(l.images, l.priors, l.codes, 4)
	l.scores.Reshape(l.images, l.classes, l.priors)
	l.kept = slices.Grow(l.kept[:0], l.images*l.classes)[:l.images*l.classes]
	l.byClass.Reshape(&l.Base, []int{l.images, l.priors, l.classes}, []int{0, 2, 1})
	if top[0].NumAxes() != 4 { // Forward finds the number of detections
		top[0].Reshape(1, 1, 1, detectionValues)
	}
	l.decode.reshape(&l.Base, l.predictions)
	return nil
}

func (l *detectionOutput) Forward(bottom, top []*blob.Blob) error {
	l.boxData, l.scoreData = l.boxes.Data(), l.scores.Data()
	if err := l.decode.run(l.boxData, bottom[0].Data(), bottom[2].Data()); err != nil {
		return err
	}
	if err := l.byClass.Run(l.scoreData, bottom[1].Data()); err != nil || !l.Device.Machine.Values() {
		return err
	}
	if err := l.suppress(); err != nil {
		return err
	}
	l.found = l.found[:0]
	for image := range l.images {
		first := len(l.found)
		l.detect(image)
		if err := l.save.add(l.found[first:], l.boxAt); err != nil {
			return err
		}
	}
	if len(l.found) == 0 {
		for image := range l.images {
			l.found = append(l.found, detection{image, -1, -1, -1})
		}
	}
	top[0].Reshape(1, 1, len(l.found), detectionValues)
	l.write(top[0].Data())
	return nil
}

// boxAt returns the box of a detection, or four times -1 where there is none.
func (l *detectionOutput) boxAt(d detection) box.Box {
	if d.prior < 0 {
		return box.Box{XMin: -1, YMin: -1, XMax: -1, YMax: -1}
	}
	label := d.label
	if l.codes == 1 {
		label = 0
	}
	return box.Of(l.boxData[4*((d.image*l.priors+d.prior)*l.codes+label):])
}

// suppress chooses the boxes of all images and classes. On a modelled machine the management cores do, which are not charged.
func (l *detectionOutput) suppress() error {
	if m := l.Device.Machine; !l.MPE() {
		return m.Resume(l, m.GroupsFor(len(l.scoreData), leastScores))
	}
	for unit := range l.kept {
		l.keepBest(&l.workers[0], unit)
	}
	return nil
}

// leastScores is the number of scores from which on several core groups choose.
const leastScores = 4096

// Name implements cpe.Program.
func (l *detectionOutput) Name() string { return "DetectionOutput suppression" }

// RunGroup implements cpe.Program.
func (l *detectionOutput) RunGroup(g *cpe.CoreGroup) error {
	for i, end := g.Share(len(l.kept)); i < end; i++ {
		l.keepBest(&l.workers[g.Index()], i)
	}
	return nil
}

// keepBest finds the detections of a class of an image, which unit counts.
func (l *detectionOutput) keepBest(w *suppression, unit int) {
	image, label := unit/l.classes, unit%l.classes
	kept := l.kept[unit][:0]
	if label != l.background {
		scores := l.scoreData[unit*l.priors:][:l.priors]
		for _, i := range w.Suppress(l.candidates(w, scores), func(i int) box.Box { return l.boxAt(detection{image: image, label: label, prior: i}) }) {
			kept = append(kept, detection{image, label, i, scores[i]})
		}
	}
	l.kept[unit] = kept
}

// detect appends an image's detections, ordered by class and score.
func (l *detectionOutput) detect(image int) {
	first := len(l.found)
	for _, kept := range l.kept[image*l.classes:][:l.classes] {
		l.found = append(l.found, kept...)
	}
	found := l.found[first:]
	if l.keep < 0 || len(found) <= l.keep {
		return
	}
	slices.SortStableFunc(found, func(a, b detection) int { return cmp.Compare(b.score, a.score) })
	l.found = l.found[:first+l.keep]
	slices.SortStableFunc(l.found[first:], func(a, b detection) int { return cmp.Compare(a.label, b.label) })
}

// candidates lists the priors whose scores exceed the threshold, the best ones first.
func (l *detectionOutput) candidates(w *suppression, scores []float32) []int {
	w.keys, w.order = slices.Grow(w.keys[:0], len(scores))[:len(scores)], w.order[:0]
	n := 0
	for i, s := range scores {
		w.keys[n] = rank.KeyOf(s, i)
		if s > l.threshold {
			n++
		}
	}
	most := n
	if l.topK >= 0 {
		most = l.topK
	}
	for _, k := range rank.First(w.keys[:n], most) {
		w.order = append(w.order, k.Index())
	}
	return w.order
}

// write writes the detections.
func (l *detectionOutput) write(rows []float32) {
	for k, d := range l.found {
		row := rows[k*detectionValues:]
		row[0], row[1], row[2] = float32(d.image), float32(d.label), d.score
		l.boxAt(d).Put(row[3:])
	}
}

// Carries implements layers.Carrier: files list the images in order.
func (l *detectionOutput) Carries() bool { return l.save != nil }

// Traits implements Planned.
func (l *detectionOutput) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *detectionOutput) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }

// writesDetections is the effect of layers with save_output_param.
func writesDetections(p *caffepb.LayerParameter) string {
	if p.GetDetectionOutputParam().GetSaveOutputParam().GetOutputDirectory() == "" {
		return ""
	}
	return "writes detections to files"
}

package detect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "DetectionEvaluate", Doc: "which detections are right; the numbers of objects by class",
		Couples: layers.Always(layers.Rows, ""),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &detectionEvaluate{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// detectionEvaluate is SSD's DetectionEvaluate layer. Bottoms are detections and objects. The top has rows of 5 values: first, for each class
// but the background, -1, class, number of objects, -1, -1; then, for each detection, image, class, score, right and wrong. From the best
// score on, a detection is right if the object of its class and image that it overlaps most, by at least overlap_threshold, has not been found
// by a better one. If that object is difficult and these do not count, both values are 0.
type detectionEvaluate struct {
	layers.Base
	classes, background int
	threshold           float32
	difficult           bool        // objects that are difficult count
	images              []namedSize // boxes are compared in pixels of these images
	next                int         // image of the next batch

	bottoms    [2][]float32 // copies
	copies     [2]part.Mover
	rows       [2]int
	objects    objectList
	detections []scoredBox
	taken      []bool
}

// scoredBox is a detection to judge.
type scoredBox struct {
	box.Box
	image, label int
	score        float32
}

func (l *detectionEvaluate) SetUp(_, _ []*blob.Blob) (err error) {
	p := l.Param.GetDetectionEvaluateParam()
	if p == nil || p.NumClasses == nil || p.GetNumClasses() < 1 {
		return errors.New("num_classes must be set and positive")
	}
	l.classes, l.background, l.threshold, l.difficult = int(p.GetNumClasses()), int(p.GetBackgroundLabelId()), p.GetOverlapThreshold(), p.GetEvaluateDifficultGt()
	if !(l.threshold > 0) {
		return fmt.Errorf("overlap_threshold must be positive, it is %g", l.threshold)
	}
	l.objects = objectList{classes: l.classes, background: l.background, byLabel: true}
	if file := p.GetNameSizeFile(); file != "" {
		if l.images, err = readNameSizes(file); err != nil {
			return fmt.Errorf("name_size_file: %w", err)
		}
	}
	return nil
}

func (l *detectionEvaluate) Reshape(bottom, top []*blob.Blob) error {
	if err := checkRows(bottom[0], 0, detectionValues, "detections"); err != nil {
		return err
	}
	if err := checkRows(bottom[1], 1, objectValues, "objects"); err != nil {
		return err
	}
	top[0].Reshape(1, 1, l.listed()+bottom[0].Dim(2), verdictValues)
	for i, b := range bottom {
		if l.rows[i] == b.Dim(2) && l.bottoms[i] != nil {
			continue
		}
		l.rows[i], l.bottoms[i] = b.Dim(2), make([]float32, b.Count())
		var err error
		if l.copies[i], err = part.NewMover(&l.Base, 1, b.Count()); err != nil {
			return err
		}
	}
	return nil
}

// listed returns the number of classes without the background.
func (l *detectionEvaluate) listed() int {
	if l.background < l.classes {
		return l.classes - 1
	}
	return l.classes
}

func (l *detectionEvaluate) Forward(bottom, top []*blob.Blob) error {
	for i, b := range bottom {
		if err := l.copies[i].Run(l.bottoms[i], b.Data()); err != nil {
			return err
		}
	}
	if !l.Device.Machine.Values() {
		return nil
	}
	images, err := l.readDetections(l.bottoms[0])
	if err != nil {
		return err
	}
	for r := 0; r < len(l.bottoms[1]); r += objectValues {
		images = max(images, int(l.bottoms[1][r])+1)
	}
	if err := l.objects.read(l.bottoms[1], images); err != nil {
		return err
	}
	rows := top[0].Data()
	n := l.count(rows)
	l.taken = append(l.taken[:0], make([]bool, len(l.objects.list))...)
	for i := range l.detections {
		d := &l.detections[i]
		right, wrong, err := l.judge(d)
		if err != nil {
			return err
		}
		copy(rows[n*verdictValues:], []float32{float32(d.image), float32(d.label), d.score, right, wrong})
		n++
	}
	top[0].Reshape(1, 1, n, verdictValues)
	if len(l.images) > 0 {
		l.next = (l.next + images) % len(l.images)
	}
	return nil
}

// readDetections reads the rows, ordered by image, class and score, and returns the number of images that they tell of. Rows of class -1 say
// that a batch has no detections.
func (l *detectionEvaluate) readDetections(rows []float32) (images int, err error) {
	l.detections = l.detections[:0]
	for r := 0; r < len(rows)/detectionValues; r++ {
		row := rows[r*detectionValues:]
		image := int(row[0])
		if row[0] == -1 {
			continue
		}
		if float32(image) != row[0] || image < 0 {
			return 0, layers.WrongValue("detection %d is of image %g", r, row[0])
		}
		images = max(images, image+1)
		d := scoredBox{Box: box.Of(row[3:]), image: image, score: row[2]}
		if d.label = -1; row[1] != -1 {
			if d.label, err = labelOf(row[1], "detection", r, l.classes, l.background); err != nil {
				return 0, err
			}
		}
		l.detections = append(l.detections, d)
	}
	slices.SortStableFunc(l.detections, func(a, b scoredBox) int {
		return cmp.Or(cmp.Compare(a.image, b.image), cmp.Compare(a.label, b.label), cmp.Compare(b.score, a.score))
	})
	return images, nil
}

// count writes the numbers of objects, and returns the number of rows.
func (l *detectionEvaluate) count(rows []float32) (n int) {
	for label := range l.classes {
		if label == l.background {
			continue
		}
		objects := 0
		for _, ob := range l.objects.list {
			if ob.label == label && (l.difficult || !ob.difficult) {
				objects++
			}
		}
		copy(rows[n*verdictValues:], []float32{-1, float32(label), float32(objects), -1, -1})
		n++
	}
	return n
}

// judge says whether a detection is right, wrong, or neither.
func (l *detectionEvaluate) judge(d *scoredBox) (right, wrong float32, err error) {
	largest, at := float32(-1), -1
	for j, ob := range l.objects.list {
		if l.objects.images[j] != d.image || ob.label != d.label {
			continue
		}
		if v := l.overlap(d.Box, ob.Box, d.image); v > largest {
			largest, at = v, j
		}
	}
	switch {
	case largest < l.threshold:
		return 0, 1, nil
	case !l.difficult && l.objects.list[at].difficult:
		return 0, 0, nil
	case l.taken[at]:
		return 0, 1, nil
	}
	l.taken[at] = true
	return 1, 0, nil
}

// overlap compares two boxes of an image of the batch.
func (l *detectionEvaluate) overlap(a, b box.Box, image int) float32 {
	if len(l.images) == 0 {
		return box.Overlap(a, b)
	}
	im := l.images[(l.next+image)%len(l.images)]
	w, h := float32(im.width), float32(im.height)
	return box.PixelOverlap(a.Scale(w, h), b.Scale(w, h))
}

// Carries implements layers.Carrier: the sizes of images are listed in order.
func (l *detectionEvaluate) Carries() bool { return len(l.images) > 0 }

// Traits implements Planned.
func (l *detectionEvaluate) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing}
}

func (l *detectionEvaluate) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }

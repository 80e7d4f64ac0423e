package detect

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/base/rank"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	for name, doc := range map[string]string{
		"YoloDetectionOutput":   "detections of YOLO v2: of each anchor the best class, of boxes that overlap the best one",
		"Yolov3DetectionOutput": "detections of YOLO v3: of each anchor all likely classes, of boxes that overlap the best one",
	} {
		layers.Register(layers.Type{
			Name: name, Doc: doc,
			Couples: layers.Always(layers.Rows, ""),
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				return &yoloOutput{Base: layers.Base{Param: p, Device: d}}
			},
			Bottoms: layers.AtLeast(1), Tops: layers.Exactly(1), Detections: true, NoGradient: true,
			Classes: func(p *caffepb.LayerParameter) int {
				if name == "YoloDetectionOutput" {
					return 1 + int(p.GetYoloDetectionOutputParam().GetNumClasses())
				}
				return 1 + int(p.GetYolov3DetectionOutputParam().GetNumClasses())
			},
		})
	}
}

// yoloOutput is the YoloDetectionOutput or Yolov3DetectionOutput layer of MobileNet-YOLO (Redmon and Farhadi 2016, 2018). A bottom has, for each
// anchor in turn, the channels x, y, w, h, object and one for each class. In cell (i, j) of a bottom of W x H cells, the box of an anchor has the
// centre (i + sigmoid(x)) / W, (j + sigmoid(y)) / H and the sides exp(w) and exp(h) times the anchor's, in units of the image. An anchor's score
// for a class is sigmoid(object) times softmax(class) in version 2, where only the best class counts, and times sigmoid(class) in version 3.
//
// The top has shape 1 x 1 x detections x 7: image, class + 1, score and box, ordered by image and score. Of boxes that overlap by nms_threshold
// the better one is kept, of whatever class. A batch without detections has a row of image, -1, -1, ... for each image.
type yoloOutput struct {
	layers.Base
	second     bool // version 2
	classes    int
	threshold  float32
	suppressor box.Suppressor
	grids      []*yoloGrid
	images     int
	width      int        // values of a row
	rows       *blob.Blob // images x boxes x width: a box, then scores of classes, or in version 2 the best score and its class
	boxes      int        // of an image

	rowData []float32
	keys    []rank.Key
	order   []int
	found   []detection
}

func (l *yoloOutput) SetUp(bottom, _ []*blob.Blob) error {
	l.rows = l.Device.NewBlob(0)
	if l.second = l.Param.GetType() == "YoloDetectionOutput"; l.second {
		return l.setUpSecond(len(bottom))
	}
	p := l.Param.GetYolov3DetectionOutputParam()
	if p == nil || p.NumClasses == nil || p.GetNumClasses() < 1 {
		return errors.New("num_classes must be set and positive")
	}
	l.classes, l.width, l.threshold = int(p.GetNumClasses()), 4+int(p.GetNumClasses()), p.GetConfidenceThreshold()
	groups, anchors := int(p.GetMaskGroupNum()), int(p.GetNumBox())
	switch {
	case len(bottom) != groups || len(p.AnchorsScale) != groups:
		return fmt.Errorf("mask_group_num is %d, but there are %d bottoms and %d of anchors_scale", groups, len(bottom), len(p.AnchorsScale))
	case anchors < 1 || len(p.Mask) != groups*anchors:
		return fmt.Errorf("mask must have num_box %d anchors for each of %d bottoms, it has %d", anchors, groups, len(p.Mask))
	}
	for i := range bottom {
		g := &yoloGrid{yoloOutput: l, yoloAnchors: yoloAnchors{scale: float64(p.AnchorsScale[i])}}
		for _, m := range p.Mask[i*anchors:][:anchors] {
			if 2*int(m)+1 >= len(p.Biases) {
				return fmt.Errorf("mask has anchor %d, but biases has %d numbers for %d anchors", m, len(p.Biases), len(p.Biases)/2)
			}
			g.anchors = append(g.anchors, [2]float64{float64(p.Biases[2*m]), float64(p.Biases[2*m+1])})
		}
		l.grids = append(l.grids, g)
	}
	return l.setSuppressor(p.GetNmsThreshold())
}

// setUpSecond reads the parameters of version 2, whose bottoms have the same anchors, in units of cells.
func (l *yoloOutput) setUpSecond(bottoms int) error {
	p := l.Param.GetYoloDetectionOutputParam()
	if p == nil || p.NumClasses == nil || p.GetNumClasses() < 1 {
		return errors.New("num_classes must be set and positive")
	}
	l.classes, l.width, l.threshold = int(p.GetNumClasses()), 6, p.GetConfidenceThreshold()
	anchors := int(p.GetNumBox())
	switch {
	case anchors < 1 || len(p.Biases) != 2*anchors:
		return fmt.Errorf("biases must have 2 numbers for each of num_box %d anchors, it has %d", anchors, len(p.Biases))
	case p.GetCoords() != 4:
		return fmt.Errorf("coords must be 4, it is %d", p.GetCoords())
	}
	for range bottoms {
		g := &yoloGrid{yoloOutput: l, yoloAnchors: yoloAnchors{scale: 1}}
		for k := range anchors {
			g.anchors = append(g.anchors, [2]float64{float64(p.Biases[2*k]), float64(p.Biases[2*k+1])})
		}
		l.grids = append(l.grids, g)
	}
	return l.setSuppressor(p.GetNmsThreshold())
}

// setSuppressor drops boxes that overlap by at least a threshold.
func (l *yoloOutput) setSuppressor(threshold float32) error {
	if !(threshold >= 0) {
		return fmt.Errorf("nms_threshold must not be negative, it is %g", threshold)
	}
	l.suppressor = box.Suppressor{Threshold: math.Nextafter32(threshold, -1), Eta: 1}
	return nil
}

func (l *yoloOutput) Reshape(bottom, top []*blob.Blob) error {
	l.images, l.boxes = bottom[0].Legacy(0), 0
	for i, b := range bottom {
		g := l.grids[i]
		channels := len(g.anchors) * (5 + l.classes)
		if err := part.CheckImages(b); err != nil {
			return err
		}
		if b.Dim(0) != l.images || b.Dim(1) != channels {
			return fmt.Errorf("bottom[%d] must have %d images and %d x (5 + %d classes) = %d channels, its shape is %s", i, l.images, len(g.anchors), l.classes, channels, b.ShapeString())
		}
		g.first, g.size = l.boxes, [2]int{b.Dim(2), b.Dim(3)}
		l.boxes += len(g.anchors) * g.cells()
	}
	l.rows.Reshape(l.images, l.boxes, l.width)
	if top[0].NumAxes() != 4 { // Forward finds the number of detections
		top[0].Reshape(1, 1, 1, detectionValues)
	}
	for _, g := range l.grids {
		g.reshape()
	}
	return nil
}

func (l *yoloOutput) Forward(bottom, top []*blob.Blob) error {
	l.rowData = l.rows.Data()
	for i, g := range l.grids {
		if err := g.run(bottom[i].Data()); err != nil {
			return err
		}
	}
	if !l.Device.Machine.Values() {
		return nil
	}
	l.found = l.found[:0]
	for image := range l.images {
		l.detect(image)
	}
	if len(l.found) == 0 {
		for image := range l.images {
			l.found = append(l.found, detection{image, -1, -1, -1})
		}
	}
	top[0].Reshape(1, 1, len(l.found), detectionValues)
	for k, d := range l.found {
		row := top[0].Data()[k*detectionValues:]
		row[0], row[1], row[2] = float32(d.image), float32(d.label), d.score
		row[3], row[4], row[5], row[6] = -1, -1, -1, -1
		if d.prior >= 0 {
			copy(row[3:7], l.row(d))
		}
	}
	return nil
}

// row returns the values of a detection's box.
func (l *yoloOutput) row(d detection) []float32 {
	return l.rowData[(d.image*l.boxes+d.prior)*l.width:][:l.width]
}

// detect appends an image's detections, ordered by score. Of the classes of a box it considers the best one only, if the others' equal boxes would
// be dropped anyway. An untrained net has many: each box with each class.
func (l *yoloOutput) detect(image int) {
	first := len(l.found)
	for b := range l.boxes {
		row := l.row(detection{image: image, prior: b})
		if l.second {
			if row[4] >= l.threshold {
				l.found = append(l.found, detection{image, int(row[5]) + 1, b, row[4]})
			}
			continue
		}
		one, start := l.suppressor.DropsEqual(box.Of(row)), len(l.found)
		for class, score := range row[4:] {
			d := detection{image, class + 1, b, score}
			switch {
			case !(score > l.threshold):
			case one && len(l.found) > start:
				if score > l.found[start].score {
					l.found[start] = d
				}
			default:
				l.found = append(l.found, d)
			}
		}
	}
	found := l.found[first:]
	l.keys, l.order = l.keys[:0], l.order[:0]
	for i, d := range found {
		l.keys = append(l.keys, rank.KeyOf(d.score, i))
	}
	for _, k := range rank.First(l.keys, len(l.keys)) {
		l.order = append(l.order, k.Index())
	}
	kept := l.suppressor.Suppress(l.order, func(i int) box.Box { return box.Of(l.row(found[i])) })
	at := len(l.found)
	for _, i := range kept {
		l.found = append(l.found, l.found[first+i])
	}
	l.found = l.found[:first+copy(l.found[first:], l.found[at:])]
}

// Traits implements Planned.
func (l *yoloOutput) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *yoloOutput) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }

package export

import (
	"math"

	"github.com/swcaffe/swcaffe/blob"
)

// yolo is a YoloDetectionOutput or Yolov3DetectionOutput layer. Cells and anchors are constants. The boxes of all bottoms, in the order cell,
// anchor, are candidates with their best class, since of equal boxes only one is kept. TopK sorts them, NonMaxSuppression marks those that are
// kept, and the places of the marks (NonZero) give the rows.
type yolo struct {
	*layer
	batch     dim
	classes   int
	anchors   [][][2]float32 // of each bottom, in units of its cells
	least     float32        // a score must exceed it
	threshold float32        // boxes that overlap by it are suppressed
	boxes     int            // of an image
}

func yoloSecond(l *layer) error {
	p := l.p.GetYoloDetectionOutputParam()
	y := &yolo{layer: l, classes: int(p.GetNumClasses()), least: math.Nextafter32(p.GetConfidenceThreshold(), -1), threshold: p.GetNmsThreshold()}
	for range l.bottom {
		y.anchors = append(y.anchors, pairsOf(p.GetBiases(), 1))
	}
	return y.export(y.softmax)
}

func yoloThird(l *layer) error {
	p := l.p.GetYolov3DetectionOutputParam()
	y := &yolo{layer: l, classes: int(p.GetNumClasses()), least: p.GetConfidenceThreshold(), threshold: p.GetNmsThreshold()}
	for i := range l.bottom {
		all, anchors := pairsOf(p.GetBiases(), float32(p.GetAnchorsScale()[i])), [][2]float32(nil)
		for _, m := range p.GetMask()[i*int(p.GetNumBox()):][:p.GetNumBox()] {
			anchors = append(anchors, all[m])
		}
		y.anchors = append(y.anchors, anchors)
	}
	return y.export(y.sigmoid)
}

// pairsOf returns widths and heights in units of a scale.
func pairsOf(biases []float32, scale float32) (pairs [][2]float32) {
	for i := 0; i+1 < len(biases); i += 2 {
		pairs = append(pairs, [2]float32{biases[i] / scale, biases[i+1] / scale})
	}
	return pairs
}

// export sets the layer's top. score gives candidates' scores and labels from the predictions of object and classes.
func (y *yolo) export(score func(object, classes string) (scores, labels string, perBox int)) error {
	y.batch = y.dims(y.bottom[0])[0]
	x := y.predictions()
	boxes := y.decoded(x)
	scores, labels, perBox := score(y.node("Sigmoid", []string{y.part(x, 2, 4, 5)}), y.part(x, 2, 5, 5+y.classes))
	n := y.boxes * perBox
	flat, open := []dim{y.batch, {n: n}}, []dim{y.batch, {n: n}, {n: 1}}
	top := y.nodes("TopK", 2, []string{y.reshape(scores, []dim{y.batch, {n: y.boxes}, {n: perBox}}, flat), y.ints("all", n)}, attr{"axis", 1})
	places := y.reshape(top[1], flat, open)
	if perBox > 1 {
		labels = y.node("Cast", []string{y.node("Mod", []string{top[1], y.integer("classes", perBox)})}, float)
		places = y.node("Div", []string{places, y.integer("classes", perBox)})
	} else {
		labels = y.node("GatherND", []string{labels, places}, attr{"batch_dims", 1})
	}
	labels = y.node("Add", []string{labels, y.number("one", 1)})
	boxes = y.node("GatherND", []string{boxes, places}, attr{"batch_dims", 1})
	index := y.node("Transpose", []string{y.node("NonZero", []string{y.marks(top[0], boxes, flat)})}, attr{"perm", []int{1, 0}})
	chosen := func(v string) string { return y.node("GatherND", []string{v, index}) }
	y.set(0, y.table(y.part(index, 1, 0, 1), chosen(labels), chosen(top[0]), chosen(boxes)))
	y.loose[y.top[0]] = 2
	return nil
}

// predictions returns the values of all bottoms as images x boxes x channels.
func (y *yolo) predictions() string {
	var grids []string
	for i, b := range y.bottom {
		a, c, cells := len(y.anchors[i]), 5+y.classes, b.Dim(2)*b.Dim(3)
		split := []dim{y.batch, {n: a}, {n: c}, {n: cells}}
		v := y.node("Transpose", []string{y.reshape(y.in[i], y.dims(b), split)}, attr{"perm", []int{0, 3, 1, 2}})
		grids = append(grids, y.reshape(v, []dim{y.batch, {n: cells}, {n: a}, {n: c}}, []dim{y.batch, {n: cells * a}, {n: c}}))
		y.boxes += cells * a
	}
	if len(grids) == 1 {
		return grids[0]
	}
	return y.node("Concat", grids, attr{"axis", 1})
}

// decoded returns the boxes, as images x boxes x 4.
func (y *yolo) decoded(x string) string {
	cells := y.pairs("cells", func(b *blob.Blob, cell int, _ [2]float32) [2]float32 {
		return [2]float32{float32(cell % b.Dim(3)), float32(cell / b.Dim(3))}
	})
	grid := y.pairs("grid", func(b *blob.Blob, _ int, _ [2]float32) [2]float32 {
		return [2]float32{float32(b.Dim(3)), float32(b.Dim(2))}
	})
	anchors := y.pairs("anchors", func(b *blob.Blob, _ int, a [2]float32) [2]float32 {
		return [2]float32{a[0] / float32(b.Dim(3)), a[1] / float32(b.Dim(2))}
	})
	centre := y.node("Div", []string{y.node("Add", []string{y.node("Sigmoid", []string{y.part(x, 2, 0, 2)}), cells}), grid})
	sides := y.node("Mul", []string{y.node("Exp", []string{y.part(x, 2, 2, 4)}), anchors})
	return y.node("Concat", y.corners(centre, sides), attr{"axis", 2})
}

// pairs makes a constant of two values for each box.
func (y *yolo) pairs(what string, of func(b *blob.Blob, cell int, anchor [2]float32) [2]float32) string {
	var values []float32
	for i, b := range y.bottom {
		for cell := range b.Dim(2) * b.Dim(3) {
			for _, a := range y.anchors[i] {
				v := of(b, cell, a)
				values = append(values, v[0], v[1])
			}
		}
	}
	return y.array(what, values, y.boxes, 2)
}

// softmax is the score of version 2: the best class counts.
func (y *yolo) softmax(object, classes string) (scores, labels string, perBox int) {
	best := y.nodes("TopK", 2, []string{classes, y.ints("one", 1)}, attr{"axis", 2})
	parts := y.node("Exp", []string{y.node("Sub", []string{classes, best[0]})})
	sum := y.node("ReduceSum", []string{parts, y.ints("axis", 2)})
	return y.node("Div", []string{object, sum}), y.label(best[1]), 1
}

// sigmoid is the score of version 3: all classes count, but unless equal boxes are kept only the best one is of importance.
func (y *yolo) sigmoid(object, classes string) (scores, labels string, perBox int) {
	scores = y.node("Mul", []string{object, y.node("Sigmoid", []string{classes})})
	if y.threshold > 1 {
		return scores, "", y.classes
	}
	best := y.nodes("TopK", 2, []string{scores, y.ints("one", 1)}, attr{"axis", 2})
	return best[0], y.label(best[1]), 1
}

// label turns images x boxes x 1 integers into images x boxes floats.
func (y *yolo) label(best string) string {
	return y.reshape(y.node("Cast", []string{best}, float), []dim{y.batch, {n: y.boxes}, {n: 1}}, []dim{y.batch, {n: y.boxes}})
}

// marks returns ones for the candidates that are kept, as images x candidates.
func (y *yolo) marks(scores, boxes string, all []dim) string {
	if y.threshold > 1 {
		return y.node("Cast", []string{y.node("Greater", []string{scores, y.number("confidence", y.least)})}, float)
	}
	most := all[1].n
	if y.threshold == 0 { // boxes without overlap are suppressed too
		most = 1
	}
	return y.mark(scores, y.node("NonMaxSuppression", []string{
		boxes, y.reshape(scores, all, []dim{y.batch, {n: 1}, all[1]}), y.ints("boxes", most),
		y.number("overlap", max(0, math.Nextafter32(y.threshold, -1))), y.number("confidence", y.least),
	}))
}

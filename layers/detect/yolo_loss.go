package detect

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	for name, t := range map[string]layers.Type{
		"RegionLoss": {Doc: "the loss of YOLO v2: squared errors of boxes and objects, softmax of classes", Effects: layers.Effect("counts the images it has seen"), New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &regionLoss{yoloLoss: yoloLoss{Base: layers.Base{Param: p, Device: d}}}
		}},
		"Yolov3": {Doc: "the loss of YOLO v3: squared errors of boxes' sides, cross entropies of the rest", New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &yoloLoss{Base: layers.Base{Param: p, Device: d}}
		}},
	} {
		t.Name, t.Bottoms, t.Tops, t.Loss, t.NoForceBackward = name, layers.Exactly(2), layers.Exactly(1), true, []int{1}
		layers.Register(t)
	}
}

// yoloLoss is the Yolov3 layer of MobileNet-YOLO, the loss of YOLO v3 (Redmon and Farhadi 2018), and the base of its RegionLoss layer. Bottom 0
// has predictions as yoloOutput reads them. Bottom 1 has 5 values for each object of an image: class, centre and sides, in units of the
// image; a side of 0 ends the list.
//
// An object belongs to the cell of its centre and to the anchor whose shape overlaps the object's most, of the anchors of all bottoms. Its
// prediction has errors of x, y, w, h, object and classes. All other predictions have an error of object alone, unless they overlap an
// object by more than thresh. The gradient of a value is its error over the number of images, the error being the derivative of
//
//	coord_scale * (2 - area) * (CE(x) + CE(y) + (w-w')^2/2 + (h-h')^2/2) + CE(object) + class_scale * sum CE(class),
//
// where CE is the cross entropy of a sigmoid, and x' to h' are the values that give the object. With use_logic_gradient the squared error of the
// sigmoid takes the place of CE, and the error of an object's own prediction is times object_scale. The top is what darknet prints, the sum of
// squared errors (without the sigmoid's derivative) over the number of images; it is not the function above.
type yoloLoss struct {
	layers.Base
	yoloAnchors
	all   [][2]float64 // the anchors of all bottoms
	place []int        // of each of them among this bottom's, or -1

	classes                       int
	thresh                        float32
	object, noobject, class, side float64                      // the scales of errors; side is that of boxes
	logistic                      bool                         // use_logic_gradient
	region                        *caffepb.RegionLossParameter // nil: version 3
	warm                          bool                         // all predictions also have errors of boxes

	images, slots int        // slots: objects that an image may have
	errors        *blob.Blob // like bottom 0
	x, truth, e   []float32  // the values of bottom 0, bottom 1 and errors
	truths        []truth
	starts        []int // of each image among the truths, and their end
	taken         []int // predictions of an image to which objects belong

	cells    cellKernels
	gradient *stream.Kernel
	factor   float32
	ins      [1][]float32
	outs     [1][]float32
}

func (l *yoloLoss) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetYolov3Param()
	l.errors = l.Device.NewBlob(0)
	l.classes, l.thresh, l.logistic, l.scale = int(p.GetNumClass()), p.GetThresh(), p.GetUseLogicGradient(), float64(p.GetAnchorsScale())
	l.object, l.noobject, l.class, l.side = 1, 1, float64(p.GetClassScale()), float64(p.GetCoordScale())
	if l.logistic {
		l.object = float64(p.GetObjectScale())
	}
	if int(p.GetNum()) != len(p.GetMask()) {
		return fmt.Errorf("mask must have the num %d anchors of the bottom, it has %d", p.GetNum(), len(p.GetMask()))
	}
	if l.scale == 0 {
		return errors.New("anchors_scale must be positive, it is 0")
	}
	if err := l.setAnchors(p.GetBiases()); err != nil {
		return err
	}
	for _, m := range p.GetMask() {
		if int(m) >= len(l.all) {
			return fmt.Errorf("mask has anchor %d, but biases has %d numbers for %d anchors", m, len(p.Biases), len(l.all))
		}
		l.place[m] = len(l.anchors)
		l.anchors = append(l.anchors, l.all[m])
	}
	return nil
}

// setAnchors reads the anchors of all bottoms.
func (l *yoloLoss) setAnchors(biases []float32) error {
	if len(biases) == 0 || len(biases)%2 != 0 || l.classes < 1 {
		return fmt.Errorf("biases must have 2 numbers for each anchor, it has %d; num_class must be positive, it is %d", len(biases), l.classes)
	}
	for i := 0; i < len(biases); i += 2 {
		if !(biases[i] > 0 && biases[i+1] > 0) {
			return fmt.Errorf("biases must be positive, those of anchor %d are %g and %g", i/2, biases[i], biases[i+1])
		}
		l.all, l.place = append(l.all, [2]float64{float64(biases[i]), float64(biases[i+1])}), append(l.place, -1)
	}
	return nil
}

func (l *yoloLoss) Reshape(bottom, top []*blob.Blob) error {
	x, labels := bottom[0], bottom[1]
	if err := part.CheckImages(x); err != nil {
		return err
	}
	channels := 5 + l.classes
	switch {
	case x.Dim(1) != len(l.anchors)*channels:
		return fmt.Errorf("bottom[0] must have %d x (5 + %d classes) = %d channels, its shape is %s", len(l.anchors), l.classes, len(l.anchors)*channels, x.ShapeString())
	case labels.NumAxes() < 1 || labels.Dim(0) != x.Dim(0) || labels.CountFrom(1)%5 != 0:
		return fmt.Errorf("bottom[1] must have rows of class, x, y, w and h for each of the %d images, its shape is %s", x.Dim(0), labels.ShapeString())
	}
	top[0].Reshape()
	slots := labels.CountFrom(1) / 5
	if l.errors.Count() == x.Count() && l.images == x.Dim(0) && l.size == [2]int{x.Dim(2), x.Dim(3)} && l.slots == slots {
		return nil
	}
	l.images, l.size, l.slots = x.Dim(0), [2]int{x.Dim(2), x.Dim(3)}, slots
	l.errors.ReshapeLike(x)
	if l.cells.prepare(l); l.MPE() {
		return nil
	}
	streams := part.StreamsOf(&l.Base)
	l.gradient = streams.Make(stream.Pass{
		Name: l.Param.GetType() + " gradient", Dims: [3]int{1, 1, x.Count()}, Ins: part.Arrays(1), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) { vec.Scale(t.Out[0][:t.I], t.In[0], l.factor) },
	})
	return streams.Err
}

func (l *yoloLoss) Forward(bottom, top []*blob.Blob) error {
	l.x, l.truth, l.e = bottom[0].Data(), bottom[1].Data(), l.errors.Data()
	if l.Device.Machine.Values() {
		if err := l.readTruths(); err != nil {
			return err
		}
	}
	if err := l.cells.run(l.cells.empty, l.emptyTile); err != nil {
		return err
	}
	if l.Device.Machine.Values() {
		l.placeTruths()
	}
	if err := l.cells.run(l.cells.total, l.totalTile); err != nil {
		return err
	}
	top[0].Data()[0] = float32(l.cells.sum() / float64(max(1, l.images)))
	return nil
}

// Traits implements Planned. Forward keeps the errors.
func (l *yoloLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing, Keeps: []*blob.Blob{l.errors}}
}

func (l *yoloLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errors.New("the layer cannot backpropagate to label inputs (bottom 1)")
	}
	if !propagateDown[0] {
		return nil
	}
	l.factor = top[0].Diff()[0] / float32(max(1, l.images))
	l.ins[0], l.outs[0] = l.errors.Data(), bottom[0].Diff()
	if l.gradient != nil {
		return l.gradient.Run(l.ins[:], l.outs[:])
	}
	for i, e := range l.ins[0] {
		l.outs[0][i] = l.factor * e
	}
	return nil
}

package detect

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
)

// regionLoss is the RegionLoss layer of MobileNet-YOLO, the loss of YOLO v2 (Redmon and Farhadi 2016). It differs from yoloLoss: its bottom has
// all anchors, in units of cells. Errors of x, y and object are those of squared errors of the sigmoid, times noobject_scale where no
// object is and object_scale where one is. With rescore an object's target is the overlap of its prediction, a constant for the gradient, and the
// factor 2 - area is missing. Classes have a softmax. For the first 12800 images of a training, all predictions without object have errors,
// times 0.01, of the box that is the anchor in the middle of the cell.
type regionLoss struct {
	yoloLoss
	forwards int // in phase TRAIN
}

// warmImages is the number of images for which boxes learn to be anchors.
const warmImages = 12800

func (l *regionLoss) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetRegionLossParam()
	l.region, l.errors = p, l.Device.NewBlob(0)
	l.classes, l.thresh, l.scale = int(p.GetNumClass()), p.GetThresh(), 1
	l.object, l.noobject, l.class, l.side = float64(p.GetObjectScale()), float64(p.GetNoobjectScale()), float64(p.GetClassScale()), float64(p.GetCoordScale())
	switch {
	case p == nil || len(p.Biases) != 2*int(p.GetNum()):
		return fmt.Errorf("biases must have 2 numbers for each of num %d anchors, it has %d", p.GetNum(), len(p.GetBiases()))
	case p.GetCoords() != 4 || p.GetSoftmax() == 0:
		return fmt.Errorf("coords must be 4 and softmax 1, they are %d and %d", p.GetCoords(), p.GetSoftmax())
	case p.GetSoftmaxTree() != "" || p.GetClassMap() != "":
		return fmt.Errorf("softmax_tree %q and class_map %q are not supported", p.GetSoftmaxTree(), p.GetClassMap())
	}
	if err := l.setAnchors(p.Biases); err != nil {
		return err
	}
	l.anchors = l.all
	for i := range l.place {
		l.place[i] = i
	}
	return nil
}

func (l *regionLoss) Forward(bottom, top []*blob.Blob) error {
	l.warm = l.Train() && l.forwards < warmImages/max(1, l.images)
	if l.Train() {
		l.forwards++
	}
	return l.yoloLoss.Forward(bottom, top)
}

// Position implements Positioner: a resumed training does not begin with anchors again.
func (l *regionLoss) Position() uint64 { return uint64(l.forwards) * uint64(max(1, l.images)) }

// SetPosition implements Positioner.
func (l *regionLoss) SetPosition(items uint64) error {
	l.forwards = int(items / uint64(max(1, l.images)))
	return nil
}

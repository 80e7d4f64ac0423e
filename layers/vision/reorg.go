package vision

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Reorg", Doc: "images with stride x stride times fewer pixels and more channels, in darknet's order; reverse: fewer channels",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &reorg{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// reorg is the Reorg layer of YOLO v2 (Redmon and Farhadi 2016), in darknet's order of values: an image of C x H x W is read as one of
// C/s^2 x sH x sW. Of that image, channel (dy*s + dx)*C/s^2 + c of the result holds the pixels (s*y + dy, s*x + dx) of channel c. The values
// of the result are then the top's, whose shape is s^2 C x H/s x W/s. With reverse, a bottom of C x H x W goes the other way, to
// C/s^2 x sH x sW.
type reorg struct {
	layers.Base
	stride         int
	reverse        bool
	there, back    part.Permuter
	split, joined  []int // the axes of the image, with those of blocks; and in the order of the result
	order, inverse []int
}

func (l *reorg) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetReorgParam()
	l.stride, l.reverse = int(p.GetStride()), p.GetReverse()
	if l.stride < 1 {
		return fmt.Errorf("stride must be positive, it is %d", l.stride)
	}
	l.order, l.inverse = []int{0, 3, 5, 1, 2, 4}, []int{0, 3, 4, 1, 5, 2}
	return nil
}

func (l *reorg) Reshape(bottom, top []*blob.Blob) error {
	x, s := bottom[0], l.stride
	if err := part.CheckImages(x); err != nil {
		return err
	}
	n, c, h, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
	if c%(s*s) != 0 {
		return fmt.Errorf("stride %d needs a multiple of %d channels, bottom[0] has shape %s", s, s*s, x.ShapeString())
	}
	if l.reverse {
		top[0].Reshape(n, c/(s*s), h*s, w*s)
	} else {
		if h%s != 0 || w%s != 0 {
			return fmt.Errorf("height and width must be multiples of the stride %d, bottom[0] has shape %s", s, x.ShapeString())
		}
		top[0].Reshape(n, c*s*s, h/s, w/s)
	}
	l.split = append(l.split[:0], n, c/(s*s), h, s, w, s)
	l.joined = append(l.joined[:0], n, s, s, c/(s*s), h, w)
	l.there.Reshape(&l.Base, l.split, l.order)
	l.back.Reshape(&l.Base, l.joined, l.inverse)
	return nil
}

func (l *reorg) Forward(bottom, top []*blob.Blob) error {
	if l.reverse {
		return l.back.Run(top[0].Data(), bottom[0].Data())
	}
	return l.there.Run(top[0].Data(), bottom[0].Data())
}

// Traits implements Planned.
func (l *reorg) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *reorg) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	switch {
	case !propagateDown[0]:
		return nil
	case l.reverse:
		return l.there.Run(bottom[0].Diff(), top[0].Diff())
	}
	return l.back.Run(bottom[0].Diff(), top[0].Diff())
}

package vision

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Upsample", Doc: "puts values where a Pooling layer's second top says, or with one bottom repeats pixels",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &upsample{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Between(1, 2), Tops: layers.Exactly(1), NoForceBackward: []int{1}, ZeroGradient: true,
	})
}

// upsample is the Upsample layer of SegNet (Badrinarayanan et al. 2017). The second bottom holds, for each value of the first, its index in
// the top's plane; the top is zero elsewhere. With one bottom it is the layer of YOLO's converters, which repeats each pixel scale x scale
// times.
type upsample struct {
	layers.Base
	size    [2]int // of the top, from the prototxt; 0 if scale gives it
	scale   [2]int
	less    [2]int // pixels less in the top
	shape   []int  // of the top
	scatter part.Scatter
	repeat  repeatPixels
}

func (l *upsample) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetUpsampleParam()
	if p == nil {
		p = &caffepb.UpsampleParameter{}
	}
	l.scale = [2]int{int(p.GetScale()), int(p.GetScale())}
	if len(bottom) == 1 {
		if p.ScaleH != nil || p.ScaleW != nil || p.UpsampleH != nil || p.UpsampleW != nil || p.PadOutH != nil || p.PadOutW != nil {
			return errors.New("upsample_param: with one bottom only scale is used; with a mask as second bottom the other fields are")
		}
		if p.Scale == nil {
			l.scale = [2]int{1, 1}
		}
		if l.scale[0] < 1 {
			return fmt.Errorf("scale must be positive, it is %d", l.scale[0])
		}
		return nil
	}
	both := func(h, w *uint32) bool { return (h == nil) == (w == nil) }
	switch {
	case !both(p.UpsampleH, p.UpsampleW):
		return errors.New("upsample_h and upsample_w are required, not one of them")
	case !both(p.ScaleH, p.ScaleW) || p.Scale != nil && p.ScaleH != nil:
		return errors.New("scale, or both scale_h and scale_w, are required, not both forms")
	case p.UpsampleH != nil:
		if l.size = [2]int{int(p.GetUpsampleH()), int(p.GetUpsampleW())}; min(l.size[0], l.size[1]) < 2 {
			return fmt.Errorf("upsample_h and upsample_w must be more than 1, they are %d and %d", l.size[0], l.size[1])
		}
		return nil
	case p.ScaleH != nil:
		l.scale = [2]int{int(p.GetScaleH()), int(p.GetScaleW())}
	}
	if min(l.scale[0], l.scale[1]) < 2 {
		return fmt.Errorf("scale must be more than 1, it is %d x %d", l.scale[0], l.scale[1])
	}
	for i, pad := range []bool{p.GetPadOutH(), p.GetPadOutW()} {
		if !pad {
			continue
		}
		if l.less[i] = 1; l.scale[i] != 2 {
			return fmt.Errorf("pad_out_h and pad_out_w need a scale of 2, it is %d x %d", l.scale[0], l.scale[1])
		}
	}
	return nil
}

func (l *upsample) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	if len(bottom) > 1 {
		if err := part.CheckSameShape(bottom); err != nil {
			return err
		}
	}
	n, c, h, w := bottom[0].Dim(0), bottom[0].Dim(1), bottom[0].Dim(2), bottom[0].Dim(3)
	size := l.size
	if size[0] == 0 {
		size = [2]int{h*l.scale[0] - l.less[0], w*l.scale[1] - l.less[1]}
	}
	l.shape = append(l.shape[:0], n, c, max(0, size[0]), max(0, size[1]))
	if err := l.Device.CheckShape("the top", l.shape); err != nil {
		return err
	}
	top[0].Reshape(l.shape...)
	if len(bottom) == 1 {
		l.repeat.reshape(&l.Base, n*c, h, w, l.scale[0])
		return nil
	}
	l.scatter.Reshape(&l.Base, n*c, h*w, l.shape[2]*l.shape[3])
	return nil
}

func (l *upsample) Forward(bottom, top []*blob.Blob) error {
	if len(bottom) == 1 {
		return l.repeat.forward(top[0].Data(), bottom[0].Data())
	}
	return l.scatter.Put(top[0].Data(), bottom[0].Data(), bottom[1].Data())
}

// Traits implements Planned. Backward needs the indices.
func (l *upsample) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottomsBut(1), Tops: true}}
}

func (l *upsample) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if len(bottom) > 1 && propagateDown[1] {
		clearMask(l.Device, bottom[1])
	}
	switch {
	case !propagateDown[0]:
		return nil
	case len(bottom) == 1:
		return l.repeat.backward(bottom[0].Diff(), top[0].Diff())
	}
	return l.scatter.Take(bottom[0].Diff(), top[0].Diff(), bottom[1].Data())
}

// clearMask writes zeros to the gradient of a mask. Indices count as constants, as in SegNet's layer. The mask of a Pooling layer with
// weights before it is asked for a gradient in every training net of this kind.
func clearMask(d *layers.Device, mask *blob.Blob) {
	if d.Machine.Values() {
		clear(mask.Diff())
	}
}

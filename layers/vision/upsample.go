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
		Bottoms: layers.Between(1, 2), Tops: layers.Exactly(1), NoForceBackward: []int{1},
	})
	layers.Register(layers.Type{
		Name: "Unpooling", Doc: "puts values where a Pooling layer's second top says, or at the corners of windows",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &unpooling{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Between(1, 2), Tops: layers.Exactly(1), NoForceBackward: []int{1},
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
		return l.repeat.reshape(&l.Base, n*c, h, w, l.scale[0])
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
		return errMaskGradient
	}
	switch {
	case !propagateDown[0]:
		return nil
	case len(bottom) == 1:
		return l.repeat.backward(bottom[0].Diff(), top[0].Diff())
	}
	return l.scatter.Take(bottom[0].Diff(), top[0].Diff(), bottom[1].Data())
}

var errMaskGradient = errors.New("the layer has no gradient for the indices (bottom 1)")

// unpooling is the Unpooling layer of DeconvNet (Noh et al. 2015) with unpool: MAX. Values go to the indices in the second bottom, or without
// it to the first pixels of the windows.
type unpooling struct {
	layers.Base
	size    [2]int
	stride  [2]int
	scatter part.Scatter
	corners *blob.Blob // the indices of the first pixels of windows, for every plane
}

func (l *unpooling) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetUnpoolingParam()
	if m := p.GetUnpool(); m != caffepb.UnpoolingParameter_MAX {
		return fmt.Errorf("unpool: %v is not supported, only MAX is", m)
	}
	for _, pad := range []uint32{p.GetPad(), p.GetPadH(), p.GetPadW()} {
		if pad != 0 {
			return fmt.Errorf("only zero padding is allowed, pad is %d", pad)
		}
	}
	if p == nil {
		return errors.New("unpooling_param with a kernel and unpool_size is needed")
	}
	kh, kw, err := pair("kernel", p.KernelSize, p.KernelH, p.KernelW, 0)
	if err == nil {
		l.stride[0], l.stride[1], err = pair("stride", p.Stride, p.StrideH, p.StrideW, 1)
	}
	if err == nil {
		l.size[0], l.size[1], err = pair("unpool", p.UnpoolSize, p.UnpoolH, p.UnpoolW, 0)
	}
	switch {
	case err != nil:
		return err
	case kh < 1 || kw < 1:
		return fmt.Errorf("filter dimensions must be positive, they are %d x %d", kh, kw)
	case l.size[0] < 1 || l.size[1] < 1:
		return fmt.Errorf("unpool_size, or unpool_h and unpool_w, must be positive, they are %d x %d", l.size[0], l.size[1])
	case l.stride[0] < 1 || l.stride[1] < 1:
		return fmt.Errorf("stride must be positive, it is %d x %d", l.stride[0], l.stride[1])
	}
	if len(bottom) == 1 {
		l.corners = l.Device.NewBlob(0)
	}
	return nil
}

func (l *unpooling) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	if len(bottom) > 1 {
		if err := part.CheckSameShape(bottom); err != nil {
			return err
		}
	}
	planes, h, w := bottom[0].CountRange(0, 2), bottom[0].Dim(2), bottom[0].Dim(3)
	top[0].Reshape(bottom[0].Dim(0), bottom[0].Dim(1), l.size[0], l.size[1])
	l.scatter.Reshape(&l.Base, planes, h*w, l.size[0]*l.size[1])
	if l.corners == nil || part.SameShape(l.corners, bottom[0]) {
		return nil
	}
	l.corners.ReshapeLike(bottom[0])
	if l.Device.Machine.Values() {
		at := l.corners.Data()
		for i := range at {
			y, x := min(i/w%h*l.stride[0], l.size[0]-1), min(i%w*l.stride[1], l.size[1]-1)
			at[i] = float32(y*l.size[1] + x)
		}
	}
	return nil
}

// places returns the indices.
func (l *unpooling) places(bottom []*blob.Blob) []float32 {
	if l.corners != nil {
		return l.corners.Data()
	}
	return bottom[1].Data()
}

func (l *unpooling) Forward(bottom, top []*blob.Blob) error {
	return l.scatter.Put(top[0].Data(), bottom[0].Data(), l.places(bottom))
}

// Traits implements Planned. Backward needs the indices.
func (l *unpooling) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottomsBut(1), Tops: true}}
}

func (l *unpooling) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if len(bottom) > 1 && propagateDown[1] {
		return errMaskGradient
	}
	if !propagateDown[0] {
		return nil
	}
	return l.scatter.Take(bottom[0].Diff(), top[0].Diff(), l.places(bottom))
}

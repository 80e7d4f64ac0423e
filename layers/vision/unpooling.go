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
		Name: "Unpooling", Doc: "puts values where a Pooling layer's second top says, at the corners of windows, or into whole windows",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &unpooling{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Between(1, 2), Tops: layers.Exactly(1), NoForceBackward: []int{1}, ZeroGradient: true,
	})
}

// unpooling is the Unpooling layer of DeconvNet (Noh et al. 2015). With unpool: MAX, values go to the indices in the second bottom, or without
// it to the first pixels of the windows. With AVE or TILE a value goes to all pixels of its window, AVE divides it by their number, and pixels
// of several windows get the sum. A second bottom is not read then.
type unpooling struct {
	layers.Base
	size    [2]int
	stride  [2]int
	windows *unpoolRanges // of AVE and TILE
	scatter part.Scatter
	corners *blob.Blob // the indices of the first pixels of windows, for every plane
}

func (l *unpooling) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetUnpoolingParam()
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
	switch m := p.GetUnpool(); {
	case m != caffepb.UnpoolingParameter_MAX:
		l.windows = &unpoolRanges{out: l.size, kernel: [2]int{kh, kw}, stride: l.stride, average: m == caffepb.UnpoolingParameter_AVE}
	case len(bottom) == 1:
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
	if l.windows != nil {
		l.windows.reshape(&l.Base, planes, h, w)
		return nil
	}
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
	if l.windows != nil {
		return l.windows.forward(top[0].Data(), bottom[0].Data())
	}
	return l.scatter.Put(top[0].Data(), bottom[0].Data(), l.places(bottom))
}

// Traits implements Planned. Backward needs the indices.
func (l *unpooling) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottomsBut(1), Tops: true}}
}

func (l *unpooling) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if len(bottom) > 1 && propagateDown[1] {
		clearMask(l.Device, bottom[1])
	}
	if !propagateDown[0] {
		return nil
	}
	if l.windows != nil {
		return l.windows.backward(bottom[0].Diff(), top[0].Diff())
	}
	return l.scatter.Take(bottom[0].Diff(), top[0].Diff(), l.places(bottom))
}

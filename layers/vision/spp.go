package vision

import (
	"fmt"
	"math/bits"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/layers/utility"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func init() {
	layers.Register(layers.Type{
		Name: "SPP", Doc: "pools into 1 x 1, 2 x 2, 4 x 4, ... windows per image, all levels in one vector",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &spp{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// spp is Caffe's SPP layer, spatial pyramid pooling (He et al. 2014). It consists of Split, Pooling and Concat layers, which supply both
// paths. Level i pools windows of ceil(size/2^i), padded on both sides, to 2^i x 2^i values.
type spp struct {
	layers.Base
	height, h, w int

	split   layers.Layer
	pools   []*pooling
	concat  layers.Layer
	inputs  []*blob.Blob // the bottom, one view per level
	pooled  []*blob.Blob
	vectors []*blob.Blob // pooled values, as N x values
	all     []bool
}

func (l *spp) SetUp(bottom, _ []*blob.Blob) error {
	l.height = int(l.Param.GetSppParam().GetPyramidHeight())
	if l.height < 1 {
		return fmt.Errorf("pyramid_height must be positive, it is %d", l.height)
	}
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	h, w := bottom[0].Dim(2), bottom[0].Dim(3)
	if fine := bits.Len(uint(max(1, min(h, w)))); l.height > fine {
		return fmt.Errorf("pyramid_height %d: level %d has 2^%d windows a side, too many for %d x %d images", l.height, fine, fine, h, w)
	}
	for range l.height {
		l.inputs = append(l.inputs, l.Device.NewBlob(bottom[0].Shape()...))
		l.pooled, l.vectors = append(l.pooled, l.Device.NewBlob(0)), append(l.vectors, l.Device.NewBlob(0))
		l.all = append(l.all, true)
	}
	l.split, l.concat = utility.NewSplit(l.Base), utility.NewConcat(l.Base, 1)
	return nil
}

// level makes the pooling layer of level i.
func (l *spp) level(i int) (*pooling, error) {
	bins := 1 << i
	window := func(size int) (kernel, pad *uint32) {
		k := (size + bins - 1) / bins
		return proto.Uint32(uint32(k)), proto.Uint32(uint32((k*bins - size + 1) / 2))
	}
	p := &caffepb.PoolingParameter{Pool: caffepb.PoolingParameter_PoolMethod(l.Param.GetSppParam().GetPool()).Enum()}
	p.KernelH, p.PadH = window(l.h)
	p.KernelW, p.PadW = window(l.w)
	p.StrideH, p.StrideW = p.KernelH, p.KernelW
	pool := &pooling{Base: layers.Base{Param: &caffepb.LayerParameter{Phase: l.Param.Phase, PoolingParam: p}, Device: l.Device}}
	if err := pool.SetUp(l.inputs[i:i+1], l.pooled[i:i+1]); err != nil {
		return nil, fmt.Errorf("level %d of %d x %d images: %w", i, l.h, l.w, err)
	}
	return pool, nil
}

func (l *spp) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	if h, w := bottom[0].Dim(2), bottom[0].Dim(3); h != l.h || w != l.w {
		l.h, l.w, l.pools = h, w, nil
		for i := range l.height {
			pool, err := l.level(i)
			if err != nil {
				return err
			}
			l.pools = append(l.pools, pool)
		}
	}
	if l.height == 1 {
		return l.pools[0].Reshape(bottom, top)
	}
	if err := l.split.Reshape(bottom, l.inputs); err != nil {
		return err
	}
	for i, pool := range l.pools {
		if err := pool.Reshape(l.inputs[i:i+1], l.pooled[i:i+1]); err != nil {
			return fmt.Errorf("level %d: %w", i, err)
		}
		flat := [2]int{bottom[0].Dim(0), l.pooled[i].CountFrom(1)}
		l.vectors[i].Reshape(flat[:]...)
		l.vectors[i].ShareData(l.pooled[i])
		l.vectors[i].ShareDiff(l.pooled[i])
	}
	return l.concat.Reshape(l.vectors, top)
}

func (l *spp) Forward(bottom, top []*blob.Blob) error {
	if l.height == 1 {
		return l.pools[0].Forward(bottom, top)
	}
	for i, pool := range l.pools {
		if err := pool.Forward(l.inputs[i:i+1], l.pooled[i:i+1]); err != nil {
			return err
		}
	}
	return l.concat.Forward(l.vectors, top)
}

// Traits implements Planned. It combines the traits of Pooling, Concat and Split.
func (l *spp) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.ReadsNothing}
	for _, pool := range l.pools {
		t.Keeps = append(t.Keeps, pool.Traits().Keeps...)
	}
	return t
}

func (l *spp) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	if l.height == 1 {
		return l.pools[0].Backward(top, propagateDown, bottom)
	}
	if err := l.concat.Backward(top, l.all, l.vectors); err != nil {
		return err
	}
	for i, pool := range l.pools {
		if err := pool.Backward(l.pooled[i:i+1], l.all[:1], l.inputs[i:i+1]); err != nil {
			return err
		}
	}
	return l.split.Backward(l.inputs, propagateDown, bottom)
}

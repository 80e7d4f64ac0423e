package utility

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Tile", Doc: "the bottom, repeated along an axis",
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 { return p.GetTileParam().GetAxis() }, "repeats the batch"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &repeat{Base: layers.Base{Param: p, Device: d}, tiles: int(p.GetTileParam().GetTiles())}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// repeat is Caffe's Tile layer. It repeats the contents from axis on tiles times; the gradients of the copies add up.
type repeat struct {
	layers.Base
	tiles int
	shape []int
	dims  [3]int // outer x tiles x inner of the top

	spread *stream.Copy
	sum    *stream.Kernel
	ins    [1][]float32
	outs   [1][]float32
}

func (l *repeat) SetUp(_, _ []*blob.Blob) error {
	if l.tiles < 1 {
		return fmt.Errorf("number of tiles must be positive, it is %d", l.tiles)
	}
	return nil
}

func (l *repeat) Reshape(bottom, top []*blob.Blob) error {
	axis, err := part.AxisOf(bottom[0], int(l.Param.GetTileParam().GetAxis()))
	if err != nil {
		return err
	}
	l.shape = append(l.shape[:0], bottom[0].Shape()...)
	l.shape[axis] *= l.tiles
	top[0].Reshape(l.shape...)
	dims := [3]int{bottom[0].CountRange(0, axis), l.tiles, bottom[0].CountFrom(axis)}
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	if l.MPE() {
		return nil
	}
	l.spread, err = stream.NewCopy(l.Device.Machine, stream.CopyShape{
		Outer: dims[0], Rows: l.tiles, Cols: dims[2], SrcOuter: dims[2], DstOuter: l.tiles * dims[2], DstRow: dims[2],
	})
	if err != nil {
		return err
	}
	l.sum, err = stream.New(l.Device.Machine, stream.Pass{
		Name: "Tile gradient", Dims: dims, Ins: part.Arrays(1), Outs: part.Arrays(0, stream.Plane),
		Cost: stream.Work{Flops: 1}, Op: sumMids,
	})
	return err
}

// sumMids sums a Full array over the middle axis into a Plane.
func sumMids(t *stream.Tile) {
	for o := range t.O {
		dst := t.Out[0][o*t.PStride:][:t.I]
		copy(dst, t.In[0][o*t.OStride:])
		for m := 1; m < t.M; m++ {
			vec.Add(dst, dst, t.In[0][o*t.OStride+m*t.MStride:])
		}
	}
}

func (l *repeat) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if !l.MPE() {
		return l.spread.Run(y, x)
	}
	inner := l.dims[2]
	for i := range y {
		y[i] = x[i/(l.tiles*inner)*inner+i%inner]
	}
	return nil
}

// Traits implements Planned. Backward adds up gradients.
func (l *repeat) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *repeat) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	dy, dx := top[0].Diff(), bottom[0].Diff()
	if !l.MPE() {
		l.ins[0], l.outs[0] = dy, dx
		return l.sum.Run(l.ins[:], l.outs[:])
	}
	inner := l.dims[2]
	for i := range dx {
		var sum float64
		for k := range l.tiles {
			sum += float64(dy[(i/inner*l.tiles+k)*inner+i%inner])
		}
		dx[i] = float32(sum)
	}
	return nil
}

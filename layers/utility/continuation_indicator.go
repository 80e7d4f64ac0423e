package utility

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "ContinuationIndicator", Doc: "time_step x batch_size values, 0 in the first time step and 1 in the others",
		Couples: layers.OverTime,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &continuationIndicator{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// continuationIndicator is the ContinuationIndicator layer of WarpCTC's fork: the second bottom of a recurrent layer whose sequences all begin
// with the batch. Workers that split batches get the sequences of their part.
type continuationIndicator struct {
	layers.Base
	steps, batch int
}

func (l *continuationIndicator) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetContinuationIndicatorParam()
	l.steps, l.batch = int(p.GetTimeStep()), int(p.GetBatchSize())
	if l.steps < 1 || l.batch < 1 {
		return fmt.Errorf("time_step and batch_size must be positive, they are %d and %d", l.steps, l.batch)
	}
	window, err := l.Device.Share.Window(l.batch)
	if err != nil {
		return err
	}
	l.batch = window.Count
	return l.Device.CheckShape("the top", []int{l.steps, l.batch})
}

func (l *continuationIndicator) Reshape(_, top []*blob.Blob) error {
	top[0].Reshape(l.steps, l.batch)
	return nil
}

func (l *continuationIndicator) Forward(_, top []*blob.Blob) error {
	y := top[0].Data()
	clear(y[:l.batch])
	vec.Fill(y[l.batch:], 1)
	return nil
}

func (l *continuationIndicator) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

package utility

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Silence", Doc: "reads bottoms, so that they are no outputs of the net",
		Params: []string{},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &silence{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.AtLeast(1), Tops: layers.Exactly(0),
	})
}

// silence is Caffe's Silence layer. The gradients of its bottoms are zero.
type silence struct{ layers.Base }

func (l *silence) SetUp(_, _ []*blob.Blob) error   { return nil }
func (l *silence) Reshape(_, _ []*blob.Blob) error { return nil }
func (l *silence) Forward(_, _ []*blob.Blob) error { return nil }

// Traits implements Planned. The gradients are zeros.
func (l *silence) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *silence) Backward(_ []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	for i, b := range bottom {
		if propagateDown[i] {
			b.ZeroDiff()
		}
	}
	return nil
}

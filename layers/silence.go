package layers

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "Silence", Doc: "takes bottoms and prints nothing of them",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &silence{Base: Base{Param: p, Device: d}}
		},
		Bottoms: AtLeast(1), Tops: Exactly(0),
	})
}

// silence is Caffe's Silence layer; the gradients of its bottoms are zero.
type silence struct{ Base }

func (l *silence) SetUp(_, _ []*blob.Blob) error   { return nil }
func (l *silence) Reshape(_, _ []*blob.Blob) error { return nil }
func (l *silence) Forward(_, _ []*blob.Blob) error { return nil }

// Traits implements Planned: gradients are zeros.
func (l *silence) Traits() Traits { return Traits{Unread: unread} }

func (l *silence) Backward(_ []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	for i, b := range bottom {
		if propagateDown[i] {
			b.ZeroDiff()
		}
	}
	return nil
}

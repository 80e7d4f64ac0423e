package vision

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/norm"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// lrnPooled is LRN across channels fused with pooling, a band of rows at a time (norm.Pooled).
type lrnPooled struct {
	*norm.Pooled
	lrn *lrnAcross
}

func init() {
	layers.RegisterFusion(layers.Fusion{Name: "lrn-pool", Fuse: func(first, second layers.Layer) layers.Layer {
		l, ok := first.(*lrnAcross)
		if !ok {
			return nil
		}
		return fusePooled(&l.Base, l, second)
	}})
}

func (l *lrnAcross) poolKernel(s pool.Shape) (pooledKernel, error) {
	k, err := norm.NewPooled(l.Device.Machine, l.near(), s)
	if k == nil || err != nil {
		return nil, err
	}
	return &lrnPooled{k, l}, nil
}

func (l *lrnAcross) madeFor() any                              { return nil }
func (l *lrnAcross) poolLayout(in layers.Layout) layers.Layout { return in }
func (l *lrnAcross) arrangedIn() bool                          { return l.blocked }
func (l *lrnAcross) poolsWithReLUGrad() bool                   { return l.Blockable() }
func (l *lrnAcross) trains() bool                              { return false }

func (k *lrnPooled) blocking(bool) layers.Blocking { return layers.Blocking{Bottoms: true, Tops: true} }
func (k *lrnPooled) passesGrads() bool             { return true }

func (k *lrnPooled) algorithm(d shape.Direction, _ bool) shape.Algorithm {
	if d == shape.WeightGradient {
		return ""
	}
	return k.Algorithm()
}

func (k *lrnPooled) forward(x, y []float32, mask []int32) error { return k.Forward(x, y, mask) }

func (k *lrnPooled) backward(top, bottom *blob.Blob, mask []int32, _ bool) error {
	return k.Backward(bottom.Data(), top.Diff(), mask, bottom.Diff(), k.lrn.relu)
}

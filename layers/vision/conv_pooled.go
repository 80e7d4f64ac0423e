package vision

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// convPooled is a convolution fused with pooling (conv.Pooled). Some gradients sum in another order than in the separate layers: bias
// gradients if the weights are not trained, and weight gradients that are summed over the inputs of the selected maxima.
type convPooled struct {
	*plan.Pooled
	conv *convolution
}

func init() {
	layers.RegisterFusion(layers.Fusion{Name: "conv-pool", Fuse: func(first, second layers.Layer) layers.Layer {
		l, ok := first.(*convolution)
		if !ok || l.transposed || l.scales != nil || l.conv == nil || len(l.topShape) != 4 {
			return nil
		}
		return fusePooled(&l.Base, l, second)
	}})
}

func (l *convolution) poolKernel(s pool.Shape) (pooledKernel, error) {
	k, err := l.conv.Pooled(s)
	if k == nil || err != nil {
		return nil, err
	}
	return &convPooled{k, l}, nil
}

func (l *convolution) madeFor() any                             { return l.conv }
func (l *convolution) poolLayout(_ layers.Layout) layers.Layout { return layers.Layout{} }
func (l *convolution) arrangedIn() bool                         { return l.blocked[0] }
func (l *convolution) poolsWithReLUGrad() bool                  { return false }
func (l *convolution) trains() bool                             { return l.ParamGrad(0) || l.ParamGrad(1) }

func (k *convPooled) blocking(canPool bool) layers.Blocking {
	in, out := k.Blocks()
	return layers.Blocking{Bottoms: in, Tops: canPool, Gains: in || out}
}

func (k *convPooled) passesGrads() bool { return k.PassesGrads() }

func (k *convPooled) algorithm(d shape.Direction, joint bool) shape.Algorithm {
	switch {
	case d == shape.InputGradient && !k.PassesGrads():
		return ""
	case joint && d != shape.Forward:
		return k.GradsAlgorithm()
	}
	return k.Algorithm(d)
}

func (k *convPooled) forward(x, y []float32, mask []int32) error {
	w, bias, _, err := k.conv.operands(nil)
	defer k.conv.fixed.Settle(nil)
	if err != nil {
		return err
	}
	return k.Forward(x, w, bias, y, mask)
}

func (k *convPooled) backward(top, bottom *blob.Blob, mask []int32, propagate bool) error {
	params := k.conv.Weights
	g := conv.Arrays{X: bottom.Data(), W: params[0].Data(), DY: top.Diff()}
	if k.conv.ParamGrad(0) {
		g.DW, g.Add = params[0].Gradient()
	}
	if k.conv.ParamGrad(1) {
		g.DB = params[1].Diff()
	}
	if propagate {
		g.DX = bottom.Diff()
	}
	return k.Grads(&g, mask)
}

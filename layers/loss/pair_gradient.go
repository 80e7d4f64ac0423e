package loss

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers/part"
)

// pairGradient is the Backward of losses of the difference of two bottoms, divided by a number, in most losses that of items: the gradient of
// bottom 0 is the derivative of the sum by bottom 0 times the top's gradient / divisor, that of bottom 1 its negative.
type pairGradient struct {
	scale *stream.Kernel
	alpha float32
	in    [1][]float32
	out   [1][]float32
}

// pass returns the gradient's pass over n values, from which scale is made.
func (g *pairGradient) pass(name string, n int) stream.Pass {
	return stream.Pass{
		Name: name, Dims: [3]int{1, 1, n}, Ins: part.Arrays(1), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) { vec.Scale(t.Out[0][:t.I], t.In[0], g.alpha) },
	}
}

// backward computes the gradients from the derivative of the sum by bottom 0.
func (g *pairGradient) backward(mpe bool, derivative []float32, divisor float32, top *blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	for i, sign := range []float32{1, -1} {
		if !propagateDown[i] {
			continue
		}
		g.alpha = sign * top.Diff()[0] / divisor
		dx := bottom[i].Diff()
		if mpe {
			for k, d := range derivative {
				dx[k] = g.alpha * d
			}
			continue
		}
		g.in[0], g.out[0] = derivative, dx
		if err := g.scale.Run(g.in[:], g.out[:]); err != nil {
			return err
		}
	}
	return nil
}

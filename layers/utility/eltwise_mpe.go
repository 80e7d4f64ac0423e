package utility

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func (l *eltwise) forwardMPE(xs [][]float32, y []float32) {
	if l.op == caffepb.EltwiseParameter_MAX {
		maximum(y, l.winner.Data(), xs, 0)
		return
	}
	for i := range y {
		sum, product := 0.0, 1.0
		for k, x := range xs {
			sum += float64(l.coeff[k]) * float64(x[i])
			product *= float64(x[i])
		}
		y[i] = float32(sum)
		if l.op == caffepb.EltwiseParameter_PROD {
			y[i] = float32(product)
		}
	}
}

// gradMPE computes the gradient of bottom target.
func (l *eltwise) gradMPE(target int, dy, y []float32, bottom []*blob.Blob) {
	dx, winner := bottom[target].Diff(), l.winner.Data()
	for i, g := range dy {
		switch {
		case l.op == caffepb.EltwiseParameter_SUM:
			dx[i] = l.coeff[target] * g
		case l.op == caffepb.EltwiseParameter_MAX:
			dx[i] = 0
			if int(winner[i]) == target {
				dx[i] = g
			}
		case l.stable:
			product := float64(g)
			for k, b := range bottom {
				if k != target {
					product *= float64(b.Data()[i])
				}
			}
			dx[i] = float32(product)
		default:
			dx[i] = y[i] / bottom[target].Data()[i] * g
		}
	}
}

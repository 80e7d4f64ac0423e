package pool

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

func TestPoolCostOnly(t *testing.T) {
	for _, s := range poolShapes {
		kerneltest.ChargesTheSame(t, "pool", func(m *cpe.Machine) error { return chargePool(m, s) })
	}
}

// chargePool pools forward and backward.
func chargePool(m *cpe.Machine, s Shape) error {
	p, err := New(m, s)
	if err != nil {
		return err
	}
	x, y := kerneltest.Array(m, s.N*s.C*s.H*s.W), kerneltest.Array(m, s.N*s.C*s.OH*s.OW)
	var mask []int32
	if m.Values() {
		mask = make([]int32, len(y))
	}
	if err := p.Forward(x, y, mask, 0); err != nil {
		return err
	}
	return p.Backward(y, mask, x)
}

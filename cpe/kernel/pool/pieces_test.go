package pool

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestPieces: pooling has the same bits where windows pass through LDM in pieces as where they fit, for all methods, and takes no more LDM
// than there is.
func TestPieces(t *testing.T) {
	machine := func(bytes int) *cpe.Machine {
		spec := kerneltest.Machine(t, "sw26010", false).Spec()
		spec.LDMBytes = bytes
		m, err := cpe.New(spec, cpe.Functional)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	large, small := machine(4<<20), []*cpe.Machine{machine(80), machine(128)}
	forward, backward := 0, 0
	for _, s := range racing.Few(poolShapes[:15]) {
		for _, way := range []Shape{{Method: Max}, {Method: Max, ReLU: true}, {Method: Ave}, {Method: Stochastic, Train: true}, {Method: Stochastic}} {
			s.Method, s.ReLU, s.Train = way.Method, way.ReLU, way.Train
			wantY, wantMask, wantDx, _ := poolOn(t, large, s)
			for _, m := range small {
				y, mask, dx, p := poolOn(t, m, s)
				if !slices.Equal(bits(y), bits(wantY)) || !slices.Equal(mask, wantMask) || !slices.Equal(bits(dx), bits(wantDx)) {
					t.Errorf("%v: other bits with %d bytes of LDM", pooled(s), m.Spec().LDMBytes)
				}
				if peak := m.Ledger().LDMPeak; peak > m.Spec().LDMBytes {
					t.Errorf("%v: %d bytes of LDM taken", pooled(s), peak)
				}
				if p.Algorithm(0) == ByPieces {
					forward++
				}
				if p.plan.BackPiece != (piece{}) {
					backward++
				}
				kerneltest.ChargesTheSameOn(t, m.Spec(), fmt.Sprint(pooled(s)), func(m *cpe.Machine) error { return chargePool(m, s) })
			}
		}
	}
	if !racing.Detector && (forward < 50 || backward < 25) {
		t.Errorf("%d poolings in pieces forward and %d backward: the shapes test nothing", forward, backward)
	}
}

// poolOn pools values with ties, and spreads a gradient, of a mean or of a masked method.
func poolOn(t *testing.T, m *cpe.Machine, s Shape) (y []float32, mask []int32, dx []float32, p *Kernel) {
	t.Helper()
	p, err := New(m, s)
	if err != nil {
		t.Fatal(err)
	}
	out := s.N * s.C * s.OH * s.OW
	x, dy := kerneltest.Values(s.N*s.C*s.H*s.W, 1), kerneltest.Values(out, 2)
	for i := range x {
		x[i] = float32(int((x[i]+1)*16)) / 16
	}
	y, mask, dx = make([]float32, out), make([]int32, out), make([]float32, len(x))
	if err := p.Forward(x, y, mask, 9); err != nil {
		t.Fatal(err)
	}
	if s.Masked() || s.Method == Ave {
		if err := p.Backward(dy, mask, dx); err != nil {
			t.Fatal(err)
		}
	}
	return y, mask, dx, p
}

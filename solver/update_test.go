package solver

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// TestUpdateOfManyTiles: a weight that is cut into many tiles, on several core groups, moves as the reference path moves
// it: every element once, whatever its tile.
func TestUpdateOfManyTiles(t *testing.T) {
	for _, machine := range []string{"host", "sw26010"} {
		spec, err := cpe.Load(machine)
		if err != nil {
			t.Fatal(err)
		}
		m, err := cpe.New(spec, cpe.DefaultMode(spec))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for name, r := range rules {
			const n = 300_007
			cpeWay := newWeight(t, r, n, &layers.Device{Engine: layers.CPE, Machine: m})
			mpeWay := newWeight(t, r, n, nil)
			cpeUpdater, mpeUpdater := &updater{rule: r, engine: layers.CPE}, &updater{rule: r, engine: layers.MPE}
			rng := rand.New(rand.NewPCG(1, 2))
			for range 3 {
				for i := range n {
					g := float32(rng.NormFloat64())
					cpeWay.weight.Blob.Diff()[i], mpeWay.weight.Blob.Diff()[i] = g, g
				}
				if err := cpeUpdater.update(cpeWay); err != nil {
					t.Fatal(err)
				}
				if err := mpeUpdater.update(mpeWay); err != nil {
					t.Fatal(err)
				}
			}
			want := mpeWay.weight.Blob.Data()
			for i, got := range cpeWay.weight.Blob.Data() {
				if math.Abs(float64(got-want[i])) > 1e-5*(1+math.Abs(float64(want[i]))) {
					t.Fatalf("%s on %s: weight %d of %d is %g, want %g", name, machine, i, n, got, want[i])
				}
			}
		}
	}
}

// newWeight makes a weight of n values with its histories, and its kernel if there is a device for it.
func newWeight(t *testing.T, r rule, n int, d *layers.Device) *weightUpdate {
	t.Helper()
	w := &weightUpdate{weight: swnet.Learnable{Blob: blob.New(n)}, scale: 0.5, l2: 0.01}
	w.c = coefficients{rate: 0.1, momentum: 0.9, beta2: 0.99, delta: 1e-3, correct: 0.7}
	for i := range n {
		w.weight.Blob.Data()[i] = float32(i%7) - 3
	}
	for range r.histories {
		w.histories = append(w.histories, blob.New(n))
	}
	if d != nil {
		if err := w.makeKernel(r, d); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

package commtest

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/topology"
)

// TestPieces: ranks that share memory sum long arrays piece by piece. The sums are those of the probe values, and for values whose
// sums are rounded they have the bits of the transport in virtual time, which sends segments whole.
func TestPieces(t *testing.T) {
	const n = 200_003 // more than one piece for each of 3 segments, and not divided by any number of ranks
	spec := small(t)
	for _, p := range []int{2, 3} {
		l, err := topology.NewLayout(spec, p, topology.Block)
		if err != nil {
			t.Fatal(err)
		}
		for _, algorithm := range topology.Fixed() {
			t.Run(fmt.Sprintf("%s/%d", algorithm, p), func(t *testing.T) {
				var whole, pieces []float32
				sim := topology.NewSim(spec, l)
				if err := sim.Run(func(r *topology.SimRank) error { return roundedSum(r, l, algorithm, n, &whole) }); err != nil {
					t.Fatal(err)
				}
				err := topology.NewLocal(p).Run(func(tr topology.Transport) error {
					if err := AllReduce(tr, l, algorithm, n); err != nil {
						return err
					}
					return roundedSum(tr, l, algorithm, n, &pieces)
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range whole {
					if math.Float32bits(whole[i]) != math.Float32bits(pieces[i]) {
						t.Fatalf("value %d is %g by whole segments and %g by pieces", i, whole[i], pieces[i])
					}
				}
			})
		}
	}
}

// roundedSum sums values whose sums are not exact; the last rank's result is kept.
func roundedSum(t topology.Transport, l topology.Layout, algorithm string, n int, result *[]float32) error {
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i%1013*(t.Rank()+3)) * 0.1
	}
	err := topology.NewAllReduce(t, topology.NewSchedule(algorithm, l, n)).Run(data)
	if t.Rank() == t.Size()-1 {
		*result = data
	}
	return err
}

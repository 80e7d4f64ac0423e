package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// onMachines runs a test on the host and functionally on the SW26010.
func onMachines(t *testing.T, test func(t *testing.T, m *cpe.Machine)) {
	for _, name := range []string{"host", "sw26010"} {
		t.Run(name, func(t *testing.T) { test(t, machine(t, name, false)) })
	}
}

func machine(t testing.TB, name string, costOnly bool) *cpe.Machine {
	t.Helper()
	spec, err := cpe.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	mode := cpe.DefaultMode(spec)
	if costOnly {
		mode = cpe.CostOnly
	}
	m, err := cpe.New(spec, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// published is the SW26010 with a published program.
func published(t testing.TB, software string) cpe.Spec {
	t.Helper()
	spec, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.WithSoftware(software); err != nil {
		t.Fatal(err)
	}
	return spec
}

// values are n seeded values in [-1, 1).
func values(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}

// near fails where got differs from want, computed in float64, by more than the rounding of a float32 sum of terms
// products of values up to 1: its error grows like the square root of the number of terms, times the size of the partial
// sums, which does too, times half a unit in the last place, 6e-8; 8 is for safety. A value that is not finite fails.
func near(t *testing.T, what string, got []float32, want []float64, terms int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	tolerance := 1e-6 + 8*6e-8*math.Sqrt(float64(terms))
	for i := range got {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= tolerance*(1+math.Abs(want[i]))) {
			t.Fatalf("%s[%d] = %g, want %g (tolerance %g)", what, i, got[i], want[i], tolerance)
		}
	}
}

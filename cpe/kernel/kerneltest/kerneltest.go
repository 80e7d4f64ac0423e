// Package kerneltest helps the tests of the packages of kernels: machines with certain core groups and caches, seeded values, comparisons
// with a tolerance and bit by bit, ledgers, and golden files of plans.
package kerneltest

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// OnMachines runs a test on the host and functionally on the SW26010.
func OnMachines(t *testing.T, test func(t *testing.T, m *cpe.Machine)) {
	for _, name := range []string{"host", "sw26010"} {
		t.Run(name, func(t *testing.T) { test(t, Machine(t, name, false)) })
	}
}

// Machine returns the machine of a name, in its usual mode or one that counts costs alone.
func Machine(t testing.TB, name string, costOnly bool) *cpe.Machine {
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

// Published is the SW26010 with a published program.
func Published(t testing.TB, software string) cpe.Spec {
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

// Values are n seeded values in [-1, 1).
func Values(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}

// Near fails where got differs from want, computed in float64, by more than the rounding of a float32 sum of terms
// products of values up to 1: its error grows like the square root of the number of terms, times the size of the partial
// sums, which does too, times half a unit in the last place, 6e-8; 8 is for safety. A value that is not finite fails.
func Near(t *testing.T, what string, got []float32, want []float64, terms int) {
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

// Report gives a benchmark's speed.
func Report(b *testing.B, flops float64) {
	b.ReportMetric(float64(b.N)*flops/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// SameBits fails where values differ, of which all NaN are one.
func SameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, v := range want {
		if g := got[i]; math.Float32bits(g) != math.Float32bits(v) && (g == g || v == v) {
			t.Fatalf("%s: value %d is %g, one by one %g", what, i, g, v)
		}
	}
}

// IsLDM reports whether an error says that LDM is too small.
func IsLDM(err error) bool {
	_, ok := errors.AsType[*cpe.LDMError](err)
	return ok
}

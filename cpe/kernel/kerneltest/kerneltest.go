// Package kerneltest helps to test kernels. It makes machines with chosen core groups and caches, and seeded values. It compares results with
// a tolerance or bit by bit, compares ledgers, and compares plans with golden files.
package kerneltest

import (
	"errors"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// OnMachines runs a test on the host and functionally on the SW26010.
func OnMachines(t *testing.T, test func(t *testing.T, m *cpe.Machine)) {
	for _, name := range []string{"host", "sw26010"} {
		t.Run(name, func(t *testing.T) { test(t, Machine(t, name, false)) })
	}
}

// Machine returns a machine by its name, in its usual mode or in cost-only mode.
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

// Published describes the SW26010 with the kernels of a published program.
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

// Near compares float32 sums of a number of terms, products of values up to 1, with their values in float64. The tolerance is 8 times the
// expected rounding error: the square root of the number of terms, times half a unit in the last place, 6e-8. Values that are not finite fail.
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

// Report adds GFLOP/s to a benchmark's results.
func Report(b *testing.B, flops float64) {
	b.ReportMetric(float64(b.N)*flops/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// SameBits compares values bit by bit. All NaN count as equal.
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

package convtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// WinogradErrors holds the tolerances of Winograd's convolution, in standard deviations of a sum of products of values of unit variance.
var WinogradErrors = map[shape.Strategy]float64{shape.Winograd2: 2e-5, shape.Winograd4: 2e-4, shape.Winograd5: 2e-4}

// EachWinograd calls f for the strategies of Winograd that can compute a shape.
func EachWinograd(s shape.Conv, f func(st shape.Strategy)) {
	for _, st := range winograd.Strategies {
		if winograd.Has(&s, st) {
			f(st)
		}
	}
}

// Long reports whether short tests leave out a shape with many weights, which takes seconds in plain Go or with the race detector.
func Long(s shape.Conv) bool { return testing.Short() && s.C*s.Out > 1<<16 }

// normal are the values of Normal.
var normal = kerneltest.NewDraws(2, func(r *rand.Rand) float32 { return float32(r.NormFloat64()) })

// Normal returns n seeded values of unit variance.
func Normal(n int, seed uint64) []float32 { return normal.First(n, seed) }

// RelativeError returns the largest difference between sums of a number of terms, in standard deviations of such a sum.
func RelativeError(got []float32, want []float64, terms int) float64 {
	worst := 0.0
	for i, v := range got {
		if d := math.Abs(float64(v) - want[i]); !(d <= worst) {
			worst = d
		}
	}
	return worst / math.Sqrt(float64(max(1, terms)))
}

func CompareWinograd(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy, want *Case) {
	c, err := plan.New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	if got := StrategiesOf(c); got != [3]shape.Strategy{st, st, st} {
		t.Fatalf("strategies %v", got)
	}
	CheckWinograd(t, m, s, st, c, want)
}

// CheckWinograd runs a convolution twice and compares the results of both runs with the expected ones.
func CheckWinograd(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy, c runner, want *Case) {
	t.Helper()
	check := func(what string, got []float32, want []float64, terms int) {
		if e := RelativeError(got, want, terms); !(e < WinogradErrors[st]) {
			t.Errorf("%s: relative error %.2g, want less than %g", what, e, WinogradErrors[st])
		}
	}
	y, dx := want.Run(t, c)
	again, dxAgain := want.Run(t, c)
	if !slices.Equal(y, again) || !slices.Equal(dx, dxAgain) {
		t.Error("a second run differs")
	}
	dw := slices.Clone(want.DW)
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: dw, Add: true}); err != nil {
		t.Fatal(err)
	}
	dwAgain := slices.Clone(want.DW)
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: dwAgain, Add: true}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(dw, dwAgain) {
		t.Error("a second weight gradient differs")
	}
	if m.Native() {
		db := slices.Clone(want.Bias)
		if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: dwAgain, DB: db}); err != nil {
			t.Fatal(err)
		}
		kerneltest.Near(t, "db", db, want.BiasGrads(s), len(want.DY)/s.Out)
	}
	check("y", y, want.WantY, len(want.W)/s.Out)
	check("dx", dx, want.WantDX, len(want.W)/s.C)
	check("dw", dw, want.WantDW, len(y)/s.Out)
	if peak := m.Ledger().LDMPeak; !m.Native() && (peak == 0 || peak > m.Spec().LDMBytes) {
		t.Errorf("%d bytes of LDM taken", peak)
	}
}

// NearWinograd is Near with the tolerance of Winograd's least accurate form.
func NearWinograd(t *testing.T, what string, got []float32, want []float64, terms int) {
	t.Helper()
	if e, most := RelativeError(got, want, terms), WinogradErrors[shape.Winograd4]; !(e < most) {
		t.Fatalf("%s: relative error %.2g, want less than %g", what, e, most)
	}
}

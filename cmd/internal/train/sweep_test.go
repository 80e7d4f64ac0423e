package train

import (
	"math"
	"testing"
)

// swept adds losses of rates that grow tenfold in 20 iterations.
func swept(n int, loss func(rate float64) float64) (s sweep, diverged int) {
	for i := range n {
		rate := 1e-5 * math.Pow(10, float64(i)/20)
		if s.add(rate, loss(rate)) {
			return s, i
		}
	}
	return s, -1
}

// TestSteepest: a loss that falls about a rate of 0.01 and rises from 1 on has its steepest point near there, without the
// delay of smoothing.
func TestSteepest(t *testing.T) {
	s, diverged := swept(200, func(rate float64) float64 { return 2/(1+math.Pow(rate/0.01, 2)) + 0.1 + math.Pow(rate, 3) })
	at, ok := s.steepest()
	if !ok || s.rates[at] < 0.006 || s.rates[at] > 0.016 {
		t.Errorf("the suggested rate is %g (%v), want about 0.01", s.rates[at], ok)
	}
	if best := s.rates[s.best()]; best < 0.1 || best > 1 {
		t.Errorf("the lowest loss is at %g, want 0.1 to 1", best)
	}
	if diverged < 0 || len(s.losses) != diverged+1 || s.smoothed[diverged] <= 4*s.lowest {
		t.Errorf("it diverges in iteration %d of %d", diverged, len(s.losses))
	}
}

// TestSteepestAfterTheStart: the means of the first few losses fall fast by chance, and suggest no rate.
func TestSteepestAfterTheStart(t *testing.T) {
	n := 0
	s, _ := swept(60, func(rate float64) float64 {
		n++
		return 2/(1+math.Pow(rate/0.001, 2)) + 5*math.Pow(0.3, float64(n))
	})
	if at, ok := s.steepest(); !ok || s.rates[at] < 2e-4 || s.rates[at] > 4e-3 {
		t.Errorf("the suggested rate is %g (%v), want about 0.001", s.rates[at], ok)
	}
}

// TestNothingFalls: a loss that only rises, or stays, gives no suggestion; one that is not finite ends the sweep and is left out.
func TestNothingFalls(t *testing.T) {
	for name, loss := range map[string]func(float64) float64{
		"rising": func(rate float64) float64 { return 1 + rate },
		"even":   func(float64) float64 { return 3 },
	} {
		s, _ := swept(60, loss)
		if at, ok := s.steepest(); ok {
			t.Errorf("%s: rate %g is suggested", name, s.rates[at])
		}
	}
	s, diverged := swept(60, func(rate float64) float64 {
		if rate > 1e-3 {
			return math.NaN()
		}
		return 1 - rate
	})
	if diverged < 0 || len(s.losses) != diverged || s.mean == 0 || math.IsNaN(s.lowest) {
		t.Errorf("a loss of NaN: %d iterations, it diverges at %d", len(s.losses), diverged)
	}
}

// TestSmoothed: the moving means of a constant are that constant from the first on.
func TestSmoothed(t *testing.T) {
	s, _ := swept(30, func(float64) float64 { return 7 })
	for i, v := range s.smoothed {
		if math.Abs(v-7) > 1e-9 {
			t.Errorf("mean %d is %g, want 7", i, v)
		}
	}
	if got := slope([]float64{5, 3, 1, -1}); math.Abs(got+2) > 1e-12 {
		t.Errorf("the slope is %g, want -2", got)
	}
}

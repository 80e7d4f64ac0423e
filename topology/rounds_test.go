package topology

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestByRounds compares the sum of rounds with the simulation: equal where all ranks do the same at the same time, and else at most an eighth
// longer, or 1 % shorter.
func TestByRounds(t *testing.T) {
	spec, err := LoadSpec("oceanlight")
	if err != nil {
		t.Fatal(err)
	}
	for _, ranks := range []int{1, 2, 7, 256, 300, 1000, 1024, 3000, 4096, 5000} {
		for _, algorithm := range Fixed() {
			if algorithm == "ring" && ranks > 300 {
				continue // too many rounds for a quick test
			}
			for _, elements := range []int{1000, 25_000_000} {
				l := layout(t, spec, ranks, Block)
				s := NewSchedule(algorithm, l, elements)
				exact, err := Simulate(spec, l, s, 4, nil)
				if err != nil {
					t.Fatal(err)
				}
				got := byRounds(spec, l, s, 4)
				name, off := fmt.Sprintf("%s of %d over %d", algorithm, elements, ranks), float64(got-exact.Seconds)/max(1e-12, float64(exact.Seconds))
				if off < -0.01 || off > 0.125 {
					t.Errorf("%s: %.6g s, simulated %.6g: %+.1f %%", name, float64(got), float64(exact.Seconds), 100*off)
				}
				if equal := ranks&(ranks-1) == 0; equal && (off < -1e-6 || off > 1e-6) {
					t.Errorf("%s: %.9g s, simulated %.9g, which should be equal", name, float64(got), float64(exact.Seconds))
				}
			}
		}
	}
}

// TestSharesTooOften: a schedule whose messages share links in too many ways is an error with the sum of its rounds.
func TestSharesTooOften(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	spec, err := LoadSpec("oceanlight")
	if err != nil {
		t.Fatal(err)
	}
	l := layout(t, spec, 100_000, Block)
	s := NewSchedule("topology", l, 25_000_000)
	_, err = Simulate(spec, l, s, 4, nil)
	if want := fmt.Sprintf("shares links in too many ways; the sum of its rounds estimates %.6g s", float64(byRounds(spec, l, s, 4))); !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

package simdtest

import "testing"

// TestRepeated: a test is left out in plain Go on a computer with vectors alone, and never on one without.
func TestRepeated(t *testing.T) {
	for _, c := range []struct {
		vectors bool
		levels  int
		want    bool
	}{{true, 3, false}, {true, 2, false}, {false, 3, true}, {false, 2, true}, {false, 1, false}} {
		if got := repeated(c.vectors, c.levels); got != c.want {
			t.Errorf("vectors %v, %d levels: left out %v, want %v", c.vectors, c.levels, got, c.want)
		}
	}
}

package simdtest

import "testing"

// TestRepeated: a test is left out in plain Go on a computer with vectors alone, and never on one without.
func TestRepeated(t *testing.T) {
	all := []string{"avx512", "avx2", "go"}
	for _, c := range []struct {
		level string
		from  int
		want  bool
	}{{"avx512", 0, false}, {"avx2", 0, false}, {"avx2:vgemm.Micro", 0, false}, {"avx2", 1, false}, {"go", 0, true}, {"go", 1, true}, {"go", 2, false}} {
		if got := repeated(c.level, all[c.from:]); got != c.want {
			t.Errorf("level %s of %v: left out %v, want %v", c.level, all[c.from:], got, c.want)
		}
	}
}

package pages

import "testing"

// TestFloats: arrays around the length from which large pages are asked for are zeros, all of which can be written.
func TestFloats(t *testing.T) {
	for _, n := range []int{0, 1, least - 1, least, least + 1, 3*least + 12345} {
		x := Floats(n)
		if len(x) != n {
			t.Fatalf("%d values, want %d", len(x), n)
		}
		for i, v := range x {
			if v != 0 {
				t.Fatalf("value %d of %d is %g", i, n, v)
			}
			x[i] = 1
		}
	}
}

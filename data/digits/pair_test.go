package digits

import (
	"math"
	"testing"
)

// TestPairs: half of the pairs are of one digit, those are two images all the same, and every digit meets every other.
func TestPairs(t *testing.T) {
	const n = 2000
	r := NewRenderer(5)
	same := 0
	var met [10][10]int
	for i := range uint64(n) {
		var a, b, a2, b2 Image
		r.RenderPair(i, &a, &b)
		if a.Pixels == b.Pixels {
			t.Fatalf("pair %d is twice the same image", i)
		}
		met[a.Label][b.Label]++
		if a.Label == b.Label {
			same++
		}
		if i < 10 {
			NewRenderer(5).RenderPair(i, &a2, &b2)
			if a != a2 || b != b2 {
				t.Errorf("pair %d differs from one renderer to the next", i)
			}
		}
	}
	if share := float64(same) / n; math.Abs(share-0.5) > 0.05 {
		t.Errorf("%.3f of the pairs are of one digit", share)
	}
	for a := range met {
		for b, k := range met[a] {
			if k == 0 {
				t.Errorf("%d never meets %d", a, b)
			}
		}
	}
}

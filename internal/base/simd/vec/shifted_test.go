package vec

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestSumShifted: all numbers of columns up to several blocks of vectors, places in no order, of which some are the same.
func TestSumShifted(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for n := range 150 {
			for k := range 6 {
				var offs []int
				for p := range k {
					offs = append(offs, p*p*7%11)
				}
				_, x := simdtest.Banded(n+10, n%5)
				all, d := simdtest.Banded(n, n%7)
				SumShifted(d, x, offs)
				simdtest.CheckGuard(t, all, n, n%7)
				for j := range d {
					var want, size float64
					for _, at := range offs {
						want, size = want+float64(x[at+j]), size+math.Abs(float64(x[at+j]))
					}
					if !simdtest.Near(d[j], want, size, 4e-7) {
						t.Fatalf("n=%d of %d places, value %d: %v, want %v", n, k, j, d[j], want)
					}
				}
			}
		}
	})
}

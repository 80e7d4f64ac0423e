package vec

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestInterleave: lines that end in the middle of the rows, sources that end with the last value, and values behind the destination that must
// stay.
func TestInterleave(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, rows := range []int{1, 2, 3, 4, 5, 8} {
			for _, n := range []int{0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 100, 131} {
				t.Run(fmt.Sprintf("%d values of %d rows", n, rows), func(t *testing.T) {
					lds := n/rows + 3
					src, dst := simdtest.Pseudo((rows-1)*lds+n/rows+1, 1), simdtest.Pseudo(n+2, 2)
					guard := [2]float32(dst[n:])
					Interleave(dst[:n], src, lds, rows)
					for i, v := range dst[:n] {
						if want := src[i%rows*lds+i/rows]; v != want {
							t.Fatalf("value %d is %g, want %g", i, v, want)
						}
					}
					if got := [2]float32(dst[n:]); got != guard {
						t.Errorf("values behind are %v, want %v", got, guard)
					}
				})
			}
		}
	})
}

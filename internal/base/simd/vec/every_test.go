package vec

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestEvery: sources that end with the last value that is copied, and values behind the destination that must stay.
func TestEvery(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, stride := range []int{1, 2, 3, 4} {
			for _, n := range []int{0, 1, 7, 8, 16, 17, 31, 32, 33, 100} {
				t.Run(fmt.Sprintf("%d values %d apart", n, stride), func(t *testing.T) {
					src, dst := simdtest.Pseudo(max(1, (n-1)*stride+1), 1), simdtest.Pseudo(n+2, 2)
					guard := [2]float32(dst[n:])
					Every(dst[:n], src, stride)
					for i, v := range dst[:n] {
						if v != src[i*stride] {
							t.Fatalf("value %d is %g, want %g", i, v, src[i*stride])
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

package vpool

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestPool holds every level against plain loops: first of equal maxima, NaN, outputs of all lengths, a source that ends with
// the last window.
func TestPool(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, s := range []Windows{{1, 1, 9, 1}, {2, 2, 70, 2}, {3, 3, 75, 2}, {3, 3, 64, 1}, {5, 4, 130, 3}, {1, 3, 99, 2}, {3, 1, 80, 1}} {
			for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31} {
				if n > 0 && (n-1)*s.Stride+s.KW > s.Ld {
					continue
				}
				t.Run(fmt.Sprintf("%+v, %d outputs", s, n), func(t *testing.T) { checkPool(t, s, n) })
			}
		}
	})
}

func checkPool(t *testing.T, s Windows, n int) {
	const index, w, guard = 1000, 333, -7
	src := make([]float32, max(0, s.end(n)))
	for i := range src {
		src[i] = float32(i*i%5) - 2 // many equal values
		if i%23 == 11 {
			src[i] = float32(math.NaN())
		}
	}
	dst, mask, mean := make([]float32, n+1), make([]int32, n+1), make([]float32, n+1)
	dst[n], mask[n], mean[n] = guard, guard, guard
	Max(dst[:n], mask[:n], src, index, w, &s)
	Average(mean[:n], 4, src, &s)
	if dst[n] != guard || mask[n] != guard || mean[n] != guard {
		t.Fatal("something was written behind the outputs")
	}
	for i := range n {
		best, at, sum := float32(math.Inf(-1)), -1, 0.0
		for y := range s.KH {
			for x := range s.KW {
				v := src[y*s.Ld+i*s.Stride+x]
				sum += float64(v)
				if at < 0 || best == best && !(v <= best) {
					best, at = v, index+i*s.Stride+y*w+x
				}
			}
		}
		if math.Float32bits(dst[i]) != math.Float32bits(best) || int(mask[i]) != at {
			t.Fatalf("maximum %d is %g at %d, want %g at %d", i, dst[i], mask[i], best, at)
		}
		if d := float64(mean[i]) - sum/4; d > 1e-6 || d < -1e-6 || math.IsNaN(sum) != math.IsNaN(float64(mean[i])) {
			t.Fatalf("mean %d is %g, want %g", i, mean[i], sum/4)
		}
	}
}

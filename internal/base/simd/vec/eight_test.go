package vec

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestAddProducts: each sum has the bits of its products added one after the other, and no value behind the last one is read.
func TestAddProducts(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 40} {
		for _, steps := range [][2]int{{1, 8}, {16, 16}, {3, 32}, {0, 9}} {
			stepX, stepY := steps[0], steps[1]
			x, y := simdtest.Pseudo(max(0, n-1)*stepX+1, 1), simdtest.Pseudo(max(0, n-1)*stepY+8, 2)
			got, at := Eight(simdtest.Pseudo(8, 3)), make([]int, n)
			gotAt, want := got, got
			got.AddProducts(n, x, stepX, y, stepY)
			for p := range at {
				at[p] = p * stepX
			}
			gotAt.AddProductsAt(at, x, y, stepY)
			for j := range want {
				for p := range n {
					want[j] += x[p*stepX] * y[p*stepY+j]
				}
			}
			if got != want || gotAt != want {
				t.Errorf("%d products, steps %v: sums %v and %v, want %v", n, steps, got, gotAt, want)
			}
		}
	}
}

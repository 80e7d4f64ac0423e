package vnorm

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestNearChannels compares with windows that are gathered channel by channel from three blocks.
func TestNearChannels(t *testing.T) {
	const scale, shift = float32(0.7), float32(-1.5)
	simdtest.Each(t, func(t *testing.T) {
		for _, size := range []int{3, 5} {
			for pixels := range 9 {
				n := pixels * isa.BlockLanes
				var c NearChannels
				for i, b := range []*[]float32{&c.Below, &c.X, &c.Above} {
					_, *b = simdtest.Banded(n, 3+i)
				}
				_, a := simdtest.Banded(n, 4)
				all, d := simdtest.Banded(n, 2)
				more, e := simdtest.Banded(n, 5)
				before := append([]float32(nil), e...)
				NearSquares(d, c, size, scale, shift)
				MulAddNear(e, a, c, size, scale)
				simdtest.CheckGuard(t, all, n, 2)
				simdtest.CheckGuard(t, more, n, 5)
				for i := range d {
					squares, sum, most := float64(shift), 0.0, 2.0
					first := i - i%isa.BlockLanes
					channels := append(append(append([]float32(nil), c.Below[first:first+16]...), c.X[first:first+16]...), c.Above[first:first+16]...)
					for _, v := range channels[16+i%16-size/2 : 16+i%16+size/2+1] {
						x := float64(v)
						sum, squares, most = sum+x, squares+float64(scale)*x*x, most+math.Abs(x)+x*x
					}
					if !simdtest.Near(d[i], squares, most, 4e-7) {
						t.Fatalf("window of %d, value %d of %d: squares %v, want %v", size, i, n, d[i], squares)
					}
					want := float64(before[i]) + float64(scale)*float64(a[i])*sum
					if !simdtest.Near(e[i], want, most*(1+math.Abs(float64(a[i])))+math.Abs(want), 4e-7) {
						t.Fatalf("window of %d, value %d of %d: product %v, want %v", size, i, n, e[i], want)
					}
				}
			}
		}
	})
}

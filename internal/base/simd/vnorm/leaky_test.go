package vnorm

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// TestBlockLeaky: every value is what vec's kernels make of it with the slope of its channel, in place too; so are the signs of zeros.
func TestBlockLeaky(t *testing.T) {
	var slopes [isa.BlockLanes]float32
	for i := range slopes {
		slopes[i] = float32(i-5) / 8
	}
	simdtest.Each(t, func(t *testing.T) {
		for _, pixels := range []int{0, 1, 2, 3, 35, 196} {
			n := pixels * isa.BlockLanes
			_, x := simdtest.Banded(n, 3)
			_, dy := simdtest.Banded(n, 1)
			allY, y := simdtest.Banded(n, 2)
			allDx, dx := simdtest.Banded(n, 5)
			a, want, wantDx := make([]float32, n), make([]float32, n), make([]float32, n)
			for i := range x {
				a[i] = slopes[i%isa.BlockLanes]
				switch i % 7 {
				case 0:
					x[i] = 0
				case 1:
					x[i] = float32(math.Copysign(0, -1))
				case 2:
					x[i] = -x[i]
				}
			}
			vec.PReLU(want, x, a)
			vec.PReLUGrad(wantDx, dy, x, a)
			sums, wantSums := make([]float64, isa.BlockLanes), make([]float64, isa.BlockLanes)
			for i, g := range dy {
				sums[i%isa.BlockLanes] = 0.5
				wantSums[i%isa.BlockLanes] += float64(g) * math.Min(float64(x[i]), 0)
			}
			BlockLeakySums(sums, dy, x)
			BlockLeaky(y, x, &slopes)
			BlockLeakyGrad(dx, dy, x, &slopes)
			sameBits(t, "y", y, want)
			sameBits(t, "dx", dx, wantDx)
			BlockLeakyGrad(dy, dy, x, &slopes)
			BlockLeaky(x, x, &slopes)
			sameBits(t, "y in place", x, want)
			sameBits(t, "dx in place", dy, wantDx)
			for i, w := range wantSums {
				if d := math.Abs(sums[i] - w - 0.5); pixels > 0 && d > 1e-12*(1+math.Abs(w)) {
					t.Errorf("%d pixels, channel %d: sum %g, want %g", pixels, i, sums[i]-0.5, w)
				}
			}
			simdtest.CheckGuard(t, allY, n, 2)
			simdtest.CheckGuard(t, allDx, n, 5)
		}
	})
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s of value %d of %d is %g, want %g", what, i, len(want), got[i], want[i])
		}
	}
}

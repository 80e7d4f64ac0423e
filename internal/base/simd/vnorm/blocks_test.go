package vnorm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// testBlock has constants that no two lanes share.
func testBlock() *Block {
	row := func() *[isa.BlockLanes]float32 { return new([isa.BlockLanes]float32) }
	p := &Block{Mean: row(), Scale: row(), Gamma: row(), Beta: row(), Slope: 0.35, A: row(), B: row(), C: row()}
	for i := range isa.BlockLanes {
		at := float32(i)
		p.Mean[i], p.Scale[i], p.Gamma[i], p.Beta[i] = 0.4+at/10, 1.3-at/20, at/5-1.7, 0.2-at/30
		p.A[i], p.B[i], p.C[i] = 0.9-at/9, at/11-0.3, 0.6+at/7
	}
	return p
}

// TestBlockNormal: every lane is what Row's kernels make of a row with its values.
func TestBlockNormal(t *testing.T) {
	p := testBlock()
	simdtest.Each(t, func(t *testing.T) {
		for _, pixels := range []int{0, 1, 2, 3, 35, 196} {
			t.Run(fmt.Sprint(pixels, " pixels"), func(t *testing.T) {
				n := pixels * isa.BlockLanes
				allX, x := simdtest.Banded(n, 3)
				allDy, dy := simdtest.Banded(n, 1)
				allY, y := simdtest.Banded(n, 2)
				allDx, dx := simdtest.Banded(n, 5)
				sums := make([]float64, 4*isa.BlockLanes)
				for i := range sums {
					sums[i] = 0.5
				}
				BlockNormalise(y, x, p)
				BlockNormaliseGrad(dx, dy, x, p)
				BlockMoments(sums, sums[isa.BlockLanes:], x, p.Mean[:])
				BlockNormaliseSums(sums[2*isa.BlockLanes:], sums[3*isa.BlockLanes:], dy, x, p)
				for lane := range isa.BlockLanes {
					q := p.lane(lane)
					q.A, q.B, q.C = p.A[lane], p.B[lane], p.C[lane]
					testLane(t, q, laneOf(x, lane), laneOf(dy, lane), laneOf(y, lane), laneOf(dx, lane), laneOf(sums, lane))
				}
				simdtest.CheckGuard(t, allX, n, 3)
				simdtest.CheckGuard(t, allDy, n, 1)
				simdtest.CheckGuard(t, allY, n, 2)
				simdtest.CheckGuard(t, allDx, n, 5)
			})
		}
	})
}

// TestBlockSums: kernels for sums of two arrays give what kernels for one and element by element do, in place too.
func TestBlockSums(t *testing.T) {
	p, q := testBlock(), testBlock()
	p.Slope = 1
	simdtest.Each(t, func(t *testing.T) {
		for _, pixels := range []int{0, 1, 3, 8, 35, 196} {
			n := pixels * isa.BlockLanes
			_, x := simdtest.Banded(n, 3)
			_, other := simdtest.Banded(n, 1)
			allY, y := simdtest.Banded(n, 2)
			want := make([]float32, n)
			BlockNormalise(want, x, p)
			vec.Add(want, want, other)
			vec.ReLU(want, want, q.Slope)
			allSigns := slices.Repeat([]uint16{0xaaaa}, pixels+2)
			signs := allSigns[1 : pixels+1]
			BlockNormaliseAdd(y, signs, x, other, q)
			if !slices.Equal(y, want) {
				t.Errorf("%d pixels: a sum is not that of what was normalised", pixels)
			}
			for i, v := range want {
				if set := signs[i/isa.BlockLanes]>>(i%isa.BlockLanes)&1 == 1; set != (v > 0) {
					t.Fatalf("%d pixels: the sign of value %d, %g, is %t", pixels, i, v, set)
				}
			}
			if allSigns[0] != 0xaaaa || allSigns[pixels+1] != 0xaaaa {
				t.Errorf("%d pixels: signs of others were written", pixels)
			}
			clear(y)
			if BlockNormaliseAdd(y, nil, x, other, q); !slices.Equal(y, want) {
				t.Errorf("%d pixels: a sum whose signs nobody wants is another one", pixels)
			}
			simdtest.CheckGuard(t, allY, n, 2)

			allDy, dy := simdtest.Banded(n, 4)
			sums, wanted := make([]float64, 2*isa.BlockLanes), make([]float64, 2*isa.BlockLanes)
			vec.ReLUGrad(want, dy, y, q.Slope)
			BlockNormaliseSums(wanted, wanted[isa.BlockLanes:], want, x, p)
			BlockMaskSums(sums, sums[isa.BlockLanes:], dy, dy, signs, x, q)
			if !slices.Equal(dy, want) {
				t.Errorf("%d pixels: a gradient passes where its sum is not above 0", pixels)
			}
			if !slices.Equal(sums, wanted) {
				t.Errorf("%d pixels: sums %g, want %g", pixels, sums, wanted)
			}
			simdtest.CheckGuard(t, allDy, n, 4)
		}
	})
}

// laneOf returns the values of a lane.
func laneOf[T any](x []T, lane int) (row []T) {
	for i := lane; i < len(x); i += isa.BlockLanes {
		row = append(row, x[i])
	}
	return row
}

func testLane(t *testing.T, p Row, x, dy, y, dx []float32, sums []float64) {
	t.Helper()
	want := [4]float64{0.5, 0.5, 0.5, 0.5}
	for i, v := range x {
		xn := (v - p.Mean) * p.Scale
		out, g := float64(xn)*float64(p.Gamma)+float64(p.Beta), float64(dy[i])
		slope := 1.0
		if out < 0 {
			slope = float64(p.Slope)
		}
		grad := float64(p.A) * (g*slope - float64(p.B) - float64(p.C)*float64(xn))
		if !simdtest.Near(y[i], out*slope, 10, 1e-6) || !simdtest.Near(dx[i], grad, 10, 1e-6) {
			t.Fatalf("pixel %d is %g, want %g; gradient %g, want %g", i, y[i], out*slope, dx[i], grad)
		}
		d := float64(v - p.Mean)
		want[0], want[1] = want[0]+float64(v), want[1]+d*d
		want[2], want[3] = want[2]+g*slope*float64(xn), want[3]+g*slope
	}
	for i, got := range sums {
		if math.Abs(got-want[i]) > 1e-6*math.Abs(want[i])+1e-6 {
			t.Fatalf("sum %d of %d pixels is %g, want %g", i, len(x), got, want[i])
		}
	}
}

// TestBlockNormalRefusesPartsOfPixels: lanes would be mixed up.
func TestBlockNormalRefusesPartsOfPixels(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("17 values were taken for pixels")
		}
	}()
	BlockNormalise(make([]float32, 17), make([]float32, 17), testBlock())
}

package vgemm

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestScatteredKernel compares every level with sums in float64, for all numbers of vectors and lanes that are stored, and
// rows of B in any order; values around the tile must stay.
func TestScatteredKernel(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		rows, vectors, lanes := ScatteredTile()
		for n := 1; n <= vectors; n++ {
			for _, k := range []int{0, 1, 3, 4, 5, 75} {
				for _, last := range []int{1, lanes - 1, lanes} {
					for _, accumulate := range []bool{false, true} {
						t.Run(fmt.Sprintf("%d vectors of %d lanes, %d deep, accumulate %v", n, last, k, accumulate), func(t *testing.T) {
							checkScattered(t, rows, n, k, last, accumulate)
						})
					}
				}
			}
		}
	})
}

func checkScattered(t *testing.T, rows, n, k, last int, accumulate bool) {
	_, _, lanes := ScatteredTile()
	const ldc = 90
	a, b, c := simdtest.Pseudo(rows*k+1, 1), simdtest.Pseudo(1000, 2), simdtest.Pseudo(rows*ldc, 3)
	offs := make([]int, k)
	for p := range offs {
		offs[p] = p * 613 % 800
	}
	want := make([]float64, len(c))
	for i, v := range c {
		want[i] = float64(v)
	}
	var v [4]Vector
	for j := range n {
		v[j] = Vector{From: j * 41, To: j * 21, N: lanes}
	}
	v[n-1].N = last
	for i := range rows {
		for _, v := range v[:n] {
			for j := range v.N {
				at := i*ldc + v.To + j
				if !accumulate {
					want[at] = 0
				}
				for p := range k {
					want[at] += float64(a[p*rows+i]) * float64(b[offs[p]+v.From+j])
				}
			}
		}
	}
	ScatteredKernel(a, b, offs, c, ldc, &v, n, accumulate)
	for i, got := range c {
		if math.Abs(float64(got)-want[i]) > 1e-5*(1+math.Abs(want[i])) {
			t.Fatalf("value %d is %g, want %g", i, got, want[i])
		}
	}
}

// BenchmarkScatteredKernel multiplies from L1, rows of B aligned or a value off.
func BenchmarkScatteredKernel(b *testing.B) {
	rows, vectors, lanes := ScatteredTile()
	const k = 256
	for _, n := range []int{vectors, vectors / 2} {
		for _, shift := range []int{0, 1} {
			b.Run(fmt.Sprintf("vectors=%d/shift=%d", n, shift), func(b *testing.B) {
				x, y, z := simdtest.Pseudo(rows*k, 1), simdtest.Pseudo(1<<13, 2), make([]float32, rows*vectors*lanes)
				offs := make([]int, k)
				for p := range offs {
					offs[p] = p%64*64 + shift
				}
				var v [4]Vector
				for j := range n {
					v[j] = Vector{From: j * lanes, To: j * lanes, N: lanes}
				}
				for b.Loop() {
					ScatteredKernel(x, y, offs, z, vectors*lanes, &v, n, true)
				}
				b.ReportMetric(float64(b.N)*2*float64(rows*n*lanes*k)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

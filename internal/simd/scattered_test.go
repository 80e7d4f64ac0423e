package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestScatteredKernel compares every level with sums in float64, for both panels, numbers of lanes that are stored, and rows of
// B in any order; values around the tile must stay.
func TestScatteredKernel(t *testing.T) {
	each(t, func(t *testing.T) {
		wide, narrow, lanes := Panels()
		for _, rows := range []int{wide, narrow} {
			for _, k := range []int{0, 1, 3, 4, 5, 75} {
				for _, n := range [][2]int{{lanes, lanes}, {lanes, 1}, {3, 0}} {
					for _, accumulate := range []bool{false, true} {
						t.Run(fmt.Sprintf("%dx%d lanes %v accumulate %v", rows, k, n, accumulate), func(t *testing.T) {
							s := Scatter{Rows: rows, LDC: 90, Gap: 37, CGap: 41, N0: n[0], N1: n[1]}
							a, b, c := pseudo(rows*k+1, 1), pseudo(1000, 2), pseudo(rows*90, 3)
							offs := make([]int, k)
							for p := range offs {
								offs[p] = p * 613 % 900
							}
							want := make([]float64, len(c))
							for i, v := range c {
								want[i] = float64(v)
							}
							for i := range rows {
								for half, n := range n {
									for j := range n {
										at := i*s.LDC + half*s.CGap + j
										if !accumulate {
											want[at] = 0
										}
										for p := range k {
											want[at] += float64(a[p*rows+i]) * float64(b[offs[p]+half*s.Gap+j])
										}
									}
								}
							}
							ScatteredKernel(&s, a, b, offs, c, accumulate)
							for i, got := range c {
								if math.Abs(float64(got)-want[i]) > 1e-5*(1+math.Abs(want[i])) {
									t.Fatalf("value %d is %g, want %g", i, got, want[i])
								}
							}
						})
					}
				}
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	each(t, func(t *testing.T) {
		for _, size := range [][2]int{{0, 3}, {1, 1}, {3, 9}, {4, 4}, {5, 7}, {16, 30}, {9, 3}} {
			rows, cols := size[0], size[1]
			const ldd, lds = 19, 33
			src, dst := pseudo(rows*lds+1, 1), pseudo(cols*ldd+1, 2)
			want := append([]float32(nil), dst...)
			for i := range rows {
				for j := range cols {
					want[j*ldd+i] = src[i*lds+j]
				}
			}
			Transpose(dst, src, ldd, lds, rows, cols)
			for i := range want {
				if dst[i] != want[i] {
					t.Fatalf("%v: value %d is %g, want %g", size, i, dst[i], want[i])
				}
			}
		}
	})
}

// pseudo is n values in [-1, 1) that a seed decides.
func pseudo(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}

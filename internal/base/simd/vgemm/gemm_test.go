package vgemm

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

func TestGemm(t *testing.T) { simdtest.EachTarget(t, checkTiles) }

// TestWholeTileAlone: a level that has the micro-kernel of a whole tile alone, as a target begins with, computes the edges with it.
func TestWholeTileAlone(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		whole := have.Micro[3][2]
		clear(have.Micro[:])
		have.Micro[3][2] = whole
		checkTiles(t)
	})
}

// checkTiles checks tiles of all sizes.
func checkTiles(t *testing.T) {
	mr, nr := Tile()
	for _, k := range []int{0, 1, 2, 3, 4, 5, 8, 31, 100} {
		for m := 1; m <= mr; m++ {
			for n := 1; n <= nr; n++ {
				checkTile(t, k, m, n, mr, nr)
			}
		}
	}
}

// checkTile packs and multiplies one tile and compares with the definition.
func checkTile(t *testing.T, k, m, n, mr, nr int) {
	lda, ldb, ldc := k+3, n+5, nr+2
	_, a := simdtest.Banded(m*lda, 1)
	_, b := simdtest.Banded(max(1, k)*ldb, 2)
	allA, pa := simdtest.Banded(k*mr, 3)
	allB, pb := simdtest.Banded(k*nr, 1)
	PackA(pa, a, lda, m, k, mr)
	clear(pb)
	vec.CopyRows(pb, nr, b, ldb, k, n)
	simdtest.CheckGuard(t, allA, k*mr, 3)
	simdtest.CheckGuard(t, allB, k*nr, 1)
	for p := range k {
		for i := range mr {
			if w := pa[p*mr+i]; i < m && w != a[i*lda+p] || i >= m && w != 0 {
				t.Fatalf("PackA k=%d m=%d: wrong at %d, %d", k, m, i, p)
			}
		}
		for j := range nr {
			if w := pb[p*nr+j]; j < n && w != b[p*ldb+j] || j >= n && w != 0 {
				t.Fatalf("panel of B, k=%d n=%d: wrong at %d, %d", k, n, p, j)
			}
		}
	}
	for _, accumulate := range []bool{false, true} {
		c := make([]float32, mr*ldc)
		for i := range c {
			c[i] = 2
			if !accumulate {
				c[i] = float32(math.NaN())
			}
		}
		old := append([]float32(nil), c...)
		if m == mr && n == nr {
			MicroKernel(k, pa, pb, c, ldc, accumulate)
		} else {
			MicroKernelEdge(k, pa, pb, c, ldc, m, n, accumulate)
		}
		for i := range c {
			r, j := i/ldc, i%ldc
			if r >= m || j >= n {
				if math.Float32bits(c[i]) != math.Float32bits(old[i]) {
					t.Fatalf("k=%d m=%d n=%d: wrote outside at %d, %d", k, m, n, r, j)
				}
				continue
			}
			w := 0.0
			if accumulate {
				w = 2
			}
			for p := range k {
				w += float64(a[r*lda+p]) * float64(b[p*ldb+j])
			}
			if !simdtest.Near(c[i], w, float64(10*k+2), 1e-6) {
				t.Fatalf("k=%d m=%d n=%d at %d, %d: %v, want %v", k, m, n, r, j, c[i], w)
			}
		}
	}
}

func BenchmarkMicroKernel(b *testing.B) {
	for _, level := range isa.Levels() {
		b.Run(level, func(b *testing.B) {
			defer isa.Use(level)()
			const k = 160
			mr, nr := Tile()
			pa, pb, c := make([]float32, k*mr), make([]float32, k*nr), make([]float32, mr*nr)
			for b.Loop() {
				MicroKernel(k, pa, pb, c, nr, true)
			}
			b.ReportMetric(2*k*float64(mr*nr)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkPackA(b *testing.B) {
	mr, _ := Tile()
	d, s := make([]float32, 256*mr), make([]float32, 300*mr)
	b.SetBytes(int64(4 * 256 * mr))
	for b.Loop() {
		PackA(d, s, 300, mr, 256, mr)
	}
}

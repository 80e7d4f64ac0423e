package vec

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestCopyRows: rows of any length are copied, and what lies between them stays.
func TestCopyRows(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, rows := range []int{0, 1, 3} {
			for n := range 70 {
				ldd, lds := n+2, n+5
				_, src := simdtest.Banded(rows*lds, 1)
				all, dst := simdtest.Banded(rows*ldd, 3)
				old := append([]float32(nil), dst...)
				CopyRows(dst, ldd, src, lds, rows, n)
				simdtest.CheckGuard(t, all, rows*ldd, 3)
				for i, got := range dst {
					want := old[i]
					if i%ldd < n {
						want = src[i/ldd*lds+i%ldd]
					}
					if got != want {
						t.Fatalf("%d rows of %d: %g at %d, want %g", rows, n, got, i, want)
					}
				}
			}
		}
	})
}

// TestGatherRows: rows of no, part of a and several vectors are copied from anywhere, and what lies between them stays.
func TestGatherRows(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		nr := max(19, 3*isa.Lanes())
		offs := []int{5, 0, 190, 7, 33}
		for rows := range len(offs) + 1 {
			for n := range nr + 1 {
				ldd := n + 3
				src := simdtest.Pseudo(190+nr, 1)
				all, dst := simdtest.Banded(rows*ldd, 3)
				old := append([]float32(nil), dst...)
				GatherRows(dst, ldd, src, offs[:rows], n)
				simdtest.CheckGuard(t, all, rows*ldd, 3)
				for i, got := range dst {
					want := old[i]
					if i%ldd < n {
						want = src[offs[i/ldd]+i%ldd]
					}
					if got != want {
						t.Fatalf("%d rows of %d: %g at %d, want %g", rows, n, got, i, want)
					}
				}
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, size := range [][2]int{{0, 3}, {1, 1}, {3, 9}, {4, 4}, {5, 7}, {16, 30}, {9, 3}, {16, 16}, {19, 33}, {5, 5}, {15, 17}} {
			rows, cols := size[0], size[1]
			const ldd, lds = 19, 33
			src, dst := simdtest.Pseudo(rows*lds+1, 1), simdtest.Pseudo(cols*ldd+1, 2)
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

package gemm

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// TestNarrow compares products with few columns with sums in double precision, and with Gemm's bit by bit, with any number of core groups.
func TestNarrow(t *testing.T) {
	mr, nr := vgemm.Tile()
	testLikeGemm(t, func(m Kernel) bool { _, ok := m.(*narrow); return ok }, []Shape{
		{M: nr + 1, N: 1, K: nr, TransB: true},
		{M: 2 * nr, N: mr - 2, K: 500, TransB: true},
		{M: 3*nr + 4, N: mr, K: 1201, TransB: true},
		{M: 205, N: mr/2 + 1, K: 513, TransB: true},
	})
}

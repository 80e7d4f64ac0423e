package words

import (
	"math"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for _, x := range []uint64{0, 1, 1<<16 - 1, 1 << 16, 0x0123456789abcdef, math.Float64bits(math.Inf(1)), math.Float64bits(math.NaN()), math.MaxUint64} {
		row := make([]float32, Len)
		Put(row, x)
		if got := Get(row); got != x {
			t.Errorf("%#x came back as %#x in %v", x, got, row)
		}
	}
}

package vec

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// SumShifted sets d[j] = Σp x[offs[p]+j], adding in the order of offs. d must not overlap x.
func SumShifted(d, x []float32, offs []int) {
	n := len(d)
	if have.SumShifted != none && n > 0 && len(offs) > 0 {
		_ = x[slices.Max(offs)+n-1]
		have.SumShifted.run(&d[0], &x[0], &offs[0], len(offs), n, isa.Mask(0))
		return
	}
	clear(d)
	for _, at := range offs {
		Add(d, d, x[at:])
	}
}

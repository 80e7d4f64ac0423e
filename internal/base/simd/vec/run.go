package vec

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// run applies an elementwise kernel. It reports false if the caller has to compute in a loop: where there is no kernel, and for arithmetic on
// less than one vector, since padding would take longer than the loop. The elements past the last whole vector are copied and padded to one, so
// that an element's result does not depend on its place.
func run(o op, d, x, y []float32, s, t float32) bool {
	n, width, kernel := len(d), isa.Lanes(), have.Elementwise[o]
	if kernel == none || o < opExp && n < width {
		return false
	}
	if x != nil || o != opFill {
		x = x[:n]
	}
	if y != nil {
		y = y[:n]
	}
	whole := n / width * width
	if whole > 0 {
		kernel.run(&d[0], unsafe.SliceData(x), unsafe.SliceData(y), whole, s, t)
	}
	if whole == n {
		return true
	}
	var td, tx, ty [16]float32
	copy(td[:], d[whole:])
	if x != nil {
		copy(tx[:], x[whole:])
	}
	if y != nil {
		copy(ty[:], y[whole:])
	}
	kernel.run(&td[0], &tx[0], &ty[0], width, s, t)
	copy(d[whole:], td[:])
	return true
}

// folded applies a reduction to as many elements as fill whole pairs of vectors. It returns their sum and their number n.
func folded(f fold, x, y []float32) (sum float64, n int) {
	pair, kernel := 2*isa.Lanes(), have.Reduce[f]
	if kernel == none || len(x) < pair {
		return 0, 0
	}
	n = len(x) / pair * pair
	var lanes [8]float64
	kernel.run(&lanes[0], &x[0], unsafe.SliceData(y), n)
	for _, v := range lanes {
		sum += v
	}
	return sum, n
}

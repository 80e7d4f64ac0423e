package vec

import "github.com/swcaffe/swcaffe/internal/simd/isa"

// run applies an elementwise kernel. It reports false if the caller has to compute in a loop: at a level without vectors, and for arithmetic on
// less than one vector, since padding would take longer than the loop. The elements past the last whole vector are copied and padded to one, so
// that an element's result does not depend on its place.
func run(o op, d, x, y []float32, s, t float32) bool {
	n, width := len(d), isa.Width()
	if width == 0 || o < opExp && n < width {
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
		elementwise(o, &d[0], first(x), first(y), whole, s, t)
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
	elementwise(o, &td[0], &tx[0], &ty[0], width, s, t)
	copy(d[whole:], td[:])
	return true
}

// first is the address of a slice's first element, nil if there is none.
func first(x []float32) *float32 {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

// folded applies a reduction to as many elements as fill whole pairs of vectors. It returns their sum and their number n.
func folded(f fold, x, y []float32) (sum float64, n int) {
	width := isa.Width()
	if width == 0 || len(x) < 2*width {
		return 0, 0
	}
	n = len(x) / (2 * width) * (2 * width)
	var lanes [8]float64
	reduce(f, &lanes[0], &x[0], first(y), n)
	for _, v := range lanes {
		sum += v
	}
	return sum, n
}

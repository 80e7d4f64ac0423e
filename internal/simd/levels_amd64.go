package simd

import "golang.org/x/sys/cpu"

// avx512Level and avx2Level hold the generated kernels.
var (
	avx512Level = level{name: "avx512", width: 16, mr: 12, nr: 32, rows: 6, vectors: 4}
	avx2Level   = level{name: "avx2", width: 8, mr: 6, nr: 16, rows: 6, vectors: 2}
)

// supported lists the levels of this machine, best first.
func supported() []*level {
	var list []*level
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, &avx512Level)
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, &avx2Level)
	}
	return append(list, &goLevel)
}

// run applies an elementwise kernel, the end of the slices in a padded copy,
// and is false at the Go level.
// Arithmetic on less than one vector is left to the caller: padding it would take longer than the loop.
func (l *level) run(o op, d, x, y []float32, s, t float32) bool {
	n := len(d)
	if l.width == 0 || o < opExp && n < l.width {
		return false
	}
	if x != nil || o != opFill {
		x = x[:n]
	}
	if y != nil {
		y = y[:n]
	}
	whole := n / l.width * l.width
	if whole > 0 {
		l.elementwise(o, &d[0], first(x), first(y), whole, s, t)
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
	l.elementwise(o, &td[0], &tx[0], &ty[0], l.width, s, t)
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

// fold applies a reduction to the first n elements and returns the sum and n.
func (l *level) fold(f fold, x, y []float32) (sum float64, n int) {
	if l.width == 0 || len(x) < 2*l.width {
		return 0, 0
	}
	n = len(x) / (2 * l.width) * (2 * l.width)
	var lanes [8]float64
	l.reduce(f, &lanes[0], &x[0], first(y), n)
	for _, v := range lanes {
		sum += v
	}
	return sum, n
}

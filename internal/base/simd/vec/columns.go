package vec

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// ColumnSums adds x[i] to sums[i].
func ColumnSums(sums []float64, x []float32) {
	x = x[:len(sums)]
	whole := 0
	if have.ColumnSums != none && len(x) >= isa.Lanes() {
		whole = isa.Whole(len(x))
		have.ColumnSums.run(&sums[0], &x[0], &x[0], whole)
	}
	rest := sums[whole:]
	for i, v := range x[whole:] {
		rest[i] += float64(v)
	}
}

// ColumnProducts adds x[i]*y[i] to sums[i].
func ColumnProducts(sums []float64, x, y []float32) {
	x, y = x[:len(sums)], y[:len(sums)]
	whole := 0
	if have.ColumnProducts != none && len(x) >= isa.Lanes() {
		whole = isa.Whole(len(x))
		have.ColumnProducts.run(&sums[0], &x[0], &y[0], whole)
	}
	rest := sums[whole:]
	for i, v := range x[whole:] {
		rest[i] += float64(v) * float64(y[whole+i])
	}
}

// ColumnSquares adds (x[i] - y[i])² to sums[i].
func ColumnSquares(sums []float64, x, y []float32) {
	x, y = x[:len(sums)], y[:len(sums)]
	whole := 0
	if have.ColumnSquares != none && len(x) >= isa.Lanes() {
		whole = isa.Whole(len(x))
		have.ColumnSquares.run(&sums[0], &x[0], &y[0], whole)
	}
	rest := sums[whole:]
	for i, v := range x[whole:] {
		d := float64(v) - float64(y[whole+i])
		rest[i] = math.FMA(d, d, rest[i])
	}
}

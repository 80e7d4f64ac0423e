package vec

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestColumns: sums in float64, whose rounding is that of one addition, of rows of all lengths; what stands behind the sums must stay.
func TestColumns(t *testing.T) {
	kinds := []struct {
		name string
		add  func(sums []float64, x, y []float32)
		term func(x, y float64) float64
	}{
		{"sums", func(sums []float64, x, _ []float32) { ColumnSums(sums, x) }, func(x, _ float64) float64 { return x }},
		{"products", ColumnProducts, func(x, y float64) float64 { return x * y }},
		{"squares", ColumnSquares, func(x, y float64) float64 { return (x - y) * (x - y) }},
	}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			simdtest.Each(t, func(t *testing.T) {
				for n := range 70 {
					_, x := simdtest.Banded(n, n%5)
					_, y := simdtest.Banded(n, n%3)
					sums := make([]float64, n+1)
					for i := range sums {
						sums[i] = float64(i) / 3
					}
					kind.add(sums[:n], x, y)
					for i, got := range sums {
						want := float64(i) / 3
						if i < n {
							want += kind.term(float64(x[i]), float64(y[i]))
						}
						if d := got - want; d > 1e-13 || d < -1e-13 || d != d {
							t.Fatalf("sum %d of %d is %g, want %g", i, n, got, want)
						}
					}
				}
			})
		})
	}
}

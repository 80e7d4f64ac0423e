package vec

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// AbsSum is Σ |x[i]|, summed in float64.
func AbsSum(x []float32) float64 {
	s, at := folded(foldAbsSum, x, nil)
	for _, v := range x[at:] {
		s += math.Abs(float64(v))
	}
	return s
}

// SumSq is Σ x[i]², summed in float64.
func SumSq(x []float32) float64 {
	s, at := folded(foldSumSq, x, nil)
	for _, v := range x[at:] {
		s += float64(v) * float64(v)
	}
	return s
}

// Sum is Σ x[i], summed in float64.
func Sum(x []float32) float64 {
	s, at := folded(foldSum, x, nil)
	for _, v := range x[at:] {
		s += float64(v)
	}
	return s
}

// Dot is Σ x[i]*y[i], summed in float64.
func Dot(x, y []float32) float64 {
	y = y[:len(x)]
	s, at := folded(foldDot, x, y)
	rest := y[at:]
	for i, v := range x[at:] {
		s += float64(v) * float64(rest[i])
	}
	return s
}

// MaxOf is the largest element, or NaN if one is NaN. x must not be empty.
func MaxOf(x []float32) float32 {
	m := x[0]
	at := 0
	if w := isa.Lanes(); have.MaxOf != none && len(x) >= w {
		var lanes [16]float32
		at = len(x) / w * w
		have.MaxOf.run(&lanes[0], &x[0], at)
		for _, v := range lanes[:w] {
			m = max(m, v)
		}
	}
	for _, v := range x[at:] {
		m = max(m, v)
	}
	return m
}

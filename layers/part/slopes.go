package part

import "math"

// Logistic is 1 / (1 + exp(-x)).
func Logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Sign returns the sign of x: 1, -1, or 0 at 0, as for Caffe's derivative of |x|.
func Sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

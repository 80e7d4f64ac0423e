package vwinograd

import (
	"math"
	"slices"
)

// matrix is a linear map of a line of a square.
type matrix [][]float64

// matrices are the maps by form.
var matrices = func() (all [][mapCount]matrix) {
	for _, f := range forms {
		all = append(all, minimalFiltering(f.Tile, f.Kernel))
	}
	return all
}()

// pointsOf are the finite points for squares of an edge: 0 and pairs of opposite signs. If the edge is even, infinity is a further point.
func pointsOf(edge int) []float64 {
	return []float64{0, 1, -1, 2, -2, 0.5, -0.5}[:(edge-1)|1]
}

// minimalFiltering makes the maps of F(m,r), after Toom and Cook: B' has for each point the coefficients of the polynomial with
// roots at the others. A and G have powers of the points, and G divides them by that polynomial's value at the point.
func minimalFiltering(m, r int) (maps [mapCount]matrix) {
	edge := m + r - 1
	points := pointsOf(edge)
	var input, weights, outputs matrix
	for i, p := range points {
		rest := slices.Delete(slices.Clone(points), i, i+1)
		scale := 1.0
		for _, q := range rest {
			scale *= p - q
		}
		sign := 1.0
		if p == 0 {
			sign = math.Copysign(1, scale)
		}
		input = append(input, scaled(withRoots(rest, edge), sign))
		weights = append(weights, scaled(powersOf(p, r), sign/scale))
		outputs = append(outputs, powersOf(p, m))
	}
	if len(points) < edge {
		input = append(input, withRoots(points, edge))
		weights, outputs = append(weights, unit(r-1, r)), append(outputs, unit(m-1, m))
	}
	maps[Input], maps[Weights], maps[OutputGrad] = input, weights, outputs
	maps[Output], maps[WeightsGrad] = transposed(outputs), transposed(weights)
	maps[InputGrad] = transposed(input)
	return maps
}

// withRoots returns the n coefficients, lowest first, of the polynomial with roots and leading coefficient 1.
func withRoots(roots []float64, n int) []float64 {
	c := unit(0, n)
	for _, root := range roots {
		for i := n - 1; i >= 0; i-- {
			c[i] *= -root
			if i > 0 {
				c[i] += c[i-1]
			}
		}
	}
	return c
}

// powersOf returns the first n powers of p, from 1 on.
func powersOf(p float64, n int) []float64 {
	c := unit(0, n)
	for i := 1; i < n; i++ {
		c[i] = c[i-1] * p
	}
	return c
}

// unit is a vector of n values, 1 at one place and 0 elsewhere.
func unit(one, n int) []float64 {
	c := make([]float64, n)
	c[one] = 1
	return c
}

// scaled multiplies c in place.
func scaled(c []float64, by float64) []float64 {
	for i := range c {
		c[i] *= by
	}
	return c
}

// transposed is the transpose of m.
func transposed(m matrix) matrix {
	t := make(matrix, len(m[0]))
	for j := range t {
		for _, row := range m {
			t[j] = append(t[j], row[j])
		}
	}
	return t
}

package vwinograd

import (
	"math"
	"slices"

	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// linear is a map of a line of in values to out values.
type linear struct {
	name    string
	in, out int
	biased  bool
	added   bool // results are added to dst
	apply   func(x []reg.VecVirtual) []reg.VecVirtual
}

// pointPairs are, by the edge of squares, the numbers that are points together with their negatives. 0 is always a point, infinity if the edge is
// even.
var pointPairs = map[int][]float64{4: {1}, 6: {1, 2}, 7: {1, 2, 0.5}, 8: {1, 2, 0.5}}

// mapper emits maps: an instruction level, and the constants of the map at hand.
type mapper struct {
	emit.ISA
	kept *kept
}

// Map is a map of a form, F(m x m, r x r).
type Map struct {
	Name string
	Emit func()
}

// Maps lists the six maps of F(m x m, r x r).
func Maps(s emit.ISA, m, r int) (list []Map) {
	w := mapper{s, &kept{}}
	for _, l := range w.minimal(m, r) {
		list = append(list, Map{l.name, func() { w.twice(l) }})
	}
	return list
}

// minimal returns the maps of F(m,r) as Toom and Cook made them: the polynomial of the inputs through all points but one for
// each point, values of the polynomials of weights and outputs at the points, and the transposes of these.
func (s mapper) minimal(m, r int) []linear {
	edge := m + r - 1
	pairs := pointPairs[edge]
	scale := make([]float64, len(pairs))
	ones := make([]float64, len(pairs))
	for i, p := range pairs {
		scale[i], ones[i] = 1/(2*p*p*valueAt(p*p, others(pairs, i))), 1
	}
	zero := 1 / math.Abs(valueAt(0, pairs))
	return []linear{
		{"Input", edge, edge, false, false, func(x []reg.VecVirtual) []reg.VecVirtual { return s.through(x, pairs) }},
		{"Output", edge, m, true, false, func(x []reg.VecVirtual) []reg.VecVirtual { return s.transposed(x, m, pairs, 1, ones) }},
		{"Weights", r, edge, false, false, func(x []reg.VecVirtual) []reg.VecVirtual { return s.values(x, edge, pairs, zero, scale) }},
		{"OutputGrad", m, edge, false, false, func(x []reg.VecVirtual) []reg.VecVirtual { return s.values(x, edge, pairs, 1, ones) }},
		{"WeightsGrad", edge, r, false, false, func(x []reg.VecVirtual) []reg.VecVirtual { return s.transposed(x, r, pairs, zero, scale) }},
		{"InputGrad", edge, edge, false, true, func(x []reg.VecVirtual) []reg.VecVirtual { return s.throughTransposed(x, pairs) }},
	}
}

// others returns all numbers of a list but number i.
func others(all []float64, i int) []float64 {
	return slices.Delete(slices.Clone(all), i, i+1)
}

// product returns the coefficients, lowest first, of the product of z-p*p over the pairs.
func product(pairs []float64) []float64 {
	c := []float64{1}
	for _, p := range pairs {
		next := make([]float64, len(c)+1)
		for i, v := range c {
			next[i+1] += v
			next[i] -= p * p * v
		}
		c = next
	}
	return c
}

// valueAt is the value of product(pairs) at z.
func valueAt(z float64, pairs []float64) float64 {
	v := 1.0
	for _, p := range pairs {
		v *= z - p*p
	}
	return v
}

// through maps inputs: for the point 0 and infinity with the product over all pairs, for p and -p with that over the others, times
// x*(x+p) and x*(x-p).
func (s mapper) through(x []reg.VecVirtual, pairs []float64) []reg.VecVirtual {
	all := product(pairs)
	var infinity []reg.VecVirtual
	if hasInfinity(len(x)) {
		infinity = append(infinity, s.combine(every(x, 1), all))
	}
	if all[0] < 0 {
		all = negated(all)
	}
	points := []reg.VecVirtual{s.combine(every(x, 0), all)}
	for i, p := range pairs {
		c := product(others(pairs, i))
		points = append(points, s.pair(s.combine(every(x, 2), c), s.combine(every(x, 1), c), p)...)
	}
	return append(points, infinity...)
}

// throughTransposed is the transpose of through: each input gets the sum of the points' products, times the input's coefficients.
func (s mapper) throughTransposed(x []reg.VecVirtual, pairs []float64) []reg.VecVirtual {
	all := product(pairs)
	zero := all
	if all[0] < 0 {
		zero = negated(all)
	}
	terms, c := make([][]reg.VecVirtual, len(x)), make([][]float64, len(x))
	give := func(from reg.VecVirtual, coefficients []float64, first int) {
		for k, v := range coefficients {
			to := first + 2*k
			terms[to], c[to] = append(terms[to], from), append(c[to], v)
		}
	}
	give(x[0], zero, 0)
	if hasInfinity(len(x)) {
		give(x[len(x)-1], all, 1)
	}
	for i, p := range pairs {
		plus, minus := x[2*i+1], x[2*i+2]
		rest := product(others(pairs, i))
		give(s.Add(plus, minus), rest, 2)
		give(s.Sub(plus, minus), scaledBy(rest, p), 1)
	}
	results := make([]reg.VecVirtual, len(x))
	for k := range results {
		results[k] = s.combine(terms[k], c[k])
	}
	return results
}

// hasInfinity reports whether infinity is one of as many points as the edge of a square has.
func hasInfinity(edge int) bool { return edge%2 == 0 }

// values maps the coefficients of a polynomial to its values at as many points as edge, zero and scale being factors of those at 0
// and at the pairs.
func (s mapper) values(x []reg.VecVirtual, edge int, pairs []float64, zero float64, scale []float64) []reg.VecVirtual {
	points := []reg.VecVirtual{s.combine(x[:1], []float64{zero})}
	for i, p := range pairs {
		even := s.combine(every(x, 0), powers(p*p, scale[i], len(x)))
		odd := s.combine(every(x, 1), powers(p*p, 1, len(x)))
		points = append(points, s.pair(even, odd, p*scale[i])...)
	}
	if hasInfinity(edge) {
		points = append(points, x[len(x)-1])
	}
	return points
}

// transposed is the transpose of values, with n results.
func (s mapper) transposed(x []reg.VecVirtual, n int, pairs []float64, zero float64, scale []float64) []reg.VecVirtual {
	var sums, differences []reg.VecVirtual
	for i := range pairs {
		sums = append(sums, s.Add(x[2*i+1], x[2*i+2]))
		differences = append(differences, s.Sub(x[2*i+1], x[2*i+2]))
	}
	results := make([]reg.VecVirtual, n)
	for k := range results {
		terms, c := sums, make([]float64, len(pairs))
		if k%2 == 1 {
			terms = differences
		}
		for i, p := range pairs {
			c[i] = scale[i] * math.Pow(p, float64(k))
		}
		if k == 0 {
			terms, c = append([]reg.VecVirtual{x[0]}, terms...), append([]float64{zero}, c...)
		}
		if k == n-1 && hasInfinity(len(x)) {
			terms, c = append([]reg.VecVirtual{x[len(x)-1]}, terms...), append([]float64{1}, c...)
		}
		results[k] = s.combine(terms, c)
	}
	return results
}

// every returns every second of the vectors, beginning with a given one.
func every(x []reg.VecVirtual, first int) (list []reg.VecVirtual) {
	for i := first; i < len(x); i += 2 {
		list = append(list, x[i])
	}
	return list
}

// powers are c, c*z, c*z*z ..., n of them.
func powers(z, c float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = c
		c *= z
	}
	return list
}

func negated(c []float64) []float64 { return scaledBy(c, -1) }

func scaledBy(c []float64, by float64) []float64 {
	n := make([]float64, len(c))
	for i, v := range c {
		n[i] = by * v
	}
	return n
}

// pair returns even + p*odd and even - p*odd.
func (s mapper) pair(even, odd reg.VecVirtual, p float64) []reg.VecVirtual {
	if p == 1 {
		return []reg.VecVirtual{s.Add(even, odd), s.Sub(even, odd)}
	}
	return []reg.VecVirtual{s.Fma(odd, s.kept.f(p), even), s.Fnma(odd, s.kept.f(p), even)}
}

// combine returns the sum of c[i]*x[i], as far as both go. It may be one of x.
func (s mapper) combine(x []reg.VecVirtual, c []float64) reg.VecVirtual {
	n := min(len(x), len(c))
	x, c = x[:n], c[:n]
	first := max(0, slices.Index(c, 1))
	sum := x[first]
	if c[first] != 1 {
		sum = s.Mul(sum, s.kept.f(c[first]))
	}
	for i, v := range x {
		switch {
		case i == first:
		case c[i] == 1:
			sum = s.Add(sum, v)
		case c[i] == -1:
			sum = s.Sub(sum, v)
		default:
			sum = s.Fma(v, s.kept.f(c[i]), sum)
		}
	}
	return sum
}

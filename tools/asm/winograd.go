package main

import (
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// linear is a one-dimensional map from in values to out values.
type linear struct {
	name    string
	in, out int
	biased  bool
	added   bool // to what dst holds
	apply   func(x []reg.VecVirtual) []reg.VecVirtual
}

// winogradPairs are, by the edge of squares, the numbers that are points together with their negatives. 0 is a point of all, infinity
// of those whose edge is even.
var winogradPairs = map[int][]float64{4: {1}, 6: {1, 2}, 7: {1, 2, 0.5}, 8: {1, 2, 0.5}}

// winograd emits a map of F(m x m, r x r).
func (s isa) winograd(kind string, m, r int) {
	s.kept = &kept{}
	for _, l := range s.minimal(m, r) {
		if l.name == kind {
			s.twice(l)
			return
		}
	}
	panic("there is no Winograd map " + kind)
}

// minimal returns the maps of F(m,r) as Toom and Cook made them: the polynomial of the inputs through all points but one for
// each point, values of the polynomials of weights and outputs at the points, and the transposes of these.
func (s isa) minimal(m, r int) []linear {
	edge := m + r - 1
	pairs := winogradPairs[edge]
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

// others are all numbers but number i.
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
func (s isa) through(x []reg.VecVirtual, pairs []float64) []reg.VecVirtual {
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

// throughTransposed is the transpose of through: of each point's product, a coefficient's share goes to the input that it is for.
func (s isa) throughTransposed(x []reg.VecVirtual, pairs []float64) []reg.VecVirtual {
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
		give(s.add(plus, minus), rest, 2)
		give(s.sub(plus, minus), scaledBy(rest, p), 1)
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
func (s isa) values(x []reg.VecVirtual, edge int, pairs []float64, zero float64, scale []float64) []reg.VecVirtual {
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
func (s isa) transposed(x []reg.VecVirtual, n int, pairs []float64, zero float64, scale []float64) []reg.VecVirtual {
	var sums, differences []reg.VecVirtual
	for i := range pairs {
		sums = append(sums, s.add(x[2*i+1], x[2*i+2]))
		differences = append(differences, s.sub(x[2*i+1], x[2*i+2]))
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

// every is every second of the vectors, from one on.
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
func (s isa) pair(even, odd reg.VecVirtual, p float64) []reg.VecVirtual {
	if p == 1 {
		return []reg.VecVirtual{s.add(even, odd), s.sub(even, odd)}
	}
	return []reg.VecVirtual{s.fma(odd, s.kept.f(p), even), s.fnma(odd, s.kept.f(p), even)}
}

// combine returns the sum of c[i]*x[i], as far as both go. It may be one of x.
func (s isa) combine(x []reg.VecVirtual, c []float64) reg.VecVirtual {
	n := min(len(x), len(c))
	x, c = x[:n], c[:n]
	first := max(0, slices.Index(c, 1))
	sum := x[first]
	if c[first] != 1 {
		sum = s.mul(sum, s.kept.f(c[first]))
	}
	for i, v := range x {
		switch {
		case i == first:
		case c[i] == 1:
			sum = s.add(sum, v)
		case c[i] == -1:
			sum = s.sub(sum, v)
		default:
			sum = s.fma(v, s.kept.f(c[i]), sum)
		}
	}
	return sum
}

// twice emits a map applied to the rows and then to the columns of n squares of vectors. strides holds, in values, those
// between the rows, columns and squares of src, then of dst; tmp has room for a vector of each row and result; bias is
// a vector that is added to the results of maps that are biased, and another, 64 bytes behind it, below which they do not go.
func (s isa) twice(l linear) {
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	tmp := Load(Param("tmp"), GP64())
	strides := Load(Param("strides"), GP64())
	n := Load(Param("n"), GP64())
	var bias reg.Register
	var b reg.VecVirtual
	if l.biased {
		bias = Load(Param("bias"), GP64())
		b = s.load(Mem{Base: bias})
	}
	field := func(i int) reg.GPVirtual {
		r := GP64()
		MOVQ(Mem{Base: strides, Disp: 8 * i}, r)
		SHLQ(Imm(2), r)
		return r
	}
	wide := 4 * s.w
	stay := s.columnsKept(l)
	held := make([][]reg.VecVirtual, stay)
	*s.kept = kept{s: s}
	s.kept.begin()
	Label("square")
	row, at := field(0), GP64()
	MOVQ(src, at)
	columns := multiples(field(1))
	for i := 0; i < l.in; i++ {
		x := make([]reg.VecVirtual, l.in)
		for j := range x {
			x[j] = s.load(columns(at, j))
		}
		for j, v := range l.apply(x) {
			if j < stay {
				held[j] = append(held[j], v)
				continue
			}
			VMOVUPS(v, Mem{Base: tmp, Disp: (i*l.out + j) * wide})
		}
		if i+1 < l.in {
			ADDQ(row, at)
		}
	}
	column, to := field(4), GP64()
	MOVQ(dst, to)
	rows := multiples(field(3))
	for j := 0; j < l.out; j++ {
		x := make([]reg.VecVirtual, l.in)
		for i := range x {
			if j < stay {
				x[i] = held[j][i]
				continue
			}
			x[i] = s.load(Mem{Base: tmp, Disp: (i*l.out + j) * wide})
		}
		for i, v := range l.apply(x) {
			if l.biased {
				v = s.max(s.load(Mem{Base: bias, Disp: pixelBytes}), s.add(v, b))
			}
			if l.added {
				v = s.add(v, rows(to, i))
			}
			VMOVUPS(v, rows(to, i))
		}
		if j+1 < l.out {
			ADDQ(column, to)
		}
	}
	ADDQ(field(2), src)
	ADDQ(field(5), dst)
	DECQ(n)
	JNE(LabelRef("square"))
	VZEROUPPER()
	RET()
	s.kept.end("square")
}

// columnsKept is how many columns of a half-mapped square stay in registers: storing them, to load them soon after, takes longer than mapping.
func (s isa) columnsKept(l linear) int {
	if s.w < 16 {
		return 0
	}
	return max(0, min(l.out, (32-l.in-l.out-8)/l.in))
}

// kept are constant vectors that a loop has in registers, where there are as many: those of 64 bytes would lie across two lines each, since
// Go aligns none by more than 32, and loading such takes twice as long.
type kept struct {
	s       isa
	values  []float64
	vectors []reg.VecVirtual
}

// f is a constant vector.
func (h *kept) f(x float64) Op {
	if h.s.w < 16 {
		return h.s.f(x)
	}
	i := slices.Index(h.values, x)
	if i < 0 {
		i = len(h.values)
		h.values, h.vectors = append(h.values, x), append(h.vectors, h.s.v())
	}
	return h.vectors[i]
}

// begin stands before the loop, end behind the function: what the loop needs is known only there.
func (h *kept) begin() {
	if h.s.w == 16 {
		JMP(LabelRef("constants"))
	}
}

func (h *kept) end(loop string) {
	if h.s.w < 16 {
		return
	}
	Label("constants")
	for i, x := range h.values {
		VMOVUPS(h.s.f(x), h.vectors[i])
	}
	JMP(LabelRef(loop))
}

// multiples returns a function that addresses up to eight places a stride apart.
func multiples(stride reg.GPVirtual) func(base reg.Register, i int) Mem {
	three, five, seven := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, five)
	LEAQ(Mem{Base: three, Index: stride, Scale: 4}, seven)
	odd := map[int]reg.GPVirtual{1: stride, 3: three, 5: five, 7: seven}
	return func(base reg.Register, i int) Mem {
		if i == 0 {
			return Mem{Base: base}
		}
		scale := i & -i
		return Mem{Base: base, Index: odd[i/scale], Scale: uint8(scale)}
	}
}

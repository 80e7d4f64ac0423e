package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// linear is a one-dimensional map from in values to out values.
type linear struct {
	name    string
	in, out int
	biased  bool
	apply   func(x []reg.VecVirtual) []reg.VecVirtual
}

// winograd emits the maps of F(2x2,3x3) and F(4x4,3x3).
func (s isa) winograd() {
	for _, l := range append(s.winograd2(), s.winograd4()...) {
		s.twice(l)
	}
}

// winograd2 are the maps of F(2,3), whose points are 0, 1, -1 and infinity.
func (s isa) winograd2() []linear {
	half := s.f(0.5)
	return []linear{
		{"winogradInput2", 4, 4, false, func(d []reg.VecVirtual) []reg.VecVirtual {
			return []reg.VecVirtual{s.sub(d[0], d[2]), s.add(d[1], d[2]), s.sub(d[2], d[1]), s.sub(d[1], d[3])}
		}},
		{"winogradOutput2", 4, 2, true, func(m []reg.VecVirtual) []reg.VecVirtual {
			return []reg.VecVirtual{s.add(m[0], s.add(m[1], m[2])), s.sub(s.sub(m[1], m[2]), m[3])}
		}},
		{"winogradWeights2", 3, 4, false, func(w []reg.VecVirtual) []reg.VecVirtual {
			even := s.mul(s.add(w[0], w[2]), half)
			return []reg.VecVirtual{w[0], s.fma(w[1], half, even), s.fnma(w[1], half, even), w[2]}
		}},
		{"winogradOutputGrad2", 2, 4, false, func(y []reg.VecVirtual) []reg.VecVirtual {
			return []reg.VecVirtual{y[0], s.add(y[0], y[1]), s.sub(y[0], y[1]), s.sub(s.zero(), y[1])}
		}},
		{"winogradWeightsGrad2", 4, 3, false, func(m []reg.VecVirtual) []reg.VecVirtual {
			sum, difference := s.add(m[1], m[2]), s.sub(m[1], m[2])
			return []reg.VecVirtual{s.fma(sum, half, m[0]), s.mul(difference, half), s.fma(sum, half, m[3])}
		}},
	}
}

// winograd4 are the maps of F(4,3), whose points are 0, 1, -1, 2, -2 and infinity.
func (s isa) winograd4() []linear {
	return []linear{
		{"winogradInput4", 6, 6, false, func(d []reg.VecVirtual) []reg.VecVirtual {
			one, other := s.fnma(d[2], s.f(4), d[4]), s.fnma(d[1], s.f(4), d[3])
			two, half := s.sub(d[4], d[2]), s.sub(d[3], d[1])
			return []reg.VecVirtual{
				s.fma(d[0], s.f(4), s.fnma(d[2], s.f(5), d[4])), s.add(one, other), s.sub(one, other),
				s.fma(half, s.f(2), two), s.fnma(half, s.f(2), two), s.fma(d[1], s.f(4), s.fnma(d[3], s.f(5), d[5])),
			}
		}},
		{"winogradOutput4", 6, 4, true, func(m []reg.VecVirtual) []reg.VecVirtual {
			a, b, c, d := s.add(m[1], m[2]), s.sub(m[1], m[2]), s.add(m[3], m[4]), s.sub(m[3], m[4])
			return []reg.VecVirtual{s.add(m[0], s.add(a, c)), s.fma(d, s.f(2), b), s.fma(c, s.f(4), a), s.fma(d, s.f(8), s.add(b, m[5]))}
		}},
		{"winogradWeights4", 3, 6, false, func(w []reg.VecVirtual) []reg.VecVirtual {
			even, odd := s.mul(s.add(w[0], w[2]), s.f(-1./6)), s.mul(w[1], s.f(-1./6))
			far, near := s.fma(w[2], s.f(1./6), s.mul(w[0], s.f(1./24))), s.mul(w[1], s.f(1./12))
			return []reg.VecVirtual{s.mul(w[0], s.f(0.25)), s.add(even, odd), s.sub(even, odd), s.add(far, near), s.sub(far, near), w[2]}
		}},
		{"winogradOutputGrad4", 4, 6, false, func(y []reg.VecVirtual) []reg.VecVirtual {
			a, b := s.add(y[0], y[2]), s.add(y[1], y[3])
			c, d := s.fma(y[2], s.f(4), y[0]), s.fma(y[3], s.f(4), y[1])
			return []reg.VecVirtual{y[0], s.add(a, b), s.sub(a, b), s.fma(d, s.f(2), c), s.fnma(d, s.f(2), c), y[3]}
		}},
		{"winogradWeightsGrad4", 6, 3, false, func(m []reg.VecVirtual) []reg.VecVirtual {
			a, b, c, d := s.add(m[1], m[2]), s.sub(m[2], m[1]), s.add(m[3], m[4]), s.sub(m[3], m[4])
			return []reg.VecVirtual{
				s.fma(c, s.f(1./24), s.fnma(a, s.f(1./6), s.mul(m[0], s.f(0.25)))),
				s.fma(d, s.f(1./12), s.mul(b, s.f(1./6))),
				s.fma(s.sub(c, a), s.f(1./6), m[5]),
			}
		}},
	}
}

// twice emits a map applied to the rows and then to the columns of n squares of vectors. strides holds, in values, those
// between the rows, columns and squares of src, then of dst; tmp has room for a vector of each row and result; bias is
// a vector that is added to the results of maps that are biased.
func (s isa) twice(l linear) {
	name := l.name + s.tag
	TEXT(name, NOSPLIT, "func(dst, src, tmp, bias *float32, strides *int, n int)")
	Pragma("noescape")
	Doc(name + " maps squares of vectors.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	tmp := Load(Param("tmp"), GP64())
	strides := Load(Param("strides"), GP64())
	n := Load(Param("n"), GP64())
	var b reg.VecVirtual
	if l.biased {
		b = s.load(Mem{Base: Load(Param("bias"), GP64())})
	}
	field := func(i int) reg.GPVirtual {
		r := GP64()
		MOVQ(Mem{Base: strides, Disp: 8 * i}, r)
		SHLQ(Imm(2), r)
		return r
	}
	wide := 4 * s.w
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
			x[i] = s.load(Mem{Base: tmp, Disp: (i*l.out + j) * wide})
		}
		for i, v := range l.apply(x) {
			if l.biased {
				v = s.add(v, b)
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
}

// multiples returns a function that addresses up to six places a stride apart.
func multiples(stride reg.GPVirtual) func(base reg.Register, i int) Mem {
	three, five := GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, five)
	return func(base reg.Register, i int) Mem {
		switch i {
		case 0:
			return Mem{Base: base}
		case 1, 2, 4:
			return Mem{Base: base, Index: stride, Scale: uint8(i)}
		case 3:
			return Mem{Base: base, Index: three, Scale: 1}
		case 5:
			return Mem{Base: base, Index: five, Scale: 1}
		}
		panic(fmt.Sprint("no address for multiple ", i))
	}
}

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumRows emits loops that add up rows of n columns, ld apart, in their order: four vectors of columns at a time, then one, of which
// the last is masked. term adds a row's values to their sum; finish gets a sum and where its columns are from the start of a row.
func (s isa) sumRows(src, ld, rows, n, words reg.Register, term func(x Mem, mask reg.Register, sum reg.VecVirtual),
	finish func(sum reg.VecVirtual, disp int, mask reg.Register), advance func(bytes Op)) {
	SHLQ(Imm(2), ld)
	at, left := GP64(), GP64()
	columns := func(label string, count int, mask reg.Register) {
		sums := make([]reg.VecVirtual, count)
		for u := range sums {
			sums[u] = s.zero()
		}
		MOVQ(src, at)
		MOVQ(rows, left)
		Label(label + "row")
		for u, sum := range sums {
			term(Mem{Base: at, Disp: 4 * s.w * u}, mask, sum)
		}
		ADDQ(ld, at)
		DECQ(left)
		JNE(LabelRef(label + "row"))
		for u, sum := range sums {
			finish(sum, 4*s.w*u, mask)
		}
		ADDQ(U32(4*s.w*count), src)
		advance(U32(4 * s.w * count))
		SUBQ(U32(count*s.w), n)
	}
	Label("four")
	CMPQ(n, U32(4*s.w))
	JLT(LabelRef("one"))
	columns("four", 4, nil)
	JMP(LabelRef("four"))
	Label("one")
	CMPQ(n, Imm(0))
	JLE(LabelRef("done"))
	columns("one", 1, s.upTo(n, words))
	JMP(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}

// eachColumn emits a loop over n columns, some vectors at a time, then one, of which the last is masked. body gets the vectors' distances
// in bytes from the index, which counts bytes from the first column on.
func (s isa) eachColumn(n, words reg.Register, vectors int, body func(at reg.Register, disps []int, mask reg.Register)) {
	at := GP64()
	XORQ(at, at)
	step := func(count int, mask reg.Register) {
		var disps []int
		for u := range count {
			disps = append(disps, 4*s.w*u)
		}
		body(at, disps, mask)
		ADDQ(U32(4*s.w*count), at)
		SUBQ(U32(s.w*count), n)
	}
	Label("many")
	CMPQ(n, U32(s.w*vectors))
	JLT(LabelRef("one"))
	step(vectors, nil)
	JMP(LabelRef("many"))
	Label("one")
	CMPQ(n, Imm(0))
	JLE(LabelRef("done"))
	step(1, s.upTo(n, words))
	JMP(LabelRef("one"))
	Label("done")
}

// sumShifted emits dst[j] = Σp src[offs[p]+j] over p < k, the offs being one behind another, for n values.
func (s isa) sumShifted() {
	dst, src, offs := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("offs"), GP64())
	k, n, words := Load(Param("k"), GP64()), Load(Param("n"), GP64()), Load(Param("words"), GP64())
	run, next, left := GP64(), GP64(), GP64()
	s.eachColumn(n, words, 4, func(at reg.Register, disps []int, mask reg.Register) {
		loop := fmt.Sprintf("run%d", len(disps))
		sums := s.zeros(len(disps))
		MOVQ(offs, next)
		MOVQ(k, left)
		Label(loop)
		MOVQ(Mem{Base: next}, run)
		LEAQ(Mem{Base: src, Index: run, Scale: 4}, run)
		for u, d := range disps {
			VADDPS(s.loadWhole(Mem{Base: run, Index: at, Scale: 1, Disp: d}, mask), sums[u], sums[u])
		}
		ADDQ(Imm(8), next)
		DECQ(left)
		JNE(LabelRef(loop))
		for u, d := range disps {
			s.storeWhole(sums[u], Mem{Base: dst, Index: at, Scale: 1, Disp: d}, mask)
		}
	})
	VZEROUPPER()
	RET()
}

// upTo makes the mask of the first n lanes, of all if n is more than there are.
func (s isa) upTo(n, words reg.Register) reg.Register {
	lanes, table := GP64(), GP64()
	MOVQ(U32(s.w), lanes)
	CMPQ(n, lanes)
	CMOVQLT(n, lanes)
	NEGQ(lanes)
	LEAQ(Mem{Base: words, Index: lanes, Scale: 4}, table)
	return s.mask(table)
}

// loadWhole loads a whole vector if mask is nil, else its lanes of the mask.
func (s isa) loadWhole(m Mem, mask reg.Register) reg.VecVirtual {
	if mask == nil {
		return s.load(m)
	}
	return s.loadMasked(m, mask)
}

// storeWhole stores a whole vector if mask is nil, else its lanes of the mask.
func (s isa) storeWhole(v reg.VecVirtual, m Mem, mask reg.Register) {
	if mask == nil {
		VMOVUPS(v, m)
		return
	}
	s.storeMasked(v, m, mask)
}

// constant is a vector of a float32 parameter.
func (s isa) constant(param string) reg.VecVirtual {
	p, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	v := s.v()
	VBROADCASTSS(p.Addr, v)
	return v
}

func gp(param string) reg.Register { return Load(Param(param), GP64()) }

// sumSquares emits scale times the sums of the squares of rows, plus shift, which local response normalisation wants of channels.
func (s isa) sumSquares() {
	dst := gp("dst")
	scale, shift := s.constant("scale"), s.constant("shift")
	s.sumRows(gp("src"), gp("ld"), gp("rows"), gp("n"), gp("words"),
		func(x Mem, mask reg.Register, sum reg.VecVirtual) {
			v := s.loadWhole(x, mask)
			VFMADD231PS(v, v, sum)
		},
		func(sum reg.VecVirtual, disp int, mask reg.Register) {
			s.storeWhole(s.fma(sum, scale, shift), Mem{Base: dst, Disp: disp}, mask)
		},
		func(bytes Op) { ADDQ(bytes, dst) })
}

// mulAddRows emits dst += scale*x*(the sum of rows).
func (s isa) mulAddRows() {
	dst, factor := gp("dst"), gp("x")
	by := s.constant("scale")
	s.sumRows(gp("src"), gp("ld"), gp("rows"), gp("n"), gp("words"),
		func(x Mem, mask reg.Register, sum reg.VecVirtual) { VADDPS(s.loadWhole(x, mask), sum, sum) },
		func(sum reg.VecVirtual, disp int, mask reg.Register) {
			x := s.mul(s.loadWhole(Mem{Base: factor, Disp: disp}, mask), by)
			s.storeWhole(s.fma(sum, x, s.loadWhole(Mem{Base: dst, Disp: disp}, mask)), Mem{Base: dst, Disp: disp}, mask)
		},
		func(bytes Op) {
			ADDQ(bytes, dst)
			ADDQ(bytes, factor)
		})
}

// powRatio emits own[i] = dy[i]*s[i]^-0.75 and ratio[i] = dy[i]*y/s[i] with y = x[i]*s[i]^-0.75, s^-1 being the square of s^-0.5 where that
// is at hand.
func (s isa) powRatio() {
	own, ratio, dy, x, scale, n, words := gp("own"), gp("ratio"), gp("dy"), gp("x"), gp("s"), gp("n"), gp("words")
	vector := func(disp int, mask reg.Register) {
		at := func(base reg.Register) Mem { return Mem{Base: base, Disp: disp} }
		g, power := s.loadWhole(at(dy), mask), s.loadWhole(at(scale), mask)
		p, root := s.invPow75(power)
		s.storeWhole(s.mul(g, p), at(own), mask)
		g = s.mul(g, s.mul(s.loadWhole(at(x), mask), p))
		if s.w == 16 {
			g = s.mul(s.mul(g, root), root)
		} else {
			g = s.div(g, power)
		}
		s.storeWhole(g, at(ratio), mask)
	}
	step := func(count int, mask reg.Register) {
		for u := range count {
			vector(4*s.w*u, mask)
		}
		for _, r := range []reg.Register{own, ratio, dy, x, scale} {
			ADDQ(U32(4*s.w*count), r)
		}
		SUBQ(U32(s.w*count), n)
	}
	Label("two")
	CMPQ(n, U32(2*s.w))
	JLT(LabelRef("one"))
	step(2, nil)
	JMP(LabelRef("two"))
	Label("one")
	CMPQ(n, Imm(0))
	JLE(LabelRef("done"))
	step(1, s.upTo(n, words))
	JMP(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}

package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// channelRows returns the constants of a block's channels that parameters point to: in registers where a vector is a row of them,
// which leaves enough; else in memory. The operand of constant i for vector g of a row is rows[g][i]. Slope is one value for all.
func (s isa) channelRows(params ...string) [][]Op {
	rows := make([][]Op, lanes/s.w)
	for _, param := range params {
		p := Load(Param(param), GP64())
		var slope reg.VecVirtual
		if param == "slope" {
			slope = s.v()
			VBROADCASTSS(Mem{Base: p}, slope)
		}
		for g := range rows {
			var row Op = Mem{Base: p, Disp: 4 * s.w * g}
			switch {
			case param == "slope":
				row = slope
			case s.w == lanes:
				row = s.load(row)
			}
			rows[g] = append(rows[g], row)
		}
	}
	return rows
}

// Constants of simd.BlockNormal, and those of its gradient.
const (
	normalParams = "mean, scale, gamma, beta, slope"
	gradParams   = normalParams + ", a, b, c"
)

// ahead is how many bytes before they are needed lines are fetched: a page, since what fetches lines by itself stops where one ends.
const ahead = 4096

// eachPixel emits a loop over n values of arrays, n a multiple of lanes; body gets the index register and each vector of the
// lanes: which it is, and how many bytes behind the index it stands.
func (s isa) eachPixel(arrays []reg.Register, body func(at reg.GPVirtual, g, disp int)) {
	n, at := Load(Param("n"), GP64()), GP64()
	XORQ(at, at)
	Label("loop")
	CMPQ(at, n)
	JGE(LabelRef("done"))
	for _, a := range arrays {
		PREFETCHT0(Mem{Base: a, Index: at, Scale: 4, Disp: ahead})
	}
	for g := range lanes / s.w {
		body(at, g, 4*s.w*g)
	}
	ADDQ(U32(lanes), at)
	JMP(LabelRef("loop"))
	Label("done")
}

// storeLanes stores two sums of each lane one behind the other, of which each vector of the lanes has four registers: the halves of the
// first sum, and those of the second.
func (s isa) storeLanes(acc []reg.VecVirtual) {
	out := Load(Param("out"), GP64())
	for i, sum := range acc {
		g, of, half := i/4, i%4/2, i%2
		VMOVUPD(sum, Mem{Base: out, Disp: 8 * (lanes*of + s.w*g + s.w/2*half)})
	}
	s.ret()
}

// storeSigns stores a bit for each lane, set where a vector is above 0.
func (s isa) storeSigns(v reg.VecVirtual, to reg.Register) {
	if s.w == lanes {
		above := K()
		VCMPPS(Imm(cmpGT), s.f(0), v, above)
		KMOVW(above, Mem{Base: to})
		return
	}
	above, bits := s.v(), GP32()
	VCMPPS(Imm(cmpGT), s.f(0), v, above)
	VMOVMSKPS(above, bits)
	MOVB(bits.As8(), Mem{Base: to})
}

// bySigns returns yes in the lanes whose bits are set and no elsewhere.
func (s isa) bySigns(signs reg.Register, yes, no reg.VecVirtual) reg.VecVirtual {
	r := s.v()
	if s.w == lanes {
		above := K()
		KMOVW(Mem{Base: signs}, above)
		VBLENDMPS(yes, no, above, r)
		return r
	}
	bits := s.words("laneBits", func(lane int) int { return 1 << lane })
	above := s.v()
	VPBROADCASTB(Mem{Base: signs}, above)
	VPAND(bits, above, above)
	VPCMPEQD(bits, above, above)
	VBLENDVPS(above, yes, no, r)
	return r
}

// blockMoments emits Σ x and Σ (x-pivot)² of each lane, in float64.
func (s isa) blockMoments() {
	p := s.channelRows("pivot")
	x := Load(Param("x"), GP64())
	acc := s.zeros(4 * len(p))
	s.eachPixel([]reg.Register{x}, func(at reg.GPVirtual, g, disp int) {
		s.addMoments(acc[4*g:], s.load(Mem{Base: x, Index: at, Scale: 4, Disp: disp}), p[g][0])
	})
	s.storeLanes(acc)
}

// blockNormalise emits y of simd.Normal with the constants of each lane.
func (s isa) blockNormalise() {
	p := s.channelRows(strings.Split(normalParams, ", ")...)
	x := Load(Param("x"), GP64())
	y := Load(Param("y"), GP64())
	s.eachPixel([]reg.Register{x, y}, func(at reg.GPVirtual, g, disp int) {
		v := s.rectified(Mem{Base: x, Index: at, Scale: 4, Disp: disp}, p[g])
		VMOVUPS(v, Mem{Base: y, Index: at, Scale: 4, Disp: disp})
	})
	s.ret()
}

// blockNormaliseAdd emits what blockNormalise makes without a slope, plus other, rectified; unless signs is nil it gets the signs of the sums.
func (s isa) blockNormaliseAdd() {
	p := s.channelRows(strings.Split(normalParams, ", ")...)
	x := Load(Param("x"), GP64())
	y := Load(Param("y"), GP64())
	other := Load(Param("other"), GP64())
	signs := Load(Param("signs"), GP64())
	s.eachPixel([]reg.Register{x, y, other}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		_, v := s.chain(s.load(based(mem, x)), p[g])
		VADDPS(based(mem, other), v, v)
		VMOVUPS(s.sel(cmpLT, v, s.f(0), s.mul(v, p[g][4]), v), based(mem, y))
		unsigned := fmt.Sprintf("unsigned%d", g)
		TESTQ(signs, signs)
		JEQ(LabelRef(unsigned))
		s.storeSigns(v, signs)
		ADDQ(Imm(uint64(s.w/8)), signs)
		Label(unsigned)
	})
	s.ret()
}

// blockNormaliseSums emits Σ g*xn and Σ g of each lane, in float64.
func (s isa) blockNormaliseSums() {
	p := s.channelRows(strings.Split(normalParams, ", ")...)
	x := Load(Param("x"), GP64())
	dy := Load(Param("dy"), GP64())
	acc := s.zeros(4 * len(p))
	s.eachPixel([]reg.Register{dy, x}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		xn, grad := s.rectifiedGrad(based(mem, dy), based(mem, x), p[g])
		s.sumGradient(acc[4*g:], xn, grad)
	})
	s.storeLanes(acc)
}

// blockMaskSums emits g, which is dy, times the slope where its sign is not set, and the sums of blockNormaliseSums for it.
func (s isa) blockMaskSums() {
	p := s.channelRows("mean", "scale", "slope")
	x := Load(Param("x"), GP64())
	signs := Load(Param("signs"), GP64())
	dy := Load(Param("dy"), GP64())
	grad := Load(Param("grad"), GP64())
	acc := s.zeros(4 * len(p))
	s.eachPixel([]reg.Register{dy, x}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		made := s.load(based(mem, dy))
		made = s.bySigns(signs, made, s.mul(made, p[g][2]))
		ADDQ(Imm(uint64(s.w/8)), signs)
		VMOVUPS(made, based(mem, grad))
		s.sumGradient(acc[4*g:], s.mul(s.sub(s.load(based(mem, x)), p[g][0]), p[g][1]), made)
	})
	s.storeLanes(acc)
}

// blockNormaliseGrad emits A*(g - B - C*xn) of each lane.
func (s isa) blockNormaliseGrad() {
	p := s.channelRows(strings.Split(gradParams, ", ")...)
	x := Load(Param("x"), GP64())
	dy := Load(Param("dy"), GP64())
	dx := Load(Param("dx"), GP64())
	s.eachPixel([]reg.Register{dx, dy, x}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		xn, grad := s.rectifiedGrad(based(mem, dy), based(mem, x), p[g])
		VMOVUPS(s.mul(s.fnma(xn, p[g][7], s.sub(grad, p[g][6])), p[g][5]), based(mem, dx))
	})
	s.ret()
}

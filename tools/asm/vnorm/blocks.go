package vnorm

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// channelRows returns the constants of a block's channels that parameters point to. They are in registers if there are enough beside the sums, else in
// memory. The operand of constant i for vector g of a row is rows[g][i]. Slope is one value for all.
func channelRows(s emit.ISA, sums int, params ...string) [][]Op {
	rows := make([][]Op, emit.Lanes/s.Width)
	held := s.Registers == 32 && sums+len(params)*len(rows) <= 20
	for _, param := range params {
		p := emit.GP(param)
		var slope reg.VecVirtual
		if param == "slope" {
			slope = s.V()
			VBROADCASTSS(Mem{Base: p}, slope)
		}
		for g := range rows {
			var row Op = Mem{Base: p, Disp: 4 * s.Width * g}
			switch {
			case param == "slope":
				row = slope
			case held:
				row = s.Load(row)
			}
			rows[g] = append(rows[g], row)
		}
	}
	return rows
}

// sumsOf is the number of registers of two sums of each channel of a block, in float64.
func sumsOf(s emit.ISA) int { return 4 * emit.Lanes / s.Width }

// Constants of a vnorm.Block, and those of its gradient.
const (
	normalParams = "mean, scale, gamma, beta, slope"
	gradParams   = normalParams + ", a, b, c"
)

// eachPixel emits a loop over n values of arrays, n a multiple of lanes. body is called for each vector of the lanes; it gets the index register,
// the vector's number and its distance in bytes behind the index.
func eachPixel(s emit.ISA, arrays []reg.Register, body func(at reg.GPVirtual, g, disp int)) {
	n, at := emit.GP("n"), GP64()
	XORQ(at, at)
	Label("loop")
	CMPQ(at, n)
	JGE(LabelRef("done"))
	for _, a := range arrays {
		PREFETCHT0(Mem{Base: a, Index: at, Scale: 4, Disp: emit.Ahead})
	}
	for g := range emit.Lanes / s.Width {
		body(at, g, 4*s.Width*g)
	}
	ADDQ(U32(emit.Lanes), at)
	JMP(LabelRef("loop"))
	Label("done")
}

// storeLanes stores two sums of each lane, the second ones behind the first. Each vector of the lanes has four registers: the halves of the first
// sum, and those of the second.
func storeLanes(s emit.ISA, acc []reg.VecVirtual) {
	out := emit.GP("out")
	for i, sum := range acc {
		g, of, half := i/4, i%4/2, i%2
		VMOVUPD(sum, Mem{Base: out, Disp: 8 * (emit.Lanes*of + s.Width*g + s.Width/2*half)})
	}
	s.Ret()
}

// storeSigns stores a bit for each lane of vector g of a pixel, set where it is above 0, and moves to the next byte behind its last bit. half holds the
// bits of half a byte until the other half is there.
func storeSigns(s emit.ISA, v reg.VecVirtual, g int, half reg.VecVirtual, to reg.Register) {
	switch {
	case s.EVEX:
		above := K()
		VCMPPS(Imm(emit.GT), s.F(0), v, above)
		KMOVW(above, Mem{Base: to})
	case s.Width == 8:
		above, bits := s.V(), GP32()
		VCMPPS(Imm(emit.GT), s.F(0), v, above)
		VMOVMSKPS(above, bits)
		MOVB(bits.As8(), Mem{Base: to})
	default:
		above := s.V()
		VCMPPS(Imm(emit.GT), s.F(0), v, above)
		VPAND(laneBits(s, g), above, above)
		if g%2 == 0 {
			VMOVUPS(above, half)
			return
		}
		VPOR(half, above, above)
		bits := GP32()
		emit.AddLanes(above, bits)
		MOVB(bits.As8(), Mem{Base: to})
	}
	nextSigns(s, g, to)
}

// nextSigns moves to the byte with the signs of the vector behind vector g of a pixel.
func nextSigns(s emit.ISA, g int, signs reg.Register) {
	if bits := s.Width * (g + 1); bits%8 == 0 {
		ADDQ(Imm(uint64(max(1, s.Width/8))), signs)
	}
}

// laneBits has the bit of each lane of vector g in a byte of signs.
func laneBits(s emit.ISA, g int) Mem {
	first := s.Width * g % 8
	name := "laneBits"
	if first > 0 {
		name = "upperLaneBits"
	}
	return s.Words(name, func(lane int) int { return 1 << (first + lane) })
}

// bySigns returns yes in the lanes of vector g of a pixel whose bits are set and no elsewhere.
func bySigns(s emit.ISA, signs reg.Register, g int, yes, no reg.VecVirtual) reg.VecVirtual {
	r := s.V()
	if s.EVEX {
		above := K()
		KMOVW(Mem{Base: signs}, above)
		VBLENDMPS(yes, no, above, r)
		return r
	}
	bits := laneBits(s, g)
	above := s.V()
	VPBROADCASTB(Mem{Base: signs}, above)
	VPAND(bits, above, above)
	VPCMPEQD(bits, above, above)
	VBLENDVPS(above, yes, no, r)
	return r
}

// BlockMoments emits Σ x and Σ (x-pivot)² of each lane, in float64.
func BlockMoments(s emit.ISA) {
	p := channelRows(s, sumsOf(s), "pivot")
	x := emit.GP("x")
	acc := s.Zeros(sumsOf(s))
	eachPixel(s, []reg.Register{x}, func(at reg.GPVirtual, g, disp int) {
		addMoments(s, acc[4*g:], s.Load(Mem{Base: x, Index: at, Scale: 4, Disp: disp}), p[g][0])
	})
	storeLanes(s, acc)
}

// BlockNormalise emits y of a vnorm.Row with the constants of each lane.
func BlockNormalise(s emit.ISA) {
	p := channelRows(s, 0, strings.Split(normalParams, ", ")...)
	x := emit.GP("x")
	y := emit.GP("y")
	eachPixel(s, []reg.Register{x, y}, func(at reg.GPVirtual, g, disp int) {
		v := rectified(s, Mem{Base: x, Index: at, Scale: 4, Disp: disp}, p[g])
		VMOVUPS(v, Mem{Base: y, Index: at, Scale: 4, Disp: disp})
	})
	s.Ret()
}

// BlockNormaliseAdd emits v of a vnorm.Row plus other, rectified; unless signs is nil it gets the signs of the sums.
func BlockNormaliseAdd(s emit.ISA) {
	p := channelRows(s, 0, strings.Split(normalParams, ", ")...)
	x := emit.GP("x")
	y := emit.GP("y")
	other := emit.GP("other")
	signs, half := emit.GP("signs"), s.V()
	eachPixel(s, []reg.Register{x, y, other}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		_, v := chain(s, s.Load(emit.Based(mem, x)), p[g])
		VADDPS(emit.Based(mem, other), v, v)
		VMOVUPS(s.Sel(emit.LT, v, s.F(0), s.Mul(v, p[g][4]), v), emit.Based(mem, y))
		unsigned := fmt.Sprintf("unsigned%d", g)
		TESTQ(signs, signs)
		JEQ(LabelRef(unsigned))
		storeSigns(s, v, g, half, signs)
		Label(unsigned)
	})
	s.Ret()
}

// BlockNormaliseSums emits Σ g*xn and Σ g of each lane, in float64.
func BlockNormaliseSums(s emit.ISA) {
	p := channelRows(s, sumsOf(s), strings.Split(normalParams, ", ")...)
	x := emit.GP("x")
	dy := emit.GP("dy")
	acc := s.Zeros(sumsOf(s))
	eachPixel(s, []reg.Register{dy, x}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		xn, grad := rectifiedGrad(s, emit.Based(mem, dy), emit.Based(mem, x), p[g])
		sumGradient(s, acc[4*g:], xn, grad)
	})
	storeLanes(s, acc)
}

// BlockMaskSums emits g, which is dy, times the slope where its sign is not set, and the sums of BlockNormaliseSums for it.
func BlockMaskSums(s emit.ISA) {
	p := channelRows(s, sumsOf(s), "mean", "scale", "slope")
	x := emit.GP("x")
	signs := emit.GP("signs")
	dy := emit.GP("dy")
	grad := emit.GP("grad")
	acc := s.Zeros(sumsOf(s))
	eachPixel(s, []reg.Register{dy, x}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		made := s.Load(emit.Based(mem, dy))
		made = bySigns(s, signs, g, made, s.Mul(made, p[g][2]))
		nextSigns(s, g, signs)
		VMOVUPS(made, emit.Based(mem, grad))
		sumGradient(s, acc[4*g:], s.Mul(s.Sub(s.Load(emit.Based(mem, x)), p[g][0]), p[g][1]), made)
	})
	storeLanes(s, acc)
}

// BlockNormaliseGrad emits A*(g - B - C*xn) of each lane.
func BlockNormaliseGrad(s emit.ISA) {
	p := channelRows(s, 0, strings.Split(gradParams, ", ")...)
	x := emit.GP("x")
	dy := emit.GP("dy")
	dx := emit.GP("dx")
	eachPixel(s, []reg.Register{dx, dy, x}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		xn, grad := rectifiedGrad(s, emit.Based(mem, dy), emit.Based(mem, x), p[g])
		VMOVUPS(s.Mul(s.Fnma(xn, p[g][7], s.Sub(grad, p[g][6])), p[g][5]), emit.Based(mem, dx))
	})
	s.Ret()
}

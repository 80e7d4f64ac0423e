package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reduction emits a sum in float64 lanes over n elements, n a multiple of
// twice the vector width; the lane sums go to out. Lines are fetched ahead.
func (s isa) reduction(two bool, body func(acc, x, y reg.VecVirtual)) {
	out := Load(Param("out"), GP64())
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	arrays := []reg.Register{x}
	var y reg.Register
	if two {
		y = Load(Param("y"), GP64())
		arrays = append(arrays, y)
	}
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = s.v()
		if s.w == 16 {
			VPXORQ(acc[i], acc[i], acc[i])
		} else {
			VXORPD(acc[i], acc[i], acc[i])
		}
	}
	Label("loop")
	CMPQ(n, U32(2*s.w))
	JLT(LabelRef("done"))
	for i := range acc {
		a, at := s.v(), i*2*s.w
		if at%64 == 0 {
			for _, array := range arrays {
				PREFETCHT0(Mem{Base: array, Disp: at + ahead})
			}
		}
		VCVTPS2PD(Mem{Base: x, Disp: at}, a)
		var b reg.VecVirtual
		if two {
			b = s.v()
			VCVTPS2PD(Mem{Base: y, Disp: at}, b)
		}
		body(acc[i], a, b)
	}
	ADDQ(U32(8*s.w), x)
	if two {
		ADDQ(U32(8*s.w), y)
	}
	SUBQ(U32(2*s.w), n)
	JMP(LabelRef("loop"))
	Label("done")
	VADDPD(acc[1], acc[0], acc[0])
	VADDPD(acc[3], acc[2], acc[2])
	VADDPD(acc[2], acc[0], acc[0])
	VMOVUPD(acc[0], Mem{Base: out})
	VZEROUPPER()
	RET()
}

// folding is a reduction: whether it has two operands, and the body that adds half a vector of each.
type folding struct {
	name string
	two  bool
	body func(acc, x, y reg.VecVirtual)
}

// reductions lists the sums.
func reductions() []folding {
	return []folding{
		{"sum", false, func(acc, x, _ reg.VecVirtual) { VADDPD(x, acc, acc) }},
		{"dot", true, func(acc, x, y reg.VecVirtual) { VFMADD231PD(x, y, acc) }},
		{"sumSq", false, func(acc, x, _ reg.VecVirtual) { VFMADD231PD(x, x, acc) }},
		{"absSum", false, func(acc, x, _ reg.VecVirtual) {
			// Shifting the sign bit out and back clears it without a constant.
			VPSLLQ(Imm(1), x, x)
			VPSRLQ(Imm(1), x, x)
			VADDPD(x, acc, acc)
		}},
	}
}

// maxOf emits the maxima of lanes.
func (s isa) maxOf() {
	out := Load(Param("out"), GP64())
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	acc := s.v()
	VMOVUPS(Mem{Base: x}, acc)
	Label("loop")
	CMPQ(n, U32(s.w))
	JLT(LabelRef("done"))
	v := s.load(Mem{Base: x})
	VMOVUPS(s.sel(cmpUnord, v, v, v, s.max(v, acc)), acc)
	ADDQ(U32(4*s.w), x)
	SUBQ(U32(s.w), n)
	JMP(LabelRef("loop"))
	Label("done")
	VMOVUPS(acc, Mem{Base: out})
	VZEROUPPER()
	RET()
}

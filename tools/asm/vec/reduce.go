package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Reduction emits a sum over n elements, n a multiple of twice the vector width, and stores its float64 lanes to out. Lines are fetched ahead.
func Reduction(s emit.ISA, two bool, body func(acc, x, y reg.VecVirtual)) {
	out := emit.GP("out")
	x := emit.GP("x")
	n := emit.GP("n")
	arrays := []reg.Register{x}
	var y reg.Register
	if two {
		y = emit.GP("y")
		arrays = append(arrays, y)
	}
	acc := s.Zeros(4)
	Label("loop")
	CMPQ(n, U32(2*s.Width))
	JLT(LabelRef("done"))
	for i := range acc {
		a, at := s.V(), i*2*s.Width
		if at%64 == 0 {
			for _, array := range arrays {
				PREFETCHT0(Mem{Base: array, Disp: at + emit.Ahead})
			}
		}
		VCVTPS2PD(Mem{Base: x, Disp: at}, a)
		var b reg.VecVirtual
		if two {
			b = s.V()
			VCVTPS2PD(Mem{Base: y, Disp: at}, b)
		}
		body(acc[i], a, b)
	}
	ADDQ(U32(8*s.Width), x)
	if two {
		ADDQ(U32(8*s.Width), y)
	}
	SUBQ(U32(2*s.Width), n)
	JMP(LabelRef("loop"))
	Label("done")
	VADDPD(acc[1], acc[0], acc[0])
	VADDPD(acc[3], acc[2], acc[2])
	VADDPD(acc[2], acc[0], acc[0])
	VMOVUPD(acc[0], Mem{Base: out})
	s.Ret()
}

// Folding is a reduction. Two says that it has two operands; Body adds half a vector of each.
type Folding struct {
	Name string
	Two  bool
	Body func(acc, x, y reg.VecVirtual)
}

// Reductions lists the sums.
func Reductions() []Folding {
	return []Folding{
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

// MaxOf emits the maxima of lanes.
func MaxOf(s emit.ISA) {
	out := emit.GP("out")
	x := emit.GP("x")
	n := emit.GP("n")
	acc := s.V()
	VMOVUPS(Mem{Base: x}, acc)
	Label("loop")
	CMPQ(n, U32(s.Width))
	JLT(LabelRef("done"))
	v := s.Load(Mem{Base: x})
	VMOVUPS(s.Sel(emit.Unord, v, v, v, s.Max(v, acc)), acc)
	ADDQ(U32(4*s.Width), x)
	SUBQ(U32(s.Width), n)
	JMP(LabelRef("loop"))
	Label("done")
	VMOVUPS(acc, Mem{Base: out})
	s.Ret()
}

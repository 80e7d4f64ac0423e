package vnorm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// BlockLeaky emits max(x, 0) + slope*min(x, 0) with the slope of each lane, and the signs of zeros of vec.ReLU.
func BlockLeaky(s emit.ISA) {
	p := channelRows(s, 0, "slopes")
	x := emit.GP("x")
	y := emit.GP("y")
	zero := s.Zero()
	eachPixel(s, []reg.Register{x, y}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		v := s.Load(emit.Based(mem, x))
		VMOVUPS(s.Add(s.Max(zero, v), s.Mul(s.Min(zero, v), p[g][0])), emit.Based(mem, y))
	})
	s.Ret()
}

// BlockLeakyGrad emits dy, times the slope of its lane where x is not above 0.
func BlockLeakyGrad(s emit.ISA) {
	p := channelRows(s, 0, "slopes")
	x := emit.GP("x")
	dy := emit.GP("dy")
	dx := emit.GP("dx")
	eachPixel(s, []reg.Register{dx, dy, x}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		grad := s.Load(emit.Based(mem, dy))
		VMOVUPS(s.Sel(emit.GT, s.Load(emit.Based(mem, x)), s.F(0), grad, s.Mul(grad, p[g][0])), emit.Based(mem, dx))
	})
	s.Ret()
}

// BlockLeakySums emits Σ dy*min(x, 0) and Σ dy of each lane, in float64.
func BlockLeakySums(s emit.ISA) {
	x := emit.GP("x")
	dy := emit.GP("dy")
	zero := s.Zero()
	acc := s.Zeros(sumsOf(s))
	eachPixel(s, []reg.Register{dy, x}, func(at reg.GPVirtual, g, disp int) {
		mem := Mem{Index: at, Scale: 4, Disp: disp}
		sumGradient(s, acc[4*g:], s.Min(zero, s.Load(emit.Based(mem, x))), s.Load(emit.Based(mem, dy)))
	})
	storeLanes(s, acc)
}

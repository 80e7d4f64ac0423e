package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Scalars broadcasts the float32 values that a parameter points to.
func (s ISA) Scalars(param string, n int) []Op {
	p := Load(Param(param), GP64())
	vs := make([]Op, n)
	for i := range vs {
		vs[i] = s.V()
		VBROADCASTSS(Mem{Base: p, Disp: 4 * i}, vs[i])
	}
	return vs
}

// Based is a memory operand with its base replaced.
func Based(m Mem, base reg.Register) Mem {
	m.Base = base
	return m
}

func (s ISA) Broadcast(param string, v reg.VecVirtual) {
	x := XMM()
	VMOVD(Load(Param(param), GP64()).(reg.GPVirtual).As32(), x)
	VPBROADCASTD(x, v)
}

// Constant is a vector whose lanes are all a float32 parameter.
func (s ISA) Constant(param string) reg.VecVirtual {
	v := s.V()
	VBROADCASTSS(ParamAt(param), v)
	return v
}

func GP(param string) reg.Register { return Load(Param(param), GP64()) }

// ParamAt is a parameter in memory.
func ParamAt(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

package emit

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Sequence is the constant vector from, from+step, ...
func (s ISA) Sequence(from, step int) Mem {
	return s.Words(fmt.Sprintf("seq%d_%d_%d", s.Width, from, step), func(i int) int { return from + i*step })
}

// Ramp is the constant vector 0, step, 2*step, ...
func (s ISA) Ramp(step int) Mem { return s.Sequence(0, step) }

// Words is a constant vector of integers.
func (s ISA) Words(name string, value func(lane int) int) Mem {
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range s.Width {
		DATA(4*i, U32(value(i)))
	}
	consts[name] = m
	return m
}

// D is a constant vector of the float64 value x.
func (s ISA) D(x float64) Mem {
	u := math.Float64bits(x)
	name := fmt.Sprintf("d%d_%016x", s.Width, u)
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range s.Width / 2 {
		DATA(8*i, U64(u))
	}
	consts[name] = m
	return m
}

// Quads is a constant vector in memory of numbers of 64 bits.
func (s ISA) Quads(value func(lane int) uint64) Mem {
	name := fmt.Sprintf("q%d_%016x_%016x", s.Width, value(0), value(1))
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range s.Width / 2 {
		DATA(8*i, U64(value(i)))
	}
	consts[name] = m
	return m
}

var consts = map[string]Mem{}

// Bits is a constant vector in memory with every lane equal to u.
func (s ISA) Bits(u uint32) Mem {
	name := fmt.Sprintf("c%d_%08x", s.Width, u)
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := 0; i < s.Width; i++ {
		DATA(4*i, U32(u))
	}
	consts[name] = m
	return m
}

// F is a constant vector of the float32 value x.
func (s ISA) F(x float64) Mem { return s.Bits(math.Float32bits(float32(x))) }

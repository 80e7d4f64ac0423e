package emit

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// consts are the constants of the file that is emitted, by name.
var consts = map[string]Mem{}

// stored is the constant with a name in memory. write defines it at the first use.
func stored(name string, write func()) Mem {
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	write()
	consts[name] = m
	return m
}

// Words is a constant vector of integers.
func (s ISA) Words(name string, value func(lane int) int) Mem {
	return stored(name, func() {
		for i := range s.Width {
			DATA(4*i, U32(value(i)))
		}
	})
}

// Sequence is the constant vector from, from+step, ...
func (s ISA) Sequence(from, step int) Mem {
	return s.Words(fmt.Sprintf("seq%d_%d_%d", s.Width, from, step), func(i int) int { return from + i*step })
}

// Ramp is the constant vector 0, step, 2*step, ...
func (s ISA) Ramp(step int) Mem { return s.Sequence(0, step) }

// Bits is a constant vector with every lane equal to u.
func (s ISA) Bits(u uint32) Mem {
	return s.Words(fmt.Sprintf("c%d_%08x", s.Width, u), func(int) int { return int(u) })
}

// F is a constant vector of the float32 value x.
func (s ISA) F(x float64) Mem { return s.Bits(math.Float32bits(float32(x))) }

// quads writes lanes of 64 bits.
func (s ISA) quads(name string, value func(lane int) uint64) Mem {
	return stored(name, func() {
		for i := range s.Width / 2 {
			DATA(8*i, U64(value(i)))
		}
	})
}

// D is a constant vector of the float64 value x.
func (s ISA) D(x float64) Mem {
	u := math.Float64bits(x)
	return s.quads(fmt.Sprintf("d%d_%016x", s.Width, u), func(int) uint64 { return u })
}

// Quads is a constant vector of 64-bit integers. Its name has the first two of them, so that these must differ between constants.
func (s ISA) Quads(value func(lane int) uint64) Mem {
	return s.quads(fmt.Sprintf("q%d_%016x_%016x", s.Width, value(0), value(1)), value)
}

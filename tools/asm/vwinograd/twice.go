package vwinograd

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// twice emits a map of the rows and then of the columns of n squares of vectors. strides has the distances, in values, between rows, columns and
// squares of src, then of dst. tmp has room for a vector of each row and result. bias is, for biased maps, a vector that is added to the
// results and, 64 bytes behind it, a floor.
func (s mapper) twice(l linear) {
	dst, src, tmp := emit.GP("dst"), emit.GP("src"), emit.GP("tmp")
	strides, n := emit.GP("strides"), emit.GP("n")
	var bias reg.Register
	var b reg.VecVirtual
	if l.biased {
		bias = emit.GP("bias")
		b = s.Load(Mem{Base: bias})
	}
	field := func(i int) reg.GPVirtual {
		r := GP64()
		MOVQ(Mem{Base: strides, Disp: 8 * i}, r)
		SHLQ(Imm(2), r)
		return r
	}
	wide := 4 * s.Width
	stay := s.columnsKept(l)
	*s.kept = kept{s: s.ISA}
	s.kept.begin()
	Label("square")
	held := s.firstHalf(l, src, tmp, field, stay)
	column, to := field(4), GP64()
	MOVQ(dst, to)
	rows := multiples(field(3))
	for j := 0; j < l.out; j++ {
		x := make([]reg.VecVirtual, l.in)
		for i := range x {
			if j < stay {
				x[i] = held[j][i]
				continue
			}
			x[i] = s.Load(Mem{Base: tmp, Disp: (i*l.out + j) * wide})
		}
		for i, v := range l.apply(x) {
			s.put(l, v, bias, b, rows(to, i))
		}
		if j+1 < l.out {
			ADDQ(column, to)
		}
	}
	ADDQ(field(2), src)
	ADDQ(field(5), dst)
	DECQ(n)
	JNE(LabelRef("square"))
	s.Ret()
	s.kept.end("square")
}

// firstHalf emits the map of the rows of a square. It returns the first stay columns of the results in registers, and stores the others in tmp.
func (s mapper) firstHalf(l linear, src, tmp reg.Register, field func(i int) reg.GPVirtual, stay int) [][]reg.VecVirtual {
	wide, held := 4*s.Width, make([][]reg.VecVirtual, stay)
	row, at := field(0), GP64()
	MOVQ(src, at)
	columns := multiples(field(1))
	for i := 0; i < l.in; i++ {
		x := make([]reg.VecVirtual, l.in)
		for j := range x {
			x[j] = s.Load(columns(at, j))
		}
		for j, v := range l.apply(x) {
			if j < stay {
				held[j] = append(held[j], v)
				continue
			}
			VMOVUPS(v, Mem{Base: tmp, Disp: (i*l.out + j) * wide})
		}
		if i+1 < l.in {
			ADDQ(row, at)
		}
	}
	return held
}

// put stores a result. A biased map's gets b and the floor behind bias; an added map's is added to dst.
func (s mapper) put(l linear, v reg.VecVirtual, bias reg.Register, b reg.VecVirtual, to Mem) {
	if l.biased {
		v = s.Max(s.Load(Mem{Base: bias, Disp: emit.PixelBytes}), s.Add(v, b))
	}
	if l.added {
		v = s.Add(v, to)
	}
	VMOVUPS(v, to)
}

// columnsKept is the number of columns of a half-mapped square that stay in registers. Storing and loading them takes longer than the map.
func (s mapper) columnsKept(l linear) int {
	if s.Registers < 32 {
		return 0
	}
	return max(0, min(l.out, (s.Registers-l.in-l.out-8)/l.in))
}

// kept are constant vectors that a loop keeps in registers if there are 32. In memory each would lie across two cache lines, since Go aligns data to
// 32 bytes at most, and loading it would take twice as long.
type kept struct {
	s       emit.ISA
	values  []float64
	vectors []reg.VecVirtual
}

// f is a constant vector.
func (h *kept) f(x float64) Op {
	if h.s.Registers < 32 {
		return h.s.F(x)
	}
	i := slices.Index(h.values, x)
	if i < 0 {
		i = len(h.values)
		h.values, h.vectors = append(h.values, x), append(h.vectors, h.s.V())
	}
	return h.vectors[i]
}

// begin is emitted before the loop, end behind the function: only there the generator knows which constants the loop needs.
func (h *kept) begin() {
	if h.s.Registers == 32 {
		JMP(LabelRef("constants"))
	}
}

// end fills the registers of the constants and jumps to the loop.
func (h *kept) end(loop string) {
	if h.s.Registers < 32 {
		return
	}
	Label("constants")
	for i, x := range h.values {
		VMOVUPS(h.s.F(x), h.vectors[i])
	}
	JMP(LabelRef(loop))
}

// multiples returns a function that addresses up to eight places a stride apart.
func multiples(stride reg.GPVirtual) func(base reg.Register, i int) Mem {
	three, five, seven := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 4}, five)
	LEAQ(Mem{Base: three, Index: stride, Scale: 4}, seven)
	odd := map[int]reg.GPVirtual{1: stride, 3: three, 5: five, 7: seven}
	return func(base reg.Register, i int) Mem {
		if i == 0 {
			return Mem{Base: base}
		}
		scale := i & -i
		return Mem{Base: base, Index: odd[i/scale], Scale: uint8(scale)}
	}
}

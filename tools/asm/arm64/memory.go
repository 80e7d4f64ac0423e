package arm64

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// place is a memory operand as Go's assembler writes it.
func (l *lowering) place(m operand.Mem) string {
	switch {
	case m.Symbol.Static:
		l.line("MOVD $%s<>(SB), %s", m.Symbol.Name, temporary)
		return at(m.Disp, temporary)
	case m.Symbol.Name != "": // a parameter
		return fmt.Sprintf("%s+%d(FP)", m.Symbol.Name, m.Disp)
	case m.Index == nil:
		return at(m.Disp, general(m.Base))
	}
	return at(m.Disp, l.sum(m))
}

func at(disp int, base string) string {
	if disp == 0 {
		return "(" + base + ")"
	}
	return fmt.Sprintf("%d(%s)", disp, base)
}

// sum is a register with the base and the scaled index of an operand. It is kept for the next operands with the same.
func (l *lowering) sum(m operand.Mem) string {
	for _, a := range l.addresses {
		if reg.Equal(a.base, m.Base) && reg.Equal(a.index, m.Index) && a.scale == m.Scale {
			return a.at
		}
	}
	into := ""
	if len(l.addresses) == len(indexed) {
		into = l.addresses[len(indexed)-1].at // the next row of instructions begins with the oldest ones again
		l.addresses = l.addresses[:len(indexed)-1]
	}
	for _, r := range indexed {
		free := into == ""
		for _, a := range l.addresses {
			free = free && a.at != r
		}
		if free {
			into = r
		}
	}
	l.add(m, into)
	l.addresses = append(l.addresses, address{m.Base, m.Index, m.Scale, into})
	return into
}

// loadPlace loads one, two or four values. If an address is used once, the load adds base and index.
func (l *lowering) loadPlace(name string, m operand.Mem, to int) {
	scaled := map[string]uint8{"FMOVS": 4, "FMOVD": 8, "FMOVQ": 16}[name]
	if m.Index == nil || m.Disp != 0 || m.Scale != 1 && m.Scale != scaled || !l.once(m) {
		l.line("%s %s, F%d", name, l.place(m), to)
		return
	}
	by := "INDEXED"
	if m.Scale > 1 {
		by = "SCALED"
	}
	l.line("WORD $0x%08x // %s (%s)(%s*%d), F%d", encode(name+by, to, number(m.Base), number(m.Index)), name, general(m.Base), general(m.Index), m.Scale, to)
}

// once reports whether the sum of an operand's base and index is not there and no later instruction of the row needs it, so that a load may add them.
func (l *lowering) once(m operand.Mem) bool {
	same := func(base, index reg.Register, scale uint8) bool {
		return index != nil && reg.Equal(base, m.Base) && reg.Equal(index, m.Index) && scale == m.Scale
	}
	for _, a := range l.addresses {
		if same(a.base, a.index, a.scale) {
			return false
		}
	}
	for _, node := range l.fn.Nodes[l.at+1:] {
		i, ok := node.(*ir.Instruction)
		if !ok {
			return true
		}
		for _, o := range i.Operands {
			if other, ok := o.(operand.Mem); ok && same(other.Base, other.Index, other.Scale) {
				return false
			}
		}
		for _, r := range i.OutputRegisters() {
			if reg.Equal(whole(r), whole(m.Base)) || reg.Equal(whole(r), whole(m.Index)) {
				return true
			}
		}
	}
	return true
}

// add writes the sum of the base and the scaled index of an operand to a register.
func (l *lowering) add(m operand.Mem, into string) {
	index := general(m.Index)
	if shift := bits.TrailingZeros8(m.Scale); shift > 0 {
		index = fmt.Sprintf("%s<<%d", index, shift)
	}
	l.line("ADD %s, %s, %s", index, general(m.Base), into)
}

// pointer is a register with the address of an operand.
func (l *lowering) pointer(m operand.Mem) string {
	p := l.place(m)
	if strings.HasPrefix(p, "(") {
		return strings.Trim(p, "()")
	}
	l.line("MOVD $%s, %s", p, temporary)
	return temporary
}

// general is the name of a general register.
func general(r reg.Register) string {
	p := reg.ToPhysical(r)
	if p == nil || p.Kind() != reg.KindGP || p.PhysicalIndex() == reg.RSP.PhysicalIndex() {
		panic(fault{fmt.Errorf("%s is no general register", r.Asm())})
	}
	return fmt.Sprintf("R%d", p.PhysicalIndex())
}

// source is the number of a vector register with the value of an operand. Four lanes of an operand in memory are loaded.
func (l *lowering) source(o operand.Op) int {
	switch o := o.(type) {
	case reg.Register:
		return number(o)
	case operand.Mem:
		if r, ok := l.constant(o); ok {
			return r
		}
		r := l.fresh()
		l.load(r, o)
		return r
	}
	l.fail("%s is no vector", o.Asm())
	return 0
}

// constant is the register of a constant that stays in one.
func (l *lowering) constant(m operand.Mem) (r int, ok bool) {
	if !m.Symbol.Static || m.Disp != 0 {
		return 0, false
	}
	r, ok = l.constants[m.Symbol.Name]
	return r, ok
}

// load sets a vector register to an operand.
func (l *lowering) load(to int, o operand.Op) {
	if m, ok := o.(operand.Mem); ok {
		if _, kept := l.constant(m); !kept {
			l.loadPlace("FMOVQ", m, to)
			return
		}
	}
	if from := l.source(o); from != to {
		l.vector("ORR16B", to, from, from)
	}
}

// paired joins loads and stores of two vectors that lie side by side.
func paired(text string) string {
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i++ {
		a, okA := moveOf(lines[i])
		b, okB := moveOf(lines[i+1])
		if okA && okB && a.base == b.base && a.store == b.store && (a.store || a.register != b.register) && b.disp == a.disp+16 && a.disp%16 == 0 && a.disp >= -1024 && a.disp <= 1008 {
			place, registers := at(a.disp, a.base), fmt.Sprintf("(F%d, F%d)", a.register, b.register)
			if a.store {
				lines[i] = fmt.Sprintf("\tFSTPQ %s, %s", registers, place)
			} else {
				lines[i] = fmt.Sprintf("\tFLDPQ %s, %s", place, registers)
			}
			lines = append(lines[:i+1], lines[i+2:]...)
		}
	}
	return strings.Join(lines, "\n")
}

// move is a load or a store of a vector.
type move struct {
	base           string
	disp, register int
	store          bool
}

// moveOf reads a line.
func moveOf(line string) (m move, ok bool) {
	rest, ok := strings.CutPrefix(line, "\tFMOVQ ")
	if !ok {
		return m, false
	}
	from, to, _ := strings.Cut(rest, ", ")
	if m.store = from[0] == 'F'; m.store {
		from, to = to, from
	}
	disp, base, _ := strings.Cut(strings.TrimSuffix(from, ")"), "(")
	if _, err := fmt.Sscanf("0"+strings.TrimPrefix(disp, "-"), "%d", &m.disp); err != nil || base == "FP" || base == "SB" {
		return m, false
	}
	if strings.HasPrefix(disp, "-") {
		m.disp = -m.disp
	}
	m.base = base
	_, err := fmt.Sscanf(to, "F%d", &m.register)
	return m, err == nil
}

package arm64

import (
	"fmt"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type lower func(l *lowering, o []operand.Op)

// generals writes instructions on general registers and jumps.
var generals map[string]lower

func init() {
	generals = map[string]lower{
		"MOVQ": moveGeneral("MOVD", "MOVD"), "MOVL": moveGeneral("MOVWU", "MOVW"), "MOVB": moveGeneral("MOVBU", "MOVB"), "MOVLQSX": moveGeneral("MOVW", ""),
		"ADDQ": arithmetic("ADD", false), "SUBQ": arithmetic("SUBS", true), "IMULQ": arithmetic("MUL", false),
		"DECQ": func(l *lowering, o []operand.Op) { l.arithmetic("SUBS", "$1", o[0], true) },
		"INCQ": func(l *lowering, o []operand.Op) { l.arithmetic("ADD", "$1", o[0], false) },
		"SHLQ": arithmetic("LSL", false),
		"SHRQ": arithmetic("LSR", false),
		"NEGQ": func(l *lowering, o []operand.Op) {
			l.line("NEG %[1]s, %[1]s", general(o[0].(reg.Register)))
			l.flags = false
		},
		"IMUL3Q": multiply,
		"XORQ":   clear,
		"LEAQ":   lea,
		"CMPQ": func(l *lowering, o []operand.Op) {
			l.line("CMP %s, %s", l.operand(o[1], "MOVD"), l.operand(o[0], "MOVD"))
			l.flags = true
		},
		"TESTQ": test("CMP", "TST"), "TESTB": test("CMPW", "TSTW"),
		"PREFETCHT0": prefetch("PLDL1KEEP"), "PREFETCHT1": prefetch("PLDL2KEEP"),
		"RET":        func(l *lowering, _ []operand.Op) { l.line("RET") },
		"VZEROUPPER": func(*lowering, []operand.Op) {},
		"JMP":        func(l *lowering, o []operand.Op) { l.line("B %s", o[0].Asm()) },
	}
	for x86, condition := range map[string]string{"LT": "LT", "LE": "LE", "GT": "GT", "GE": "GE", "EQ": "EQ", "NE": "NE"} {
		generals["J"+x86] = func(l *lowering, o []operand.Op) {
			l.needFlags()
			l.line("B%s %s", condition, o[0].Asm())
		}
		generals["CMOVQ"+x86] = func(l *lowering, o []operand.Op) {
			l.needFlags()
			to := general(o[1].(reg.Register))
			l.line("CSEL %s, %s, %s, %s", condition, general(o[0].(reg.Register)), to, to)
		}
	}
}

// needFlags fails where an instruction before has flags on x86 alone.
func (l *lowering) needFlags() {
	if !l.flags {
		l.fail("the flags are not those of a comparison")
	}
}

// operand is an operand of a general instruction; one in memory is loaded.
func (l *lowering) operand(o operand.Op, load string) string {
	switch o := o.(type) {
	case reg.Register:
		return general(o)
	case operand.Mem:
		l.line("%s %s, %s", load, l.place(o), value)
		return value
	}
	return o.Asm()
}

func moveGeneral(load, store string) lower {
	return func(l *lowering, o []operand.Op) {
		if m, ok := o[1].(operand.Mem); ok && store != "" {
			l.line("%s %s, %s", store, l.operand(o[0], ""), l.place(m))
			return
		}
		to := general(o[1].(reg.Register))
		switch from := o[0].(type) {
		case reg.Register:
			l.line("%s %s, %s", load, general(from), to)
		case operand.Mem:
			l.line("%s %s, %s", load, l.place(from), to)
		default:
			l.line("MOVD %s, %s", from.Asm(), to)
		}
	}
}

func arithmetic(name string, flags bool) lower {
	return func(l *lowering, o []operand.Op) { l.arithmetic(name, l.operand(o[0], "MOVD"), o[1], flags) }
}

// arithmetic changes a register, or a value in memory, by an operand.
func (l *lowering) arithmetic(name, by string, to operand.Op, flags bool) {
	l.flags = flags
	if m, ok := to.(operand.Mem); ok {
		place := l.place(m)
		l.line("MOVD %s, %s", place, changed)
		l.line("%s %s, %s", name, by, changed)
		l.line("MOVD %s, %s", changed, place)
		return
	}
	l.line("%s %s, %s", name, by, general(to.(reg.Register)))
}

func multiply(l *lowering, o []operand.Op) {
	l.flags = false
	l.line("MOVD %s, %s", o[0].Asm(), changed)
	l.line("MUL %s, %s, %s", changed, l.operand(o[1], "MOVD"), general(o[2].(reg.Register)))
}

// clear is the one use of XORQ.
func clear(l *lowering, o []operand.Op) {
	if o[0] != o[1] {
		l.fail("the operands differ")
	}
	l.flags = false
	l.line("MOVD ZR, %s", general(o[0].(reg.Register)))
}

func lea(l *lowering, o []operand.Op) {
	m, to := o[0].(operand.Mem), general(o[1].(reg.Register))
	if m.Base == reg.StackPointer {
		l.line("MOVD $local-%d(SP), %s", l.fn.LocalSize-m.Disp, to)
		return
	}
	if m.Symbol.Name != "" {
		l.fail("the address is that of a symbol")
	}
	base := general(m.Base)
	if m.Index != nil {
		l.add(m, to)
		base = to
	}
	if m.Disp != 0 || m.Index == nil {
		l.line("ADD $%d, %s, %s", m.Disp, base, to)
	}
}

// test compares a register with itself, or some of its bits, with 0.
func test(compare, bits string) lower {
	return func(l *lowering, o []operand.Op) {
		l.flags = true
		if o[0] != o[1] {
			l.line("%s %s, %s", bits, o[0].Asm(), general(o[1].(reg.Register)))
			return
		}
		l.line("%s $0, %s", compare, general(o[0].(reg.Register)))
	}
}

// prefetch rounds distances down to the units of the instruction, which has none below 0.
func prefetch(into string) lower {
	return func(l *lowering, o []operand.Op) {
		m := o[0].(operand.Mem)
		disp := m.Disp &^ 7
		m.Disp = 0
		place := strings.Trim(l.place(m), "()")
		if disp < 0 || disp > 32760 {
			l.line("ADD $%d, %s, %s", disp, place, temporary)
			place, disp = temporary, 0
		}
		l.line("PRFM %s, %s", fmt.Sprintf("%d(%s)", disp, place), into)
	}
}

package arm64

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Print is the assembly of a file whose functions have their registers.
func Print(f *ir.File) (text string, err error) {
	var b strings.Builder
	b.WriteString("\n#include \"textflag.h\"\n")
	for _, section := range f.Sections {
		switch s := section.(type) {
		case *ir.Function:
			code, err := function(s)
			if err != nil {
				return "", fmt.Errorf("%s: %w", s.Name, err)
			}
			b.WriteString(code)
		case *ir.Global:
			b.WriteString("\n")
			for _, d := range s.Data {
				fmt.Fprintf(&b, "DATA %s+%d(SB)/%d, %s\n", symbol(s.Symbol), d.Offset, d.Value.Bytes(), d.Value.Asm())
			}
			fmt.Fprintf(&b, "GLOBL %s(SB), RODATA|NOPTR, $%d\n", symbol(s.Symbol), s.Size)
		}
	}
	return b.String(), nil
}

func symbol(s operand.Symbol) string { return s.Name + "<>" }

// General registers that lowering uses: avo's are R0 to R15, with the numbers that x86 gives them.
const (
	temporary = "R16" // the address of an operand
	value     = "R17" // an operand in memory, or a lane
	changed   = "R26" // the address of an operand that is changed
)

// indexed are the registers of addresses of a base and an index.
var indexed = []string{"R19", "R20", "R21", "R22", "R23", "R24", "R25"}

// address is a base and an index, and the register that holds their sum.
type address struct {
	base, index reg.Register
	scale       uint8
	at          string
}

// lowering writes a function.
type lowering struct {
	out       *strings.Builder
	behind    strings.Builder // code behind the function's, to which seldom paths jump
	i         *ir.Instruction
	at        int // its place in the function
	fn        *ir.Function
	addresses []address      // that are still right, the newest last
	constants map[string]int // vector registers of constants, by name
	scratch   []int          // vector registers without a value at this instruction
	flags     bool           // whether arm64's flags are those that x86 would have
	labels    int
}

// function is the assembly of a function.
func function(fn *ir.Function) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = fault
		}
	}()
	l := &lowering{out: &strings.Builder{}, fn: fn, constants: map[string]int{}}
	fmt.Fprintf(l.out, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $%d-%d\n", fn.Name, strings.TrimPrefix(fn.Signature.String(), "func"), fn.Name, fn.LocalSize, fn.ArgumentBytes())
	l.loadConstants()
	for at, node := range fn.Nodes {
		l.at = at
		switch n := node.(type) {
		case ir.Label:
			l.addresses, l.flags = nil, false
			fmt.Fprintf(l.out, "\n%s:\n", n)
		case *ir.Instruction:
			l.instruction(n)
		}
	}
	return paired(l.out.String()) + l.behind.String(), nil
}

// fault is an error of a description.
type fault struct{ error }

func (l *lowering) fail(format string, a ...any) {
	var operands []string
	for _, o := range l.i.Operands {
		operands = append(operands, o.Asm())
	}
	panic(fault{fmt.Errorf("%s %s: %s", l.i.Opcode, strings.Join(operands, ", "), fmt.Sprintf(format, a...))})
}

func (l *lowering) line(format string, a ...any) { fmt.Fprintf(l.out, "\t"+format+"\n", a...) }

// vector writes an instruction of the tables; m is missing if it has two registers.
func (l *lowering) vector(name string, d, n int, m ...int) {
	last, shown := 0, fmt.Sprintf("%s V%d, V%d", name, d, n)
	if len(m) > 0 {
		last = m[0]
		shown += fmt.Sprintf(", %d", last)
	}
	l.line("WORD $0x%08x // %s", encode(name, d, n, last), shown)
}

// spare is the number of registers that loadConstants leaves.
const spare = 3

// loadConstants loads constants to registers that the function does not use otherwise, in the order of their uses.
func (l *lowering) loadConstants() {
	var used [32]bool
	var names []string
	for _, i := range l.fn.Instructions() {
		for _, o := range i.Operands {
			for _, r := range operand.Registers(o) {
				if r.Kind() == reg.KindVector {
					used[number(r)] = true
				}
			}
			if m, ok := o.(operand.Mem); ok && m.Symbol.Static && m.Disp == 0 && !slices.Contains(names, m.Symbol.Name) {
				names = append(names, m.Symbol.Name)
			}
		}
	}
	var free []int
	for r := range used {
		if !used[r] {
			free = append(free, r)
		}
	}
	for k, name := range names {
		if k+spare >= len(free) {
			break
		}
		l.constants[name] = free[len(free)-1-k]
		l.line("MOVD $%s<>(SB), %s", name, temporary)
		l.line("FMOVQ (%s), F%d", temporary, free[len(free)-1-k])
	}
}

// instruction writes an instruction, and forgets addresses of registers that it changes.
func (l *lowering) instruction(i *ir.Instruction) {
	l.i = i
	l.findScratch()
	if i.Opcode == "PCALIGN" {
		if i.Operands[0] == operand.U32(64) { // the others keep jumps of x86 within 32 bytes
			l.line("PCALIGN $64")
		}
		return
	}
	write := vectors[i.Opcode]
	if write == nil {
		write = generals[i.Opcode]
	}
	if write == nil {
		l.fail("this instruction is not known")
	}
	write(l, i.Operands)
	for _, r := range i.OutputRegisters() {
		l.addresses = slices.DeleteFunc(l.addresses, func(a address) bool { return reg.Equal(whole(a.base), whole(r)) || reg.Equal(whole(a.index), whole(r)) })
	}
}

// whole is the general register of 64 bits that has a part, or the register itself if it is of another kind.
func whole(r reg.Register) reg.Register {
	if r.Kind() == reg.KindGP {
		return reg.LookupID(r.ID(), reg.S64)
	}
	return r
}

// findScratch finds the vector registers that hold no value before and behind the instruction and that are none of its operands.
func (l *lowering) findScratch() {
	var taken [32]bool
	for _, live := range []reg.MaskSet{l.i.LiveIn, l.i.LiveOut} {
		for id := range live {
			if id = l.fn.Allocation.LookupDefault(id); id.Kind() == reg.KindVector {
				taken[id.Index()] = true
			}
		}
	}
	for _, r := range l.i.Registers() {
		if r.Kind() == reg.KindVector {
			taken[number(r)] = true
		}
	}
	for _, r := range l.constants {
		taken[r] = true
	}
	l.scratch = nil
	for r, t := range taken {
		if !t {
			l.scratch = append(l.scratch, r)
		}
	}
}

// fresh is a vector register for the time of the instruction.
func (l *lowering) fresh() int {
	if len(l.scratch) == 0 {
		l.fail("no vector register is left")
	}
	last := len(l.scratch) - 1
	r := l.scratch[last]
	l.scratch = l.scratch[:last]
	return r
}

// number is the number of a physical register.
func number(r reg.Register) int { return int(reg.ToPhysical(r).PhysicalIndex()) }

// label is a name for a place inside an instruction's code.
func (l *lowering) label() string {
	l.labels++
	return fmt.Sprintf("lowered%d", l.labels)
}

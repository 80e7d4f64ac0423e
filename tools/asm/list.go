package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
	"github.com/swcaffe/swcaffe/tools/asm/vpool"
)

// levels are the instruction sets that are levels of internal/base/simd/isa, by name.
var levels = []emit.ISA{emit.AVX512, emit.AVX2, emit.NEON}

// kernel is an entry of the list: a function in assembly of a package of internal/base/simd, or a family of such functions. The generator writes from it
// the assembly, its declarations in Go, a field of the package's table, and the values of the field in the tables of the levels.
type kernel struct {
	room string // the package
	name string // the field's name; in Go its first letter is upper case
	doc  string // a comment that follows the name
	by   string // what picks a member of a family: the indices of the field, an array
	args string // the parameters of the assembly
	of   func(s emit.ISA) []member
}

// members are the functions of a kernel for an instruction set. Where assembly is written by hand, they are those that the package has in the file
// NAME_PROCESSOR.s.
func (k *kernel) members(s emit.ISA) []member {
	if s.V != nil {
		return k.of(s)
	}
	text, _ := os.ReadFile(filepath.Join("..", "..", "internal", "base", "simd", k.room, s.Name+"_"+s.Processor+".s"))
	return slices.DeleteFunc(k.of(s), func(m member) bool { return !bytes.Contains(text, []byte("TEXT ·"+m.function(s)+"(SB)")) })
}

// member is a function of a kernel for one instruction set.
type member struct {
	name  string   // of the assembly, without the tag of the set
	when  []string // the indices
	emit  func()   // writes the body; nil if the function is that of another set, whose tag the name has then
	needs string   // the function of isa that reports whether the processor has the instructions; "": all processors of the set do
}

// function is the name of the function in assembly.
func (m member) function(s emit.ISA) string {
	if m.emit == nil {
		return m.name
	}
	return m.name + s.Tag
}

// size is a block size, an entry of the table of a package. plain is the size of plain Go.
type size struct {
	room, name, doc string
	plain           int
	of              func(s emit.ISA) int
}

// one is the only member of a kernel that is no family.
func one(name string, body func(emit.ISA)) func(emit.ISA) []member {
	return func(s emit.ISA) []member { return []member{{name: name, emit: func() { body(s) }}} }
}

// evex restricts a kernel to instruction sets with EVEX.
func evex(of func(emit.ISA) []member) func(emit.ISA) []member {
	return func(s emit.ISA) []member {
		if !s.EVEX {
			return nil
		}
		return of(s)
	}
}

// where restricts a kernel to processors that have further instructions, as a function of isa reports.
func where(needs string, of func(emit.ISA) []member) func(emit.ISA) []member {
	return func(s emit.ISA) []member {
		list := of(s)
		for i := range list {
			list[i].needs = needs
		}
		return list
	}
}

// bfloat16, fourBytes and twoWords restrict a kernel to processors that multiply bfloat16 values, four bytes, and two 16-bit integers.
func bfloat16(of func(emit.ISA) []member) func(emit.ISA) []member {
	return where("HasBFloat16", evex(of))
}

func fourBytes(of func(emit.ISA) []member) func(emit.ISA) []member {
	return func(s emit.ISA) []member {
		if !s.EVEX && !s.Elements {
			return nil
		}
		return where("HasBytes", of)(s)
	}
}

func twoWords(of func(emit.ISA) []member) func(emit.ISA) []member {
	return func(s emit.ISA) []member {
		switch {
		case s.Elements:
			return nil
		case s.EVEX:
			return where("HasWords", of)(s)
		}
		return of(s)
	}
}

// kinds has an index for each of some lists of members.
func kinds(lists ...func(emit.ISA) []member) func(emit.ISA) []member {
	return func(s emit.ISA) (all []member) {
		for kind, list := range lists {
			for _, m := range list(s) {
				m.when = append([]string{strconv.Itoa(kind)}, m.when...)
				all = append(all, m)
			}
		}
		return all
	}
}

// eight makes a kernel of runs of 8 values, which all levels of AVX2's processor use: it is written for AVX2 and for narrower vectors.
func eight(of func(emit.ISA) []member) func(emit.ISA) []member {
	return func(s emit.ISA) []member {
		if s.Width <= emit.AVX2.Width {
			return of(s)
		}
		list := of(emit.AVX2)
		for i := range list {
			list[i].name, list[i].emit = list[i].name+emit.AVX2.Tag, nil
		}
		return list
	}
}

// family has a member for each list of numbers. The numbers are part of its name and its indices, and body gets them.
func family(format string, sizes func(s emit.ISA) [][]int, body func(s emit.ISA, v []int)) func(emit.ISA) []member {
	return func(s emit.ISA) (list []member) {
		for _, v := range sizes(s) {
			var shown []any
			var when []string
			for _, n := range v {
				shown, when = append(shown, n), append(when, strconv.Itoa(n))
			}
			list = append(list, member{name: fmt.Sprintf(format, shown...), when: when, emit: func() { body(s, v) }})
		}
		return list
	}
}

// of1, of2 and of3 pass the numbers to body one by one.
func of1(body func(s emit.ISA, a int)) func(emit.ISA, []int) {
	return func(s emit.ISA, v []int) { body(s, v[0]) }
}

func of2(body func(s emit.ISA, a, b int)) func(emit.ISA, []int) {
	return func(s emit.ISA, v []int) { body(s, v[0], v[1]) }
}

func of3(body func(s emit.ISA, a, b, c int)) func(emit.ISA, []int) {
	return func(s emit.ISA, v []int) { body(s, v[0], v[1], v[2]) }
}

// ofWindow passes the numbers to body as a window.
func ofWindow(body func(s emit.ISA, q vpool.Squares)) func(emit.ISA, []int) {
	return func(s emit.ISA, v []int) { body(s, vpool.Squares{K: v[0], S: v[1]}) }
}

// fixed gives the same lists of numbers for all instruction sets.
func fixed(lists ...[]int) func(emit.ISA) [][]int {
	return func(emit.ISA) [][]int { return lists }
}

// numbers are the numbers from 1 to n.
func numbers(n int) func(emit.ISA) [][]int {
	var lists [][]int
	for i := range n {
		lists = append(lists, []int{i + 1})
	}
	return fixed(lists...)
}

// in and sizesOf are the kernels and the block sizes of a package.
func in(room string) []kernel {
	return slices.DeleteFunc(slices.Clone(kernels), func(k kernel) bool { return k.room != room })
}

func sizesOf(room string) []size {
	return slices.DeleteFunc(slices.Clone(sizes), func(z size) bool { return z.room != room })
}

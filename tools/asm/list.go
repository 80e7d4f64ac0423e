package main

import (
	"fmt"
	"strconv"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
	"github.com/swcaffe/swcaffe/tools/asm/vpool"
)

// kernel is an entry of the list: a function of a package of internal/simd in assembly, for one or both levels, or a family of such functions.
// The generator writes from it the assembly, its declarations in Go, and the function call, which picks the level and the family's member.
type kernel struct {
	room string // the package
	call string // the name in Go
	doc  string // a comment that follows the name
	by   string // parameters of call that pick a member of a family
	args string // all other parameters; the assembly has these
	of   func(s emit.ISA) []member
}

// member is a function of a kernel for one level.
type member struct {
	name string   // of the assembly, without the level's tag
	when []string // the values of the parameters of by
	emit func()   // writes the body
}

// one is the only member of a kernel that is no family.
func one(name string, body func(emit.ISA)) func(emit.ISA) []member {
	return func(s emit.ISA) []member { return []member{{name, nil, func() { body(s) }}} }
}

// at restricts a kernel to the level whose vectors have the given number of lanes.
func at(width int, of func(emit.ISA) []member) func(emit.ISA) []member {
	return func(s emit.ISA) []member {
		if s.Width != width {
			return nil
		}
		return of(s)
	}
}

// family has a member for each list of numbers. The numbers are part of its name, and body gets them.
func family(format string, sizes func(s emit.ISA) [][]int, body func(s emit.ISA, v []int)) func(emit.ISA) []member {
	return func(s emit.ISA) (list []member) {
		for _, v := range sizes(s) {
			var shown []any
			var when []string
			for _, n := range v {
				shown, when = append(shown, n), append(when, strconv.Itoa(n))
			}
			list = append(list, member{fmt.Sprintf(format, shown...), when, func() { body(s, v) }})
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

// fixed gives the same lists of numbers for both levels.
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

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
	"github.com/swcaffe/swcaffe/tools/asm/vec"
	"github.com/swcaffe/swcaffe/tools/asm/vgemm"
	"github.com/swcaffe/swcaffe/tools/asm/vpool"
	"github.com/swcaffe/swcaffe/tools/asm/vwinograd"
)

// kernel is an entry of the list: a function of a package of internal/simd, written as assembly for one or both levels, or a family of
// such functions. From it come the assembly, its declarations in Go, and the function call, which picks the level and the family's member.
type kernel struct {
	room string // the package
	call string // the name in Go
	doc  string // what it does, after its name
	by   string // parameters of call that pick a member of a family
	args string // all other parameters, which are the assembly's
	of   func(s emit.ISA) []member
}

// member is a function of a kernel for one level.
type member struct {
	name string   // of the assembly, without the level's
	when []string // the values of the parameters of by
	emit func()   // writes the body
}

// one is a kernel that is no family.
func one(name string, body func(emit.ISA)) func(emit.ISA) []member {
	return func(s emit.ISA) []member { return []member{{name, nil, func() { body(s) }}} }
}

// at is a kernel of one level only, that whose vectors have so many lanes.
func at(width int, of func(emit.ISA) []member) func(emit.ISA) []member {
	return func(s emit.ISA) []member {
		if s.Width != width {
			return nil
		}
		return of(s)
	}
}

// family has a member for each of some lists of numbers, which are in its name and are given to body.
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

// of1, of2 and of3 give body its numbers one by one.
func of1(body func(s emit.ISA, a int)) func(emit.ISA, []int) {
	return func(s emit.ISA, v []int) { body(s, v[0]) }
}

func of2(body func(s emit.ISA, a, b int)) func(emit.ISA, []int) {
	return func(s emit.ISA, v []int) { body(s, v[0], v[1]) }
}

func of3(body func(s emit.ISA, a, b, c int)) func(emit.ISA, []int) {
	return func(s emit.ISA, v []int) { body(s, v[0], v[1], v[2]) }
}

// ofWindow gives body its numbers as windows.
func ofWindow(body func(s emit.ISA, q vpool.Squares)) func(emit.ISA, []int) {
	return func(s emit.ISA, v []int) { body(s, vpool.Squares{K: v[0], S: v[1]}) }
}

// fixed are the same lists of numbers at both levels.
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

// Sizes of the families.

// tiles are the rows and vectors of micro kernels of matrix products: a tile has two vectors of columns and three rows for every register
// that is left for a third of its sums; smaller ones serve the edges.
func tiles(s emit.ISA) (sizes [][]int) {
	for thirds := 1; thirds <= 3; thirds++ {
		for vectors := 1; vectors <= 2; vectors++ {
			sizes = append(sizes, []int{vgemm.TileRows(s) / 3 * thirds, vectors})
		}
	}
	return sizes
}

// scatteredTiles are tiles of six rows, with as many vectors as there are registers for, and with half of them.
func scatteredTiles(s emit.ISA) [][]int {
	if s.Width == 16 {
		return [][]int{{6, 4}, {6, 2}}
	}
	return [][]int{{6, 2}, {6, 1}}
}

// most is how many sums of two vectors there are registers for, beside what is multiplied.
func most(s emit.ISA) int {
	if s.Width == 16 {
		return 14
	}
	return 6
}

// pixelTiles are pixels, and vectors of one and of two blocks of channels as far as registers go.
func pixelTiles(s emit.ISA) (sizes [][]int) {
	for vectors := emit.Lanes / s.Width; vectors <= 2; vectors++ {
		for pixels := range most(s) {
			sizes = append(sizes, []int{pixels + 1, vectors})
		}
	}
	return sizes
}

// pixelSumTiles are rows and vectors of a tile of a pointwise convolution's weight gradient: half a block of channels with AVX-512, a block
// in three parts with AVX2.
func pixelSumTiles(s emit.ISA) [][]int {
	if s.Width == 16 {
		return [][]int{{8, 1}, {8, 2}, {8, 3}}
	}
	return [][]int{{6, 2}, {5, 2}}
}

// offsetSumTiles are lines, kernel offsets of each, and vectors. A line takes a general register.
func offsetSumTiles(s emit.ISA) (sizes [][]int) {
	const lines = 4
	for vectors := emit.Lanes / s.Width; vectors <= 2; vectors++ {
		for width := 1; width <= most(s); width++ {
			for l := 1; l <= min(most(s)/width, lines); l++ {
				sizes = append(sizes, []int{l, width, vectors})
			}
		}
	}
	return sizes
}

// poolWindows are the windows, k x k and s apart, that nets have most.
var poolWindows = fixed([]int{3, 1}, []int{3, 2}, []int{2, 2})

// Families whose members have names instead of numbers.

// constant is the name of the constant that names a kernel in Go.
func constant(prefix, name string) string { return prefix + strings.ToUpper(name[:1]) + name[1:] }

func elementwise(s emit.ISA) (list []member) {
	for _, o := range slices.Concat(vec.Arithmetic(s), vec.Transcendental(s)) {
		list = append(list, member{o.Name, []string{constant("op", o.Name)}, func() { vec.Elementwise(s, o.Uses, o.Unroll, o.Body) }})
	}
	return list
}

func folds(s emit.ISA) (list []member) {
	for _, r := range vec.Reductions() {
		list = append(list, member{r.Name, []string{constant("fold", r.Name)}, func() { vec.Reduction(s, r.Two, r.Body) }})
	}
	return list
}

func updates(s emit.ISA) (list []member) {
	for _, r := range vec.Rules(s) {
		list = append(list, member{r.Name, []string{r.Label}, func() { vec.Update(s, r.Histories, r.Body) }})
	}
	return list
}

func winogradMaps(s emit.ISA) (list []member) {
	for _, form := range [][2]int{{2, 3}, {4, 3}, {4, 5}, {5, 3}} {
		for _, l := range vwinograd.Maps(s, form[0], form[1]) {
			list = append(list, member{fmt.Sprintf("winograd%s%dx%d", l.Name, form[0], form[1]),
				[]string{l.Name, strconv.Itoa(form[0]), strconv.Itoa(form[1])},
				l.Emit})
		}
	}
	return list
}

func outerProducts(s emit.ISA) (list []member) {
	for m := 1; m <= 2; m++ {
		for _, add := range []bool{false, true} {
			name := map[bool]string{false: "outerRows", true: "addOuterRows"}[add]
			list = append(list, member{fmt.Sprintf("%s%d", name, m), []string{strconv.Itoa(m), strconv.FormatBool(add)}, func() { vgemm.OuterRows(s, m, add) }})
		}
	}
	return list
}

// enumerations are the types whose constants name members of a family and which are declared with the functions.
var enumerations = map[string]string{
	"op":   "op names an elementwise kernel.",
	"fold": "fold names a reduction.",
}

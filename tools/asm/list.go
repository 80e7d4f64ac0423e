package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kernel is an entry of the list: a function of a package of internal/simd, written as assembly for one or both levels, or a family of
// such functions. From it come the assembly, its declarations in Go, and the function call, which picks the level and the family's member.
type kernel struct {
	room string // the package
	call string // the name in Go
	doc  string // what it does, after its name
	by   string // parameters of call that pick a member of a family
	args string // all other parameters, which are the assembly's
	of   func(s isa) []member
}

// member is a function of a kernel for one level.
type member struct {
	name string   // of the assembly, without the level's
	when []string // the values of the parameters of by
	emit func()   // writes the body
}

// one is a kernel that is no family.
func one(name string, emit func(isa)) func(isa) []member {
	return func(s isa) []member { return []member{{name, nil, func() { emit(s) }}} }
}

// at is a kernel of one level only, that whose vectors have so many lanes.
func at(width int, of func(isa) []member) func(isa) []member {
	return func(s isa) []member {
		if s.w != width {
			return nil
		}
		return of(s)
	}
}

// family has a member for each of some lists of numbers, which are in its name and are given to emit.
func family(format string, sizes func(s isa) [][]int, emit func(s isa, v []int)) func(isa) []member {
	return func(s isa) (list []member) {
		for _, v := range sizes(s) {
			var shown []any
			var when []string
			for _, n := range v {
				shown, when = append(shown, n), append(when, strconv.Itoa(n))
			}
			list = append(list, member{fmt.Sprintf(format, shown...), when, func() { emit(s, v) }})
		}
		return list
	}
}

// of1, of2 and of3 give emit its numbers one by one.
func of1(emit func(s isa, a int)) func(isa, []int) {
	return func(s isa, v []int) { emit(s, v[0]) }
}

func of2(emit func(s isa, a, b int)) func(isa, []int) {
	return func(s isa, v []int) { emit(s, v[0], v[1]) }
}

func of3(emit func(s isa, a, b, c int)) func(isa, []int) {
	return func(s isa, v []int) { emit(s, v[0], v[1], v[2]) }
}

// ofWindow gives emit its numbers as windows.
func ofWindow(emit func(s isa, q squares)) func(isa, []int) {
	return func(s isa, v []int) { emit(s, squares{v[0], v[1]}) }
}

// fixed are the same lists of numbers at both levels.
func fixed(lists ...[]int) func(isa) [][]int {
	return func(isa) [][]int { return lists }
}

// upTo are the numbers from 1 to n.
func numbers(n int) func(isa) [][]int {
	var lists [][]int
	for i := range n {
		lists = append(lists, []int{i + 1})
	}
	return fixed(lists...)
}

// Sizes of the families.

// tiles are the rows and vectors of micro kernels of matrix products: a tile has two vectors of columns and three rows for every register
// that is left for a third of its sums; smaller ones serve the edges.
func tiles(s isa) (sizes [][]int) {
	for thirds := 1; thirds <= 3; thirds++ {
		for vectors := 1; vectors <= 2; vectors++ {
			sizes = append(sizes, []int{tileRows(s) / 3 * thirds, vectors})
		}
	}
	return sizes
}

// tileRows is the number of rows of a whole tile.
func tileRows(s isa) int {
	if s.w == 16 {
		return 12
	}
	return 6
}

// scatteredTiles are tiles of six rows, with as many vectors as there are registers for, and with half of them.
func scatteredTiles(s isa) [][]int {
	if s.w == 16 {
		return [][]int{{6, 4}, {6, 2}}
	}
	return [][]int{{6, 2}, {6, 1}}
}

// most is how many sums of two vectors there are registers for, beside what is multiplied.
func most(s isa) int {
	if s.w == 16 {
		return 14
	}
	return 6
}

// pixelTiles are pixels, and vectors of one and of two blocks of channels as far as registers go.
func pixelTiles(s isa) (sizes [][]int) {
	for vectors := lanes / s.w; vectors <= 2; vectors++ {
		for pixels := range most(s) {
			sizes = append(sizes, []int{pixels + 1, vectors})
		}
	}
	return sizes
}

// pixelSumTiles are rows and vectors of a tile of a pointwise convolution's weight gradient: half a block of channels with AVX-512, a block
// in three parts with AVX2.
func pixelSumTiles(s isa) [][]int {
	if s.w == 16 {
		return [][]int{{8, 1}, {8, 2}, {8, 3}}
	}
	return [][]int{{6, 2}, {5, 2}}
}

// offsetSumTiles are lines, kernel offsets of each, and vectors. A line takes a general register.
func offsetSumTiles(s isa) (sizes [][]int) {
	const lines = 4
	for vectors := lanes / s.w; vectors <= 2; vectors++ {
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

func elementwise(s isa) (list []member) {
	for _, o := range slices.Concat(s.arithmetic(), s.transcendental()) {
		list = append(list, member{o.name, []string{constant("op", o.name)}, func() { s.elementwise(o.uses, o.unroll, o.body) }})
	}
	return list
}

func folds(s isa) (list []member) {
	for _, r := range reductions() {
		list = append(list, member{r.name, []string{constant("fold", r.name)}, func() { s.reduction(r.two, r.body) }})
	}
	return list
}

func updates(s isa) (list []member) {
	for _, r := range s.rules() {
		list = append(list, member{r.name, []string{r.label}, func() { s.update(r.histories, r.body) }})
	}
	return list
}

func winogradMaps(s isa) (list []member) {
	for _, form := range [][2]int{{2, 3}, {4, 3}, {4, 5}, {5, 3}} {
		for _, l := range s.minimal(form[0], form[1]) {
			list = append(list, member{fmt.Sprintf("winograd%s%dx%d", l.name, form[0], form[1]),
				[]string{l.name, strconv.Itoa(form[0]), strconv.Itoa(form[1])},
				func() { s.winograd(l.name, form[0], form[1]) }})
		}
	}
	return list
}

func outerProducts(s isa) (list []member) {
	for m := 1; m <= 2; m++ {
		for _, add := range []bool{false, true} {
			name := map[bool]string{false: "outerRows", true: "addOuterRows"}[add]
			list = append(list, member{fmt.Sprintf("%s%d", name, m), []string{strconv.Itoa(m), strconv.FormatBool(add)}, func() { s.outerRows(m, add) }})
		}
	}
	return list
}

// enumerations are the types whose constants name members of a family and which are declared with the functions.
var enumerations = map[string]string{
	"op":   "op names an elementwise kernel.",
	"fold": "fold names a reduction.",
}

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
	"github.com/swcaffe/swcaffe/tools/asm/vec"
	"github.com/swcaffe/swcaffe/tools/asm/vgemm"
	"github.com/swcaffe/swcaffe/tools/asm/vwinograd"
)

// tiles are the rows and vectors of micro-kernels of matrix products: a third, two thirds or all of a tile's rows, and one or both of its vectors.
// The smaller ones serve the edges.
func tiles(s emit.ISA) (sizes [][]int) {
	for thirds := 1; thirds <= 3; thirds++ {
		for vectors := 1; vectors <= 2; vectors++ {
			sizes = append(sizes, []int{vgemm.TileRows(s) / 3 * thirds, vectors})
		}
	}
	return sizes
}

// scatteredTiles are tiles of six rows, with as many vectors as fit the registers, and with half of them.
func scatteredTiles(s emit.ISA) [][]int {
	if s.Width == 16 {
		return [][]int{{6, 4}, {6, 2}}
	}
	return [][]int{{6, 2}, {6, 1}}
}

// most is the number of sums of two vectors that fit the registers, beside the factors.
func most(s emit.ISA) int {
	if s.Width == 16 {
		return 14
	}
	return 6
}

// pixelTiles are pixels, and vectors of one and of two blocks of channels, as far as there are registers.
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

// poolWindows are the most common windows of nets, k x k and s apart.
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

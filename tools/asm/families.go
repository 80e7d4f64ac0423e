package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
	"github.com/swcaffe/swcaffe/tools/asm/vconv"
	"github.com/swcaffe/swcaffe/tools/asm/vec"
	"github.com/swcaffe/swcaffe/tools/asm/vgemm"
	"github.com/swcaffe/swcaffe/tools/asm/vwinograd"
)

// sizes are the block sizes of all packages: tiles of kernels, as far as there are registers.
var sizes = []size{
	{"vgemm", "Rows", "is the number of rows of the tile of matrix products: of panels of A, Micro and Strided.", 4, vgemm.TileRows},
	{"vgemm", "Columns", "is the number of columns of that tile, two vectors; a multiple of 8.", 8, func(s emit.ISA) int { return 2 * s.Width }},
	{"vgemm", "ScatteredRows", "is the number of rows of the tile of Scattered.", 4, func(emit.ISA) int { return 6 }},
	{"vgemm", "ScatteredVectors", "is the number of vectors of columns of that tile.", 2, func(s emit.ISA) int { return s.Registers / 8 }},
	{"vgemm", "ScatteredLanes", "is the number of lanes of these vectors.", 4, func(s emit.ISA) int { return s.Width }},
	{"vconv", "TilePixels", "is the largest number of pixels of the tiles of Pixels and Offsets, and of kernel offsets of OffsetSums.", 4, most},
	{"vconv", "LeastByte", "is what ToBytes makes of the least value and Bytes multiplies.", 0, vconv.LeastByte},
	{"vconv", "TapPixels", "is the largest number of pixels of the tiles of Taps.", 1, tapPixels},
	{"vconv", "SumRows", "is the number of rows of the tile of PixelSums. Of a whole block, kernels of 6, 5 and 5 rows compute a part each.", emit.Lanes,
		func(s emit.ISA) int { return halfOr(s, emit.Lanes/2, emit.Lanes) }},
	{"vconv", "SumBlocks", "is the largest number of blocks of columns of that tile.", 1, func(s emit.ISA) int { return halfOr(s, 3, 1) }},
}

// tiles are the micro-kernels of matrix products, of a third, two thirds or all of a tile's rows, and of one or both of its vectors. The smaller
// ones serve the edges. order are indices before these two.
func tiles(format string, body func(s emit.ISA, rows, vectors int), order ...string) func(emit.ISA) []member {
	return func(s emit.ISA) (list []member) {
		for thirds := 1; thirds <= 3; thirds++ {
			for vectors := 1; vectors <= 2; vectors++ {
				rows := vgemm.TileRows(s) / 3 * thirds
				when := append(slices.Clip(order), strconv.Itoa(thirds), strconv.Itoa(vectors))
				list = append(list, member{name: fmt.Sprintf(format, rows, vectors), when: when, emit: func() { body(s, rows, vectors) }})
			}
		}
		return list
	}
}

// strided are the tiles for both orders of the values of A.
func strided(s emit.ISA) []member {
	return slices.Concat(tiles("rows%dx%d", vgemm.ByRows, "byRows")(s), tiles("columns%dx%d", vgemm.ByColumns, "byColumns")(s))
}

// scatteredTiles are tiles of six rows, with as many vectors as fit the registers, and with half of them.
func scatteredTiles(s emit.ISA) [][]int {
	most := s.Registers / 8
	return [][]int{{6, most}, {6, most / 2}}
}

// halfOr returns half if a block of channels is one vector, else other.
func halfOr(s emit.ISA, half, other int) int {
	if s.Width == emit.Lanes {
		return half
	}
	return other
}

// blockVectors are numbers of vectors of output channels: those of one block, and of two if there are no more than two.
func blockVectors(s emit.ISA) []int {
	if one := emit.Lanes / s.Width; one > 1 {
		return []int{one}
	}
	return []int{1, 2}
}

// most is the number of sums of two vectors, or of a block's, that fit the registers, beside the factors. With Elements the factors are a vector for each pixel.
func most(s emit.ISA) int {
	vectors := slices.Max(append(blockVectors(s), 2))
	if s.Elements {
		return (s.Registers - vectors) / (vectors + 1)
	}
	return (s.Registers - vectors - 2) / vectors
}

// tapPixels is the number of pixels whose sums, of a whole block of channels, fit the registers beside a block of weights; NEON has inputs in registers too.
func tapPixels(s emit.ISA) int {
	vectors := emit.Lanes / s.Width
	if s.Elements {
		return (s.Registers - 2*vectors) / vectors
	}
	return min(14, (s.Registers-vectors)/vectors)
}

// tapTiles are numbers of pixels up to that.
func tapTiles(s emit.ISA) [][]int { return numbers(tapPixels(s))(s) }

// pixelTiles are pixels, and vectors of one and of two blocks of channels, as far as there are registers.
func pixelTiles(s emit.ISA) (sizes [][]int) {
	for _, vectors := range blockVectors(s) {
		for pixels := range most(s) {
			sizes = append(sizes, []int{pixels + 1, vectors})
		}
	}
	return sizes
}

// rowTiles are pixelTiles and, of one and two pixels, both blocks of channels where pixelTiles have one: these read weights, which come from memory then, once.
func rowTiles(s emit.ISA) [][]int {
	sizes := pixelTiles(s)
	if 2*s.Width == emit.Lanes {
		sizes = append(sizes, []int{1, 4}, []int{2, 4})
	}
	return sizes
}

// wordTiles are rowTiles without the largest, if all registers would be in use: products of words take one more.
func wordTiles(s emit.ISA) [][]int {
	return slices.DeleteFunc(rowTiles(s), func(size []int) bool { return s.EVEX && size[0] == most(s) })
}

// pixelSumTiles are rows and vectors of a tile of a pointwise convolution's weight gradient: half a block of channels if it is one vector, else
// a block in three parts.
func pixelSumTiles(s emit.ISA) [][]int {
	if s.Width == emit.Lanes {
		return [][]int{{8, 1}, {8, 2}, {8, 3}}
	}
	return [][]int{{6, emit.Lanes / s.Width}, {5, emit.Lanes / s.Width}}
}

// offsetSumTiles are lines, kernel offsets of each, and vectors. A line takes a general register.
func offsetSumTiles(s emit.ISA) (sizes [][]int) {
	const lines = 4
	for _, vectors := range blockVectors(s) {
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

// constant is a name with an upper-case letter behind a prefix: that of a field, or of the constant that names a member.
func constant(prefix, name string) string { return prefix + strings.ToUpper(name[:1]) + name[1:] }

func elementwise(s emit.ISA) (list []member) {
	for _, o := range slices.Concat(vec.Arithmetic(s), vec.Transcendental(s)) {
		list = append(list, member{name: o.Name, when: []string{constant("op", o.Name)}, emit: func() { vec.Elementwise(s, o.Uses, o.Unroll, o.Body) }})
	}
	return list
}

func folds(s emit.ISA) (list []member) {
	for _, r := range vec.Reductions() {
		list = append(list, member{name: r.Name, when: []string{constant("fold", r.Name)}, emit: func() { vec.Reduction(s, r.Two, r.Body) }})
	}
	return list
}

func updates(s emit.ISA) (list []member) {
	for _, r := range vec.Rules(s) {
		list = append(list, member{name: r.Name, when: []string{r.Label}, emit: func() { vec.Update(s, r.Histories, r.Body) }})
	}
	return list
}

func winogradMaps(s emit.ISA) (list []member) {
	for _, form := range [][2]int{{2, 3}, {4, 3}, {4, 5}, {5, 3}} {
		for _, l := range vwinograd.Maps(s, form[0], form[1]) {
			list = append(list, member{
				name: fmt.Sprintf("winograd%s%dx%d", l.Name, form[0], form[1]),
				when: []string{l.Name, strconv.Itoa(form[0]), strconv.Itoa(form[1])},
				emit: l.Emit,
			})
		}
	}
	return list
}

func outerProducts(s emit.ISA) (list []member) {
	for m := 1; m <= 2; m++ {
		for add, name := range []string{"outerRows", "addOuterRows"} {
			list = append(list, member{name: fmt.Sprintf("%s%d", name, m), when: []string{strconv.Itoa(m), strconv.Itoa(add)}, emit: func() { vgemm.OuterRows(s, m, add == 1) }})
		}
	}
	return list
}

// enumerations are the types whose constants name members of a family and which are declared with the functions.
var enumerations = map[string]string{
	"op":   "op names an elementwise kernel.",
	"fold": "fold names a reduction.",
}

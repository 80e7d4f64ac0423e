package vgemm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// panelAhead is the distance in bytes at which a panel of A is fetched ahead, since panels of B push it out of L1. columnsAhead is the distance for a
// panel of B whose vectors fill cache lines.
const (
	panelAhead   = 768
	columnsAhead = 1536
)

// TileRows is the number of rows of a whole tile.
func TileRows(s emit.ISA) int {
	if s.Registers == 32 {
		return 12
	}
	return 6
}

// Micro emits the GEMM micro-kernel of the first rows of panels of mr rows, and of the first nv of two vectors of columns. It fetches the tile of
// C row by row, one every four steps: rows that come from memory would hold up the panels if they were fetched all at once. Short sums
// fetch the tile before they begin.
func Micro(s emit.ISA, rows, nv int) {
	mr := TileRows(s)
	k := emit.GP("k")
	a := emit.GP("a")
	b := emit.GP("b")
	c := emit.GP("c")
	ldc := emit.GP("ldc")
	SHLQ(Imm(2), ldc)
	acc := s.Accumulators(rows, nv)
	wide := 4 * s.Width
	step := func(u int) {
		bv := make([]reg.VecVirtual, nv)
		for j := range bv {
			if wide == emit.CacheLine {
				PREFETCHT0(Mem{Base: b, Disp: columnsAhead + (2*u+j)*wide})
			}
			bv[j] = s.Load(Mem{Base: b, Disp: (2*u + j) * wide})
		}
		s.AddColumn(acc, Mem{Base: a, Disp: u * mr * 4}, bv, func(i int) bool { return i%6 == 1 }, s.AddProducts)
	}
	advance := func(n int) {
		ADDQ(U32(n*mr*4), a)
		ADDQ(U32(n*2*wide), b)
		SUBQ(U32(n), k)
	}
	four := func() {
		for u := range 4 {
			if u*64 < 4*mr*4 {
				PREFETCHT0(Mem{Base: a, Disp: panelAhead + u*64})
			}
			step(u)
		}
		advance(4)
	}
	CMPQ(k, U32(uint32(4*rows)))
	JGE(LabelRef("long"))
	fetchRows(s, c, ldc, rows, nv)
	JMP(LabelRef("fetched"))
	Label("long")
	row, left := GP64(), GP64()
	MOVQ(c, row)
	MOVQ(U32(uint32(rows)), left)
	emit.Align(64)
	Label("fetch")
	fetchRow(s, row, nv)
	four()
	ADDQ(ldc, row)
	DECQ(left)
	JNE(LabelRef("fetch"))
	Label("fetched")
	byFours(k, four, func() {
		step(0)
		advance(1)
	})
	s.StoreTile(acc, c, ldc, nil)
}

// byFours emits a loop of k steps: four, which takes 4 off k, then one, which takes 1 off. It ends at the label store.
func byFours(k reg.Register, four, one func()) {
	CMPQ(k, U32(4))
	JLT(LabelRef("one"))
	emit.Align(64)
	Label("four")
	four()
	emit.Align(32)
	CMPQ(k, U32(4))
	JGE(LabelRef("four"))
	Label("one")
	CMPQ(k, U32(1))
	JLT(LabelRef("store"))
	one()
	JMP(LabelRef("one"))
	Label("store")
}

// fetchRows fetches a tile of nv vectors of columns, whose rows lie ldc bytes apart.
func fetchRows(s emit.ISA, c, ldc reg.Register, rows, nv int) {
	at := GP64()
	MOVQ(c, at)
	for range rows {
		fetchRow(s, at, nv)
		ADDQ(ldc, at)
	}
}

// fetchRow fetches a row of nv vectors, which need not begin at a cache line.
func fetchRow(s emit.ISA, at reg.Register, nv int) {
	for j := range nv {
		PREFETCHT0(Mem{Base: at, Disp: j * 4 * s.Width})
	}
	PREFETCHT0(Mem{Base: at, Disp: nv*4*s.Width - 4})
}

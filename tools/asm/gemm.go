package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panelAhead is how many bytes ahead of its use a panel of A is fetched, of which B's take the place in L1, and columnsAhead the same for a
// panel of B with AVX-512.
const (
	panelAhead   = 768
	columnsAhead = 1536
)

// micro emits the GEMM micro kernel of the first rows of panels of mr rows, and of the first nv of two vectors of columns. The tile is
// fetched row by row, one every four steps: all at once they would hold up the panels, if they came from memory. Short sums have no
// time for that.
func (s isa) micro(rows, nv int) {
	mr := tileRows(s)
	k := Load(Param("k"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	SHLQ(Imm(2), ldc)
	acc := s.accumulators(rows, nv)
	wide := 4 * s.w
	step := func(u int) {
		bv := make([]reg.VecVirtual, nv)
		for j := range bv {
			if s.w == 16 {
				PREFETCHT0(Mem{Base: b, Disp: columnsAhead + (2*u+j)*wide})
			}
			bv[j] = s.load(Mem{Base: b, Disp: (2*u + j) * wide})
		}
		for i := range acc {
			s.addProducts(acc[i], Mem{Base: a, Disp: (u*mr + i) * 4}, bv, i%6 == 1)
		}
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
	s.fetchRows(c, ldc, rows, nv)
	JMP(LabelRef("fetched"))
	Label("long")
	row, left := GP64(), GP64()
	MOVQ(c, row)
	MOVQ(U32(uint32(rows)), left)
	align(64)
	Label("fetch")
	s.fetchRow(row, nv)
	four()
	ADDQ(ldc, row)
	DECQ(left)
	JNE(LabelRef("fetch"))
	Label("fetched")
	CMPQ(k, U32(4))
	JLT(LabelRef("one"))
	align(64)
	Label("four")
	four()
	align(32)
	CMPQ(k, U32(4))
	JGE(LabelRef("four"))
	Label("one")
	CMPQ(k, U32(1))
	JLT(LabelRef("store"))
	step(0)
	advance(1)
	JMP(LabelRef("one"))
	Label("store")
	s.storeTile(acc, c, ldc, nil)
}

// fetchRows fetches a tile of nv vectors of columns, whose rows lie ldc bytes apart.
func (s isa) fetchRows(c, ldc reg.Register, rows, nv int) {
	at := GP64()
	MOVQ(c, at)
	for range rows {
		s.fetchRow(at, nv)
		ADDQ(ldc, at)
	}
}

// fetchRow fetches a row of nv vectors, which may begin within a line.
func (s isa) fetchRow(at reg.Register, nv int) {
	for j := range nv {
		PREFETCHT0(Mem{Base: at, Disp: j * 4 * s.w})
	}
	PREFETCHT0(Mem{Base: at, Disp: nv*4*s.w - 4})
}

// accumulators are zeros for a tile of nv vectors of columns.
func (s isa) accumulators(rows, nv int) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		for range nv {
			acc[i] = append(acc[i], s.zero())
		}
	}
	return acc
}

// addProducts adds a value's products with vectors to a row of a tile. With embed each multiplication loads the value itself where
// the level can: one instruction less, which counts where another thread of the core takes its share of those that begin in a
// cycle, for one load more, of which a cycle has two.
func (s isa) addProducts(sums []reg.VecVirtual, value Mem, vectors []reg.VecVirtual, embed bool) {
	if embed && s.w == 16 {
		for j, v := range vectors {
			VFMADD231PS_BCST(value, v, sums[j])
		}
		return
	}
	x := s.v()
	VBROADCASTSS(value, x)
	for j, v := range vectors {
		VFMADD231PS(v, x, sums[j])
	}
}

// storeTile ends a micro kernel: it stores the tile's first m rows and n columns, in rows ldc bytes apart, added to what is there if
// accumulate is set. after, if not nil, is what comes behind storing.
func (s isa) storeTile(acc [][]reg.VecVirtual, c, ldc reg.Register, after func()) {
	keep := Load(Param("accumulate"), GP8())
	m, n := Load(Param("m"), GP64()), Load(Param("n"), GP64())
	CMPQ(m, Imm(uint64(len(acc))))
	JNE(LabelRef("edge"))
	CMPQ(n, U32(uint32(s.w*len(acc[0]))))
	JNE(LabelRef("edge"))
	TESTB(keep, keep)
	JEQ(LabelRef("write"))
	from := GP64()
	MOVQ(c, from)
	for i := range acc {
		for j := range acc[i] {
			VADDPS(Mem{Base: from, Disp: j * 4 * s.w}, acc[i][j], acc[i][j])
		}
		ADDQ(ldc, from)
	}
	Label("write")
	for i := range acc {
		for j := range acc[i] {
			VMOVUPS(acc[i][j], Mem{Base: c, Disp: j * 4 * s.w})
		}
		ADDQ(ldc, c)
	}
	if after != nil {
		after()
	}
	VZEROUPPER()
	RET()
	Label("edge")
	s.storeEdge(acc, c, ldc, keep, m, s.masks(n, len(acc[0])), after)
}

// masks are those of n lanes of some vectors.
func (s isa) masks(n reg.Register, vectors int) []reg.Register {
	words, zero := Load(Param("words"), GP64()), GP64()
	XORQ(zero, zero)
	full := GP64()
	MOVQ(U32(uint32(s.w)), full)
	list := make([]reg.Register, vectors)
	for j := range list {
		lanes, at := GP64(), GP64()
		LEAQ(Mem{Base: n, Disp: -j * s.w}, lanes)
		CMPQ(lanes, zero)
		CMOVQLT(zero, lanes)
		CMPQ(lanes, full)
		CMOVQGT(full, lanes)
		NEGQ(lanes)
		LEAQ(Mem{Base: words, Index: lanes, Scale: 4}, at)
		list[j] = s.mask(at)
	}
	return list
}

// storeEdge stores m rows of a tile, lanes that masks let through.
func (s isa) storeEdge(acc [][]reg.VecVirtual, c, ldc, keep, m reg.Register, masks []reg.Register, after func()) {
	TESTB(keep, keep)
	JEQ(LabelRef("writeEdge"))
	from, left := GP64(), GP64()
	MOVQ(c, from)
	MOVQ(m, left)
	for i := range acc {
		for j := range acc[i] {
			VADDPS(s.loadMasked(Mem{Base: from, Disp: j * 4 * s.w}, masks[j]), acc[i][j], acc[i][j])
		}
		ADDQ(ldc, from)
		DECQ(left)
		JEQ(LabelRef("writeEdge"))
	}
	Label("writeEdge")
	for i := range acc {
		for j := range acc[i] {
			s.storeMasked(acc[i][j], Mem{Base: c, Disp: j * 4 * s.w}, masks[j])
		}
		ADDQ(ldc, c)
		DECQ(m)
		JEQ(LabelRef("end"))
	}
	Label("end")
	if after != nil {
		after()
	}
	VZEROUPPER()
	RET()
}

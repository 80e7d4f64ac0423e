package emit

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Accumulators are zeros for a tile of rows with nv vectors of columns.
func (s ISA) Accumulators(rows, nv int) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		for range nv {
			acc[i] = append(acc[i], s.Zero())
		}
	}
	return acc
}

// AddProducts adds a value times some vectors to a row of a tile. With embed each multiplication of EVEX broadcasts the value from memory, which
// saves an instruction and costs a load. A core can do two loads a cycle, and its two threads share the instructions of a cycle.
func (s ISA) AddProducts(sums []reg.VecVirtual, value Mem, vectors []reg.VecVirtual, embed bool) {
	if embed && s.EVEX {
		for j, v := range vectors {
			VFMADD231PS_BCST(value, v, sums[j])
		}
		return
	}
	x := s.V()
	if s.Elements {
		VMOVSS(value, x)
		AddElement(sums, 0, x, vectors)
		return
	}
	VBROADCASTSS(value, x)
	for j, v := range vectors {
		VFMADD231PS(v, x, sums[j])
	}
}

// Multiply adds a value times some vectors to a row of a tile: AddProducts, or the same of another number type.
type Multiply func(sums []reg.VecVirtual, value Mem, vectors []reg.VecVirtual, embed bool)

// AddColumn adds a column of values, side by side from at, times a row of vectors to a tile, by multiply if a set has no Elements. embed is that of
// AddProducts for each row.
func (s ISA) AddColumn(acc [][]reg.VecVirtual, at Mem, row []reg.VecVirtual, embed func(i int) bool, multiply Multiply) {
	whole := 0
	if s.Elements {
		whole = len(acc) / 4 * 4
	}
	values := make([]reg.VecVirtual, whole/4)
	for q := range values {
		values[q] = s.Load(at.Offset(16 * q))
	}
	for i, sums := range acc[:whole] {
		AddElement(sums, i%4, values[i/4], row)
	}
	for i := whole; i < len(acc); i++ {
		if s.Elements && i+1 < len(acc) {
			pair := s.V()
			VMOVQ(at.Offset(4*i), pair)
			AddElement(acc[i], 0, pair, row)
			AddElement(acc[i+1], 1, pair, row)
			i++
			continue
		}
		multiply(acc[i], at.Offset(4*i), row, embed(i))
	}
}

// AddElement adds one lane of a vector times some vectors to a row of a tile, on sets with Elements.
func AddElement(sums []reg.VecVirtual, lane int, values reg.VecVirtual, vectors []reg.VecVirtual) {
	for j, v := range vectors {
		AddProduct(lane, values, v, sums[j])
	}
}

// AddProduct adds one lane of a vector times another vector, on sets with Elements.
func AddProduct(lane int, values, v, sum reg.VecVirtual) {
	addElement("FMLAELEMENT", lane, values, v, sum)
}

// AddByteProduct is AddProduct for lanes of four bytes with signs: each lane of the sum, an integer, adds the four products.
func AddByteProduct(lane int, values, v, sum reg.VecVirtual) {
	addElement("SDOTELEMENT", lane, values, v, sum)
}

func addElement(opcode string, lane int, values, v, sum reg.VecVirtual) {
	Instruction(&ir.Instruction{Opcode: opcode, Operands: []Op{Imm(uint64(lane)), values, v, sum}, Inputs: []Op{values, v, sum}, Outputs: []Op{sum}})
}

// AddLanes is the sum of the lanes of a vector of integers, on sets with Elements.
func AddLanes(v reg.VecVirtual, sum reg.GPVirtual) {
	Instruction(&ir.Instruction{Opcode: "ADDLANES", Operands: []Op{v, sum}, Inputs: []Op{v}, Outputs: []Op{sum}})
}

// AddPairs is AddProducts for pairs of bfloat16 values: each lane adds both products of its pair.
func (s ISA) AddPairs(sums []reg.VecVirtual, pair Mem, vectors []reg.VecVirtual, embed bool) {
	if embed {
		for j, v := range vectors {
			DotPairsEach(pair, v, sums[j])
		}
		return
	}
	x := s.V()
	VBROADCASTSS(pair, x)
	for j, v := range vectors {
		DotPairs(v, x, sums[j])
	}
}

// AddBytes is AddProducts for four bytes, without signs, and vectors of four bytes with signs: each lane, an integer, adds the four products.
func (s ISA) AddBytes(sums []reg.VecVirtual, four Mem, vectors []reg.VecVirtual, _ bool) {
	x := s.V()
	VBROADCASTSS(four, x)
	for j, v := range vectors {
		VPDPBUSD(v, x, sums[j])
	}
}

// AddWords is AddBytes for pairs of 16-bit integers.
func (s ISA) AddWords(sums []reg.VecVirtual, pair Mem, vectors []reg.VecVirtual, _ bool) {
	x := s.V()
	VBROADCASTSS(pair, x)
	for j, v := range vectors {
		products := s.V()
		VPMADDWD(v, x, products)
		VPADDD(products, sums[j], sums[j])
	}
}

// StoreTile ends a micro-kernel: it stores the tile's first m rows and n columns, in rows ldc bytes apart, or adds them if accumulate is set.
// after, unless nil, emits the code behind the stores.
func (s ISA) StoreTile(acc [][]reg.VecVirtual, c, ldc reg.Register, after func()) {
	keep := Load(Param("accumulate"), GP8())
	m, n := GP("m"), GP("n")
	CMPQ(m, Imm(uint64(len(acc))))
	JNE(LabelRef("edge"))
	CMPQ(n, U32(uint32(s.Width*len(acc[0]))))
	JNE(LabelRef("edge"))
	TESTB(keep, keep)
	JEQ(LabelRef("write"))
	from := GP64()
	MOVQ(c, from)
	for i := range acc {
		for j := range acc[i] {
			VADDPS(Mem{Base: from, Disp: j * 4 * s.Width}, acc[i][j], acc[i][j])
		}
		ADDQ(ldc, from)
	}
	Label("write")
	for i := range acc {
		for j := range acc[i] {
			VMOVUPS(acc[i][j], Mem{Base: c, Disp: j * 4 * s.Width})
		}
		ADDQ(ldc, c)
	}
	if after != nil {
		after()
	}
	VZEROUPPER()
	RET()
	Label("edge")
	store := s.storeEdge
	if s.Elements {
		store = s.storeEdgeRows
	}
	store(acc, c, ldc, keep, m, s.masks(n, len(acc[0])), after)
}

// masks are the masks of the first n columns, one for each vector.
func (s ISA) masks(n reg.Register, vectors int) []reg.Register {
	words, zero := GP("words"), GP64()
	XORQ(zero, zero)
	full := GP64()
	MOVQ(U32(uint32(s.Width)), full)
	list := make([]reg.Register, vectors)
	for j := range list {
		lanes, at := GP64(), GP64()
		LEAQ(Mem{Base: n, Disp: -j * s.Width}, lanes)
		CMPQ(lanes, zero)
		CMOVQLT(zero, lanes)
		CMPQ(lanes, full)
		CMOVQGT(full, lanes)
		NEGQ(lanes)
		LEAQ(Mem{Base: words, Index: lanes, Scale: 4}, at)
		list[j] = s.Mask(at)
	}
	return list
}

// storeEdge stores m rows of a tile, through masks.
func (s ISA) storeEdge(acc [][]reg.VecVirtual, c, ldc, keep, m reg.Register, masks []reg.Register, after func()) {
	TESTB(keep, keep)
	JEQ(LabelRef("writeEdge"))
	from, left := GP64(), GP64()
	MOVQ(c, from)
	MOVQ(m, left)
	for i := range acc {
		for j := range acc[i] {
			VADDPS(s.LoadMasked(Mem{Base: from, Disp: j * 4 * s.Width}, masks[j]), acc[i][j], acc[i][j])
		}
		ADDQ(ldc, from)
		DECQ(left)
		JEQ(LabelRef("writeEdge"))
	}
	Label("writeEdge")
	for i := range acc {
		for j := range acc[i] {
			s.StoreMasked(acc[i][j], Mem{Base: c, Disp: j * 4 * s.Width}, masks[j])
		}
		ADDQ(ldc, c)
		DECQ(m)
		JEQ(LabelRef("end"))
	}
	Label("end")
	if after != nil {
		after()
	}
	s.Ret()
}

// storeEdgeRows is storeEdge by a loop over the rows, which the stack holds, for sets whose masked stores are many instructions.
func (s ISA) storeEdgeRows(acc [][]reg.VecVirtual, c, ldc, keep, m reg.Register, masks []reg.Register, after func()) {
	row, at := 4*s.Width*len(masks), GP64()
	LEAQ(AllocLocal(row*len(acc)), at)
	for i := range acc {
		for j, v := range acc[i] {
			VMOVUPS(v, Mem{Base: at, Disp: row*i + 4*s.Width*j})
		}
	}
	Label("row")
	for j, mask := range masks {
		v, write := s.Load(Mem{Base: at, Disp: 4 * s.Width * j}), fmt.Sprintf("write%d", j)
		TESTB(keep, keep)
		JEQ(LabelRef(write))
		VADDPS(s.LoadMasked(Mem{Base: c, Disp: 4 * s.Width * j}, mask), v, v)
		Label(write)
		s.StoreMasked(v, Mem{Base: c, Disp: 4 * s.Width * j}, mask)
	}
	ADDQ(U32(uint32(row)), at)
	ADDQ(ldc, c)
	DECQ(m)
	JNE(LabelRef("row"))
	if after != nil {
		after()
	}
	s.Ret()
}

// Place returns the address of the tile of C, and the bytes from one row to the next.
func Place() (c, ldc reg.Register) {
	c, ldc = GP("c"), GP("ldc")
	SHLQ(Imm(2), ldc)
	return c, ldc
}

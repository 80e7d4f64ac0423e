package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is how many channels a block of channels has, and pixelBytes how many bytes.
const (
	lanes      = 16
	pixelBytes = 4 * lanes
)

// pixels emits the micro kernel of a pointwise convolution of tiles of some pixels with nv vectors of output channels: C (rows x vectors,
// pixels side by side, vectors jumpC apart) = start + A (rows x 16*blocks, blocks jumpA apart) * B, panels of 32 columns. On the way it
// fetches the same pixels of the next block to L1, or the next tile's of the first one, those behind them to L2, and the results of
// these to L1.
func (s isa) pixels(rows, nv int) {
	Label("tile")
	blocks, a, jumpA := Load(Param("blocks"), GP64()), Load(Param("a"), GP64()), Load(Param("jumpA"), GP64())
	b, start := Load(Param("b"), GP64()), Load(Param("start"), GP64())
	c, jumpC := Load(Param("c"), GP64()), Load(Param("jumpC"), GP64())
	SHLQ(Imm(2), jumpA)
	SHLQ(Imm(2), jumpC)
	acc := s.started(start, rows, nv)
	column := func(j int) Mem {
		if j == 0 {
			return Mem{Base: c}
		}
		return Mem{Base: c, Index: jumpC, Scale: 1}
	}
	const unroll = 4
	next, far, turns := GP64(), GP64(), GP64()
	later, last, after := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: a, Disp: rows * pixelBytes}, after)
	MOVQ(after, paramAt("a"))
	LEAQ(Mem{Base: c, Disp: rows * pixelBytes}, later)
	MOVQ(later, paramAt("c"))
	LEAQ(Mem{Base: c, Disp: (2*rows - 1) * pixelBytes}, last)
	align(64)
	Label("block")
	LEAQ(Mem{Base: a, Disp: rows * pixelBytes}, far)
	LEAQ(Mem{Base: a, Index: jumpA, Scale: 1}, next)
	CMPQ(blocks, Imm(1))
	CMOVQEQ(after, next)
	MOVQ(U32(lanes/unroll), turns)
	align(32)
	Label("several")
	for u := range unroll {
		vectors := make([]reg.VecVirtual, nv)
		for j := range vectors {
			vectors[j] = s.load(Mem{Base: b, Disp: 2*pixelBytes*u + 4*s.w*j})
		}
		PREFETCHT0(Mem{Base: next, Disp: u * pixelBytes})
		PREFETCHT1(Mem{Base: far, Disp: u * pixelBytes})
		for i := range acc {
			s.addProducts(acc[i], Mem{Base: a, Disp: i*pixelBytes + 4*u}, vectors, i%6 == 1)
		}
	}
	s.fetchLater(later, last, jumpC, nv)
	ADDQ(Imm(4*unroll), a)
	ADDQ(U32(2*pixelBytes*unroll), b)
	ADDQ(U32(pixelBytes*unroll), next)
	ADDQ(U32(pixelBytes*unroll), far)
	DECQ(turns)
	JNE(LabelRef("several"))
	LEAQ(Mem{Base: a, Index: jumpA, Scale: 1, Disp: -pixelBytes}, a)
	DECQ(blocks)
	JNE(LabelRef("block"))
	s.putPixels(acc, column)
	DECQ(paramAt("tiles"))
	JNE(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// fetchLater fetches a line of each vector of the results of the pixels that are likely to come next, one after the other.
func (s isa) fetchLater(later, last, jumpC reg.Register, nv int) {
	PREFETCHT0(Mem{Base: later})
	if 4*s.w*nv > pixelBytes {
		PREFETCHT0(Mem{Base: later, Index: jumpC, Scale: 1})
	}
	ADDQ(Imm(pixelBytes), later)
	CMPQ(later, last)
	CMOVQGT(last, later)
}

// started are accumulators of which each row begins with the same vectors.
func (s isa) started(start reg.Register, rows, nv int) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		for j := range nv {
			acc[i] = append(acc[i], s.v())
			if i == 0 {
				VMOVUPS(Mem{Base: start, Disp: 4 * s.w * j}, acc[0][j])
			} else {
				VMOVAPS(acc[0][j], acc[i][j])
			}
		}
	}
	return acc
}

// putPixels stores the pixels of each vector, added to what is there if accumulate is set, and not below 0 if floor is.
func (s isa) putPixels(acc [][]reg.VecVirtual, column func(j int) Mem) {
	keep := Load(Param("accumulate"), GP8())
	TESTB(keep, keep)
	JEQ(LabelRef("rectify"))
	for i := range acc {
		for j := range acc[i] {
			VADDPS(column(j).Offset(i*pixelBytes), acc[i][j], acc[i][j])
		}
	}
	Label("rectify")
	floor := Load(Param("floor"), GP8())
	TESTB(floor, floor)
	JEQ(LabelRef("write"))
	zero := s.zero()
	for i := range acc {
		for j := range acc[i] {
			VMAXPS(acc[i][j], zero, acc[i][j])
		}
	}
	Label("write")
	for j := range acc[0] {
		for i := range acc {
			VMOVUPS(acc[i][j], column(j).Offset(i*pixelBytes))
		}
	}
}

// pixelSums emits the micro kernel of such a convolution's weight gradient, for tiles of rows: C (rows of output channels x vectors of
// input channels) (+)= the sum over runs of pixels of A (rows of a block, pixels 16 values apart, runs nextA) times B (vectors jumpB
// apart, runs nextB). From a tile to the next A moves on by stepA and thenA in turn. On the way each fetches as many pixels of a block
// that will be read later, those of the next tile being jumpAhead away.
func (s isa) pixelSums(rows, nv int) {
	Label("tile")
	runs, pixels := Load(Param("runs"), GP64()), Load(Param("pixels"), GP64())
	a, nextA := Load(Param("a"), GP64()), Load(Param("nextA"), GP64())
	b, jumpB, nextB := Load(Param("b"), GP64()), Load(Param("jumpB"), GP64()), Load(Param("nextB"), GP64())
	ahead, nextAhead := Load(Param("ahead"), GP64()), Load(Param("nextAhead"), GP64())
	for _, r := range []reg.Register{nextA, jumpB, nextB, nextAhead} {
		SHLQ(Imm(2), r)
	}
	acc := s.accumulators(rows, nv)
	s.fetchTile(rows, nv)
	step := func(u int) {
		at := Mem{Base: b, Disp: u * pixelBytes}
		vectors := []reg.VecVirtual{s.load(at)}
		for len(vectors) < nv {
			at.Index, at.Scale = jumpB, uint8(len(vectors))
			vectors = append(vectors, s.load(at))
		}
		for i := range acc {
			s.addProducts(acc[i], Mem{Base: a, Disp: u*pixelBytes + 4*i}, vectors, i%6 == 1)
		}
	}
	const unroll = 4
	left := GP64()
	Label("run")
	MOVQ(pixels, left)
	CMPQ(left, U32(unroll))
	JLT(LabelRef("one"))
	align(64)
	Label("several")
	for u := range unroll {
		PREFETCHT1(Mem{Base: ahead, Disp: u * pixelBytes})
		step(u)
	}
	ADDQ(U32(unroll*pixelBytes), ahead)
	ADDQ(U32(unroll*pixelBytes), a)
	ADDQ(U32(unroll*pixelBytes), b)
	SUBQ(U32(unroll), left)
	align(32)
	CMPQ(left, U32(unroll))
	JGE(LabelRef("several"))
	Label("one")
	TESTQ(left, left)
	JEQ(LabelRef("next"))
	step(0)
	for _, r := range []reg.Register{a, b, ahead} {
		ADDQ(U32(pixelBytes), r)
	}
	DECQ(left)
	JMP(LabelRef("one"))
	Label("next")
	ADDQ(nextA, a)
	ADDQ(nextB, b)
	ADDQ(nextAhead, ahead)
	DECQ(runs)
	JNE(LabelRef("run"))
	c, ldc := place()
	s.storeTile(acc, c, ldc, func() {
		MOVQ(c, paramAt("c"))
		step, then, at := Load(Param("stepA"), GP64()), Load(Param("thenA"), GP64()), Load(Param("a"), GP64())
		LEAQ(Mem{Base: at, Index: step, Scale: 4}, at)
		MOVQ(at, paramAt("a"))
		MOVQ(then, paramAt("stepA"))
		MOVQ(step, paramAt("thenA"))
		jump, later := Load(Param("jumpAhead"), GP64()), Load(Param("ahead"), GP64())
		LEAQ(Mem{Base: later, Index: jump, Scale: 4}, later)
		MOVQ(later, paramAt("ahead"))
		DECQ(paramAt("tiles"))
		JNE(LabelRef("tile"))
	})
}

// fetchTile fetches the lines of a tile that will be added to.
func (s isa) fetchTile(rows, nv int) {
	c, ldc := Load(Param("c"), GP64()), Load(Param("ldc"), GP64())
	for range rows {
		for j := range nv {
			PREFETCHT0(Mem{Base: c, Disp: j * 4 * s.w})
		}
		LEAQ(Mem{Base: c, Index: ldc, Scale: 4}, c)
	}
}

// Command asm writes the vector kernels of internal/simd.
//
//	go run . -level avx512 -out ../../internal/simd/avx512_amd64.s -stubs ../../internal/simd/avx512_amd64.go -pkg simd
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	level := flag.String("level", "avx512", "avx512 or avx2")
	set := flag.String("set", "core", "core, layers (the kernels of single layer types), winograd, blocks (of channels) or offsets (of kernels)")
	flag.Parse()
	ConstraintExpr("amd64")
	s, mr, rows, vectors := isa{w: 16, tag: "AVX512"}, 12, 6, []int{4, 2}
	if *level == "avx2" {
		s, mr, rows, vectors = isa{w: 8, tag: "AVX2"}, 6, 6, []int{2, 1}
	}
	s.pruneMoves()
	switch *set {
	case "layers":
		s.norms()
		s.columnSums()
		s.blockNorms()
		s.nearChannels()
		Generate()
		return
	case "winograd":
		s.winograd()
		Generate()
		return
	case "blocks":
		s.blockPools()
		s.blocks(map[int]int{16: 14, 8: 6}[s.w])
		Generate()
		return
	case "offsets":
		s.allOffsets(map[int]int{16: 14, 8: 6}[s.w])
		s.depthwise()
		if s.w == takenLanes {
			s.takenSums()
		}
		Generate()
		return
	}
	for thirds := 1; thirds <= 3; thirds++ {
		for nv := 1; nv <= 2; nv++ {
			s.micro(mr, mr/3*thirds, nv)
			s.byRows(mr/3*thirds, nv)
			s.byColumns(mr/3*thirds, nv)
		}
	}
	for _, n := range vectors {
		s.scattered(rows, n)
	}
	s.transpose()
	if s.w == 16 {
		s.turn()
		s.places()
	}
	for _, stride := range []int{1, 2} {
		s.maxPool(stride)
		s.avePool(stride)
	}
	s.planes()
	if s.w == 16 {
		s.packPanel(mr)
	}
	s.packA(rows)
	s.packB()
	s.every(2)
	s.every(4)
	s.interleave2()
	s.copyRows()
	s.gatherRows()
	s.arithmetic()
	s.updates()
	s.drop()
	s.reductions()
	s.transcendental()
	s.rowSums()
	s.skinnyKernels()
	Generate()
}

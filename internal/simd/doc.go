// Package simd has no code. The packages below it hold the vector kernels of the library, of float32 values but for vpixel's bytes, each with its assembly for AVX-512 and AVX2, a
// loop in plain Go that does the same, and tests that run at every level of the computer.
//
//   - isa: the levels, and which one is in use
//   - vec: element by element, sums, solvers' updates, rearranging copies
//   - vgemm: micro-kernels and packing of matrix products
//   - vconv: micro-kernels of convolutions that need no im2col
//   - vwinograd: the linear maps of Winograd's minimal filtering
//   - vpool: pooling
//   - vnorm: batch normalisation and local response normalisation
//   - vpixel: decoding and resizing pictures, bytes to the input of a net
//   - simdtest: what their tests share
//
// The module in tools/asm writes the assembly, its declarations and the functions that pick a level, all from one list of kernels
// (tools/asm/kernels.go). A new kernel is a line in that list, a function there that emits it, and a loop in Go here.
package simd

//go:generate sh -c "cd ../../tools/asm && go run . -to ../../internal/simd"

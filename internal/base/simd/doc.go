// Package simd has no code. The packages below it hold the vector kernels of the library, of float32 values but for vpixel's bytes, each with its
// assembly for AVX-512, AVX2 and NEON, a loop in plain Go that does the same, and tests that run at every level of the computer.
//
//   - isa: the levels, which one is in use, and the tables
//   - vec: element by element, sums, solvers' updates, rearranging copies
//   - vgemm: micro-kernels and packing of matrix products
//   - vconv: micro-kernels of convolutions that need no im2col
//   - vwinograd: the linear maps of Winograd's minimal filtering
//   - vpool: pooling
//   - vnorm: batch normalisation and local response normalisation
//   - vpixel: decoding and resizing pictures, bytes to the input of a net
//   - simdtest: what their tests share
//
// A level is a table in each package: its block sizes, and its kernels by operation (type kernels). The variable have is the table in use. Functions
// ask it for the kernel that they need, and compute in Go where it has none, so that a level may begin with one kernel. Nothing infers from the
// number of lanes which instructions there are.
//
// The module in tools/asm writes the assembly, its declarations, the tables and their type, all from one list of kernels (tools/asm/kernels.go) and one
// of block sizes (tools/asm/families.go). A new kernel is a line in that list, a function there that emits it, and a loop in Go here.
package simd

//go:generate sh -c "cd ../../../tools/asm && go run . -to ../../internal/base/simd"

// Package kernel holds the tiled kernels: plans, which are pure functions of a machine's Spec and a shape, and the
// programs that execute them, written once for all machines.
//
//	gemm.go    matrix product: on a mesh with register communication in as many steps as the mesh has columns, on the host
//	           with packed panels and SIMD micro-kernels
//	conv.go    convolution as im2col (im2col.go) and matrix products
//	stream.go  everything that reads and writes arrays once: activations, normalisation, losses, updates, sums
//	pool.go    pooling
//	copy.go    moving rows
//	random.go  random numbers by counter
//
// A kernel is made once for a shape (NewX) and then run; running allocates nothing. Arrays are float32 in C order.
// Every output element is summed in one order that depends on the plan alone, never on how many core groups there
// are: results are bit-equal at any GOMAXPROCS.
package kernel

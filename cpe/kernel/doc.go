// Package kernel is a tree of packages; it has no code of its own. They hold the tiled kernels, which layers run on a cpe.Machine:
//
//	tiling   arithmetic of blocks: extents cut into equal parts, and what windows meet of what
//	shape    what is computed: convolutions, their directions, the strategies that a user can force, blocks of channels
//	stream   passes over arrays: activations, normalisation, losses, updates; copies, transposes, rows by index, random numbers
//	gemm     matrix products
//	im2col   the column matrix of images, in memory or as a view that products read
//	pool     pooling
//	norm     local response normalisation across channels, alone and with pooling
//	conv     convolution and its gradients, Winograd's among them
//
// Each imports only packages above it in this list.
//
// A kernel has two parts. Its plan is a pure function of a machine's cpe.Spec and a shape, and prints itself. The program that executes it is
// written once for all machines: on this computer tiles alias the arrays, on a modelled machine they pass through LDM and are charged. A
// kernel is made once for a shape and then run; running allocates nothing. Arrays are float32 in C order. A kernel runs once at a time; the
// kernels of one machine share its core groups and its scratch.
//
// Every element of a result is summed in one order, which depends on the plan alone and never on the number of core groups of the host:
// results are bit-equal at any GOMAXPROCS.
//
// Where there are several ways to compute the same, they have names (shape.Algorithm), and a kernel's Algorithm method says which one runs.
package kernel

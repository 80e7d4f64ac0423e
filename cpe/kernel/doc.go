// Package kernel holds the tiled kernels: plans, which are pure functions of a machine's Spec and a shape and print
// themselves, and the programs that execute them, written once for all machines.
//
//	gemm*.go, product.go, multiplier.go matrix product: one loop nest over blocks, on a mesh with register communication
//	turned.go, narrow.go, row_sums.go   products of a few rows with large matrices, on the host
//	view.go, image.go, tap*.go          what a product's operands can be: matrices, their transposes, columns of images
//	conv*.go, strategy*.go, im2col*.go  convolution as products of views (implicit) or of column matrices (explicit)
//	slab.go, padded_band.go             padded copies of images, in which kernel offsets are shifts
//	conv_depthwise*.go, conv_tap_axis.go a kernel for every channel, on the host; conv_covering.go: kernels as large as images
//	winograd*.go                        convolution of 3x3 and 5x5 kernels with fewer multiplications
//	stream.go, stream_plan.go           everything that passes over arrays once: activations, normalisation, losses, updates
//	pool*.go                            pooling
//	near_norm.go, norm_pool.go          normalisation across channels in blocks, alone and with pooling
//	copy.go, relayout.go                moving rows, transposing
//	blocks.go, thin.go                  images in blocks of channels, and of these the pixels that strides meet
//	random.go                           random numbers by counter
//
// A kernel is made once for a shape (NewX) and then run; running allocates nothing. Arrays are float32 in C order. A
// kernel object runs once at a time; kernels of one machine share its core groups and the room in their LDM.
//
// Every output element is summed in one order that depends on the plan alone, never on how many core groups there
// are: results are bit-equal at any GOMAXPROCS.
package kernel

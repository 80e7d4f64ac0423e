// Package conv computes convolutions and both of their gradients.
//
// A [Problem] is one direction (forward, weight gradient or input gradient) of a convolution of one shape, with the memory layouts of its
// images and results and the machine's cpe.Spec. An [Algorithm] is one way to compute problems. It says which problems it supports, estimates
// its cost, and makes a [Kernel]. All algorithms stand in one list (list.go).
//
// A [Conv] plans the three directions of one convolution. For each it chooses one algorithm of the list (choose.go): the cheapest by the
// machine's cost model or, with a [Tuner], the fastest by measurement. A shape.Strategy restricts the choice to one family. [Conv.Algorithm]
// names the choice. [Conv.Run] computes a direction; its operands are [Arrays].
//
// Most kernels are a task: a list of stages that core groups run together, one after the other, with a barrier between them (task.go). "Host"
// is the computer that this program runs on. "Modelled machine" is a simulated SW26010.
//
//	algorithm.go, list.go, names.go, problem.go, arrays.go
//	                              Problem, Algorithm, the list, Arrays
//	conv.go, choose.go, calls.go  planning, choosing and running a direction
//	force.go, explain.go          a choice that the user forces; why an algorithm was chosen
//	tuned.go                      choosing by measurement
//	strategy*.go, plan.go         cost estimates and blocking
//	blocks.go, planar.go          images and results in blocks of 16 channels
//
// The families of algorithms:
//
//	explicit.go                   im2col into memory, then GEMM
//	implicit.go, taps.go          GEMM that packs its panels straight from the images
//	padded.go, shifted_weights.go, slab.go
//	                              direct: padded copies, in which each kernel offset is a constant shift
//	phases*.go, spread.go         direct: input gradients, by remainder modulo the stride, or by kernel offset
//	offsets*.go, planes.go, padded_band.go
//	                              offsets: images of few channels; vectors of output channels or of pixels
//	pointwise*.go, thinned.go     pointwise: 1x1 kernels, with or without strides
//	covering.go                   kernels as large as the image (inner products)
//	depthwise*.go, tap_axis.go    depthwise: one kernel for every channel
//	winograd*.go                  Winograd's convolution of 3x3 and 5x5 kernels
//	folding.go, folded.go         strided kernels made unit-stride by space-to-depth, for Winograd
//	batch.go, layout.go, rows.go, tap_lists.go
//	                              mesh: the published kernels of SW26010 (swDNN, swCaffe)
//	pool*.go, winograd_pool.go    pooled: convolution fused with max pooling of its results
package conv

// Package conv convolves images and computes both gradients.
//
// A [Conv] is planned for one shape.Conv on one machine. For each of its three directions it takes one algorithm; [Conv.Algorithm] names it.
// The strategy (shape.Strategy) narrows the choice: explicit convolutions write the column matrix to memory, implicit ones gather it while
// they multiply, and Winograd's multiply in the transform domain. Without a strategy the machine's cost model chooses (strategy.go), or, with
// a [Tuner], measurements do.
//
//	conv.go, plan.go, strategy*.go, tuned.go   planning, choosing and running a direction
//	blocks.go, planar.go, thinned.go           images whose channels lie in blocks, and pixels that strides skip
//	explicit.go, implicit.go                   products with column matrices
//	padded.go, phases*.go, shifted_weights.go, spread.go
//	                                           products on padded copies of images (slab.go, padded_band.go), where kernel offsets are shifts
//	offsets*.go, planes.go                     vectors of output channels or of pixels, for images of few channels
//	pointwise*.go, depthwise*.go, covering.go  1x1 kernels; a kernel for every channel; kernels as large as images
//	winograd*.go, folding.go, folded.go        Winograd's convolutions of 3x3 and 5x5 kernels; strides folded into channels
//	layout.go, batch.go, rows.go, taps.go      the published kernels of SW26010: swDNN's and swCaffe's
//	pool*.go, winograd_pool.go                 convolution with the pooling of its results
package conv

// Package conv says what a convolution algorithm is.
//
// A [Problem] is one direction (forward, weight gradient or input gradient) of a convolution of one shape, with the memory layouts of its
// images and results and the machine's cpe.Spec. An [Algorithm] is one way to compute problems. It says which problems it supports, estimates
// its cost, and makes a [Kernel]. The operands of a kernel are [Arrays].
//
// Most kernels are a [Task]: a list of stages that core groups run together, one after the other, with a barrier between them. "Host" is the
// computer that this program runs on. "Modelled machine" is a simulated SW26010.
//
// The algorithms are declared in the packages below, each beside its kernel. Package plan lists them, chooses among them, and runs them:
//
//	tensor      images as kernels read them: in blocks of channels, and as padded copies
//	direct      implicit GEMM, and GEMM on padded copies
//	explicit    im2col into memory, then GEMM
//	offsets     images of few channels: vectors of output channels, or of pixels
//	pointwise   1x1 kernels, with or without strides
//	depthwise   one kernel for every channel
//	winograd    Winograd's convolution of 3x3 and 5x5 kernels, on the host and on modelled machines
//	mesh        the published kernels of SW26010 (swDNN, swCaffe)
//	pooled      convolution fused with max pooling of its results
//	plan        the list, the choice, tuning, and the planned convolution
//	convtest    convolutions with known results, for the tests of these packages
package conv

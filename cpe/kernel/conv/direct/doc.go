// Package direct computes convolutions as one GEMM over the whole batch, without a column matrix in memory.
//
// [Gathered] packs the panels of the column matrix straight from the images (implicit GEMM), and [Pointwise] reads images of 1x1 kernels in
// place. [Padded] and [ShiftedWeights] pack from padded copies, in which a kernel offset is a shift; they are the general algorithms of the host.
// The others are special: for kernels as large as the image, and for input gradients with strides or of few pixels.
package direct

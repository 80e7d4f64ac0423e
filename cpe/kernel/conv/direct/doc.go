// Package direct computes convolutions as one GEMM over the whole batch, without a column matrix in memory.
//
// [Gathered] packs the panels of the column matrix straight from the images (implicit GEMM), and [Pointwise] reads images of 1x1 kernels in
// place. [Padded] and [ShiftedWeights] pack from padded copies, in which a kernel offset is a shift. [Covering] is one matrix product for
// kernels as large as the image. [Phases] and [Spread] compute input gradients: by the remainders of coordinates modulo the strides, and by
// adding shifted products.
package direct

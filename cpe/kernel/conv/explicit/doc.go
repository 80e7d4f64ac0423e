// Package explicit computes convolutions by im2col and GEMM: a column matrix is written to memory and multiplied with the weights.
//
// On the host, implicit algorithms are faster for all but some strided input gradients. On modelled machines this is swCaffe's explicit plan:
// [GEMM] writes the matrix of one image at a time, [Batched] those of all images of a core group, and [Pointwise] reads images in place.
//
// [Int8] and [BFloat16] are for the host: they make columns of images whose values have been rounded, and so are small.
package explicit

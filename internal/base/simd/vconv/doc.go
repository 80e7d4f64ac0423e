// Package vconv holds the micro-kernels of convolutions that need no im2col; lanes are output channels.
//
//   - PixelKernel and PixelSums: pointwise convolutions of images in blocks of channels, and their weight gradient
//   - OffsetKernel and OffsetSums: convolutions from planes to blocks of channels, whose taps are offsets into a padded image
//   - TapKernel and TapSums: depthwise convolutions of blocks of channels
//   - MaximaSums: the weight gradient behind which maximum pooling gives most results no gradient
//
// Callers tile the images so that the operands of a kernel fit the nearest caches.
package vconv

// Package pooled computes convolutions fused with max pooling of their results, on the host.
//
// A [Kernel] pools results as soon as they are computed, and computes their gradient just before it is used. Results and their gradient never go
// to memory as a whole: only a band of rows ([NewBands]), or a slice of 16 channels of one image ([NewSlices]), exists at a time, in a core's
// cache. Everything has the bits of a convolution followed by pooling, except weight gradients of bands by planes, which sum in another order.
//
// Bands are pooled for images of few channels, without an input gradient. Slices are pooled for Winograd's convolution of small images.
package pooled

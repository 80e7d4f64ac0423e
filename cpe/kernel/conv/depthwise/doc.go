// Package depthwise computes depthwise convolutions on the host: every channel has kernels of its own.
//
// A vector is a pixel of 16 channels. [Bands] computes the forward direction and the input gradient from padded bands of an image, and
// [Weights] the weight gradient.
package depthwise

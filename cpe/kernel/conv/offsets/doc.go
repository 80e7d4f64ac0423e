// Package offsets computes convolutions of images with few channels or few pixels, and those with strides, on the host. For these, panels of a
// column matrix would be narrow or slow to gather.
//
// [Forward] and [Weights] use vectors of output channels, whose kernels read single values of a padded band of the image. [Planes] uses vectors
// of pixels, where output channels would leave more lanes empty. The kernels are exported for package pooled, which fuses them with pooling.
package offsets

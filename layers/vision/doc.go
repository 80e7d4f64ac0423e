// Package vision has the layers that work on images: Convolution and Deconvolution, Pooling, SPP, LRN, Im2col and Crop; and
// ConvolutionDepthwise, DepthwiseConvolution, Interp, Upsample, Unpooling and the pooling of regions (roi.go) of
// forks of Caffe.
//
// The largest is convolution. Its forward pass is in conv.go, its gradients in conv_backward.go, its Traits in conv_traits.go, and the
// reference in plain loops in conv_mpe.go. The fused layer pooled (pooled.go) computes a Convolution or LRN layer and the maximum pooling
// after it, with the kernels of conv_pooled.go and lrn_pooled.go.
package vision

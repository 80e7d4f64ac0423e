// Package vision has the layers that work on images: Convolution and Deconvolution, Pooling, SPP, LRN, Im2col and Crop. Of the layers of
// Caffe's forks it has ConvolutionDepthwise, DepthwiseConvolution, Interp, Upsample, Unpooling and Reorg.
//
// The largest is convolution. Its forward pass is in conv.go, its gradients in conv_backward.go, its Traits in conv_traits.go, and the
// reference in plain loops in conv_mpe.go. The fused layer pooled (pooled.go) computes a Convolution or LRN layer and the maximum pooling
// after it, with the kernels of conv_pooled.go and lrn_pooled.go.
package vision

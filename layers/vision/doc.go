// Package vision has the layers that work on images: Convolution and Deconvolution, Pooling, SPP, LRN, Im2col and Crop.
//
// The largest is convolution. conv.go has its forward pass, conv_backward.go its gradients, conv_traits.go what it can do for its neighbours,
// conv_mpe.go the reference in plain loops. Maximum pooling can be computed together with the convolution or the LRN layer before it: pooled.go
// has what both have in common, conv_pooled.go and lrn_pooled.go their kernels.
package vision

// Package pointwise computes 1x1 convolutions on the host.
//
// [Blocked] and [BlockedWeights] multiply images in blocks of channels in place, with or without strides; images by planes are converted span
// by span. [Thinned] gathers the pixels that strides select, and multiplies these by planes.
package pointwise

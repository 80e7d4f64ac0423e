// Package winograd computes convolutions by Winograd's minimal filtering.
//
// The convolution of r x r kernels (Lavin and Gray 2016) cuts outputs into tiles of m x m. A tile depends on a square of inputs of edge
// e = m+r-1. Squares and kernels are transformed to e^2 points. At each point the convolution is a matrix product over channels. The products
// are transformed back to tiles of outputs:
//
//	forward, input gradient   R[p] (tiles x Out) = V[p] (tiles x C) * U[p] (C x Out)
//	weight gradient           S[p] (Out x C)     = Y[p]' (Out x tiles) * V[p] (tiles x C)
//
// So e^2 multiplications replace r^2*m^2. For 3x3 kernels that is 2.25 times fewer with m = 2, 4 times with m = 4 and 4.6 times with m = 5;
// for 5x5 kernels 6.25 times with m = 4. On the host, vectors of the transforms are 16 channels, so that the extents of images do not matter.
// On a modelled machine they are tiles ([Mesh]).
//
// Every algorithm exists for the tiles of each of [Strategies]. [Tiles] and [Panels] compute the forward direction and the input gradient:
// core groups share tiles, or panels of output channels. [Sums] and [PanelSums] compute the weight gradient likewise. [Small] computes the
// gradients of small images in a core's cache. [Folded] makes strides unit strides by space to depth. [Pooling] fuses max pooling.
//
// Words of this package: a slice is 16 channels; a patch is a rectangle of tiles of one image that are transformed together; a panel is up to
// 32 output channels of the packed weights; a form is a pair of tile size m and kernel size r.
//
// The kernels of modelled machines stand here and not in package mesh: they share tiles, squares and transforms with those of the host.
package winograd

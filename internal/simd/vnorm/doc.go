// Package vnorm holds the kernels of batch normalisation and of local response normalisation.
//
// Batch normalisation has its moments, and fused with scaling, shifting and rectifying its values, the sums that the gradient needs, and the
// gradient: for a row of one channel with the constants of a Row, for a block of channels, where lanes are channels, with those of a Block.
// Local response normalisation has sums over neighbouring channels and powers of them.
package vnorm

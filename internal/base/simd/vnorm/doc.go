// Package vnorm holds the kernels of batch normalisation and of local response normalisation.
//
// Batch normalisation has kernels for the moments, for the values, for the sums that the gradient needs, and for the gradient. All but the first are
// fused with scaling, shifting and rectifying. Each kernel has two forms: for a row of one channel, with the constants of a Row; and for a block
// of channels, whose lanes are channels, with those of a Block. Local response normalisation has kernels for sums over neighbouring channels and
// for their powers.
package vnorm

// Package norm has the layers that normalise by channel, BatchNorm and MVN, and those that scale and shift what is normalised, Scale and Bias.
//
// normaliser has the statistics and the gradient that BatchNorm and MVN share. BatchNorm, Scale and a ReLU layer behind them are computed together
// by normChain (norm_chain*.go); with a sum of two as well, by normSum (norm_sum*.go). Their kernels pass over rows of planes
// (norm_chain_rows.go) or over channels in blocks (norm_chain_blocks.go). norm_sum_thin.go makes only the pixels that strides meet.
package norm

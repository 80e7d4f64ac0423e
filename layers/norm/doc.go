// Package norm has the layers that normalise by channel, BatchNorm, BN and MVN (bn.go also has the BatchNorm of NVCaffe), by item or pixel,
// Normalize, and those that scale and shift the result, Scale and Bias.
//
// The central type is normaliser: the statistics and the gradient that BatchNorm and MVN share. Fusions combine whole chains of layers.
// normChain (norm_chain*.go) computes BatchNorm, Scale and an optional ReLU. normSum (norm_sum*.go) also adds another bottom before the
// ReLU. Both have kernels for rows of planes (norm_chain_rows.go) and for channels in blocks (norm_chain_blocks.go). norm_sum_thin.go
// computes only the pixels that later strided convolutions read.
package norm

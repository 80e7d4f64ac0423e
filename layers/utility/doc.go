// Package utility has the layers that move, join and combine blobs: Concat, Slice, Split, Eltwise, Flatten, Reshape, Tile, Filter,
// BatchReindex, Reduction, ArgMax, Parameter and Silence; and Permute, ShuffleChannel and Axpy of forks of Caffe.
//
// Concat and Slice embed joiner, which copies between a blob and its parts along an axis.
package utility

// Package utility has the layers that move, join and combine blobs: Concat, Slice, Split, Eltwise, Flatten, Reshape, Tile, Filter, BatchReindex,
// Reduction, ArgMax, Parameter and Silence.
//
// Concat and Slice share the joiner. A sum and the ReLU layer behind it are computed together by rectifiedSum (eltwise_relu.go).
package utility

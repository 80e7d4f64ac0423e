// Package part has building blocks that layers of several packages share. Each works on the MPE path and on the CPE path.
//
// Most of them are stream kernels, which StreamsOf (streams.go) creates. Others copy, add and clear arrays (moves.go), move rows by index
// (rows.go), permute axes (permute.go), add biases and compute their gradient (biases.go), and sum by channel (channels.go). blocks.go helps with channels in blocks
// of 16, shapes.go checks shapes.
package part

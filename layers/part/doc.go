// Package part has what layers of several rooms are built from, each on either path: stream kernels (StreamsOf, in streams.go), copies,
// sums and clears of arrays (moves.go), moves of rows by index (rows.go), biases and their gradient (biases.go), sums by channel (channels.go),
// channels in blocks (blocks.go), and checks of shapes.
package part

package direct

// Chunks is the number of partial sums of the weight gradient.
var Chunks = implicitChunks

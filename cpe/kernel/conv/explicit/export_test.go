package explicit

// Bands is the blocking of a convolution.
var Bands = planBands

// Package convtest has convolutions with known results and comparisons, for the tests of convolution algorithms.
package convtest

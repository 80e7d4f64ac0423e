// Package vconv emits the micro-kernels of convolutions that need no im2col, and of their weight gradients.
package vconv

// Package vgemm emits the micro-kernels of matrix products and the packing of their panels.
package vgemm

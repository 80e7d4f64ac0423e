// Package vpool holds the kernels of maximum and average pooling and of their gradients.
//
// Planes pools images that lie by planes, with vectors of columns, for the square windows that nets have most. Blocks pools images in blocks of
// channels, where lanes are channels, for windows of any shape. Max and Average pool one row of windows that are all inside the image.
package vpool

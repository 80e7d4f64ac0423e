// Package vpool holds the kernels of maximum and average pooling and of their gradients.
//
// Planes pools images in planes, with vectors of columns, for the most common square windows. Blocks pools images in blocks of channels, whose
// lanes are channels, for windows of any shape. Max and Average pool one row of windows that are all inside the image.
package vpool

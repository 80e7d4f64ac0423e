// Package vwinograd holds the linear maps of Winograd's minimal filtering (Lavin and Gray 2016), forward and backward.
//
// A Form is F(Tile x Tile, Kernel x Kernel). Apply runs one of its six Maps over squares, 16 of which are interleaved in memory. Package vgemm
// computes the products between the maps.
package vwinograd

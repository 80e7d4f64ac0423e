// Package vwinograd holds the linear maps of Winograd's minimal filtering (Lavin and Gray 2016), forward and backward.
//
// A Form is F(Tile x Tile, Kernel x Kernel); Apply runs one of its six Maps over squares of which 16 lie side by side. The products between the
// maps are those of package vgemm.
package vwinograd

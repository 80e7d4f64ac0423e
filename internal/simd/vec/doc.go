// Package vec computes with float32 arrays: element by element (arithmetic, activations and their gradients, exponentials, logarithms and
// powers), sums and products in float64, solvers' updates, dropout, and copies that rearrange values.
//
// Unless a function says otherwise it works on len(dst) elements, its sources may be longer, and dst may be the same slice as a source.
// Whole vectors go through assembly, which tools/asm generates. What is left at the end goes through it in a padded copy, so that an element's
// result does not depend on its place.
package vec

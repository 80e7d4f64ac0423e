// Package vec computes with float32 arrays: element by element (arithmetic, activations and their gradients, exponentials, logarithms and
// powers), sums and products in float64, solvers' updates, dropout, and copies that rearrange values.
//
// Unless a function says otherwise it works on len(dst) elements, its sources may be longer, and dst may be the same slice as a source.
// Assembly, which tools/asm generates, computes whole vectors. The elements past the last whole vector are copied and padded to one, so that an
// element's result does not depend on its place.
package vec

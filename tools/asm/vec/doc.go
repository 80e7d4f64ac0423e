// Package vec emits the kernels of internal/simd/vec: elementwise operations, reductions, solvers' updates, dropout and rearranging copies.
package vec

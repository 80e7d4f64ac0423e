// Package vec emits the kernels of internal/base/simd/vec: elementwise operations, reductions, solvers' updates, dropout and rearranging copies.
package vec

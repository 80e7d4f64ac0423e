package vgemm

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// MicroKernel sets the mr x nr tile C, of row stride ldc, to A·B, or adds A·B to it: C[i][j] (+)= Σp a[p*mr+i]*b[p*nr+j] over p < k,
// where a and b are packed panels. C is not read unless accumulate is set.
func MicroKernel(k int, a, b, c []float32, ldc int, accumulate bool) {
	MicroKernelEdge(k, a, b, c, ldc, have.Rows, have.Columns, accumulate)
}

// MicroKernelEdge is MicroKernel for a tile of which only m rows and n columns are stored. The panels are padded with zeros.
func MicroKernelEdge(k int, a, b, c []float32, ldc, m, n int, accumulate bool) {
	micro := have.Micro[thirds(m)][vectors(n)]
	if micro == none {
		micro = have.Micro[3][2]
	}
	if micro == none || k == 0 || m == 0 {
		microGo(k, a, b, c, ldc, m, n, accumulate)
		return
	}
	_, _, _ = a[k*have.Rows-1], b[k*have.Columns-1], c[(m-1)*ldc+n-1]
	micro.run(k, &a[0], &b[0], &c[0], ldc, accumulate, m, n, isa.Mask(0))
}

// microGo is the micro-kernel in plain Go, for panels of any tile.
func microGo(k int, a, b, c []float32, ldc, m, n int, accumulate bool) {
	for i := range m {
		for j := 0; j < n; j += len(vec.Eight{}) {
			var sums vec.Eight // those of columns beyond n are not stored
			if k > 0 {
				sums.AddProducts(k, a[i:], have.Rows, b[j:], have.Columns)
			}
			to := c[i*ldc+j : i*ldc+min(j+len(sums), n)]
			if !accumulate {
				copy(to, sums[:])
				continue
			}
			for l := range to {
				to[l] += sums[l]
			}
		}
	}
}

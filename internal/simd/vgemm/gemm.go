package vgemm

import "github.com/swcaffe/swcaffe/internal/simd/isa"

// MicroKernel sets the mr x nr tile C, of row stride ldc, to A·B, or adds A·B to it: C[i][j] (+)= Σp a[p*mr+i]*b[p*nr+j] over p < k,
// where a and b are packed panels. C is not read unless accumulate is set.
func MicroKernel(k int, a, b, c []float32, ldc int, accumulate bool) {
	mr, nr := Tile()
	MicroKernelEdge(k, a, b, c, ldc, mr, nr, accumulate)
}

// MicroKernelEdge is MicroKernel for a tile of which only m rows and n columns are stored. The panels are padded with zeros.
func MicroKernelEdge(k int, a, b, c []float32, ldc, m, n int, accumulate bool) {
	if !isa.Vectors() || k == 0 {
		microGo(k, a, b, c, ldc, m, n, accumulate)
		return
	}
	mr, nr := Tile()
	_, _, _ = a[k*mr-1], b[k*nr-1], c[(m-1)*ldc+n-1]
	micro(upTo(m, mr), vectors(n), k, &a[0], &b[0], &c[0], ldc, accumulate, m, n, isa.Mask(0))
}

// microGo is the micro-kernel in plain Go, for a tile of goRows x goColumns. If k is 0, all levels use it.
func microGo(k int, a, b, c []float32, ldc, m, n int, accumulate bool) {
	if k > 0 && isa.Vectors() {
		panic("vgemm: the Go micro-kernel has the tile of the Go level")
	}
	const mr, nr = goRows, goColumns
	for i := range m {
		var t [nr]float32
		if i < mr {
			for p := range k {
				v, r := a[p*mr+i], (*[nr]float32)(b[p*nr:])
				t[0] += v * r[0]
				t[1] += v * r[1]
				t[2] += v * r[2]
				t[3] += v * r[3]
				t[4] += v * r[4]
				t[5] += v * r[5]
				t[6] += v * r[6]
				t[7] += v * r[7]
			}
		}
		to := c[i*ldc : i*ldc+n]
		for j := range to {
			v := float32(0)
			if j < nr {
				v = t[j]
			}
			if accumulate {
				v += to[j]
			}
			to[j] = v
		}
	}
}

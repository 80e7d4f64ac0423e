package simd

// MicroKernel sets the mr x nr tile C, of row stride ldc, to A·B, or adds A·B
// to it: C[i][j] (+)= Σp a[p*mr+i]*b[p*nr+j] over p < k, of packed panels. C is
// not read unless accumulate is set.
func MicroKernel(k int, a, b, c []float32, ldc int, accumulate bool) {
	l := active
	if l.width == 0 || k == 0 {
		microGo(k, a, b, c, ldc, l.mr, l.nr, accumulate)
		return
	}
	_, _, _ = a[k*l.mr-1], b[k*l.nr-1], c[(l.mr-1)*ldc+l.nr-1]
	l.tile(3, k, &a[0], &b[0], &c[0], ldc, accumulate, l.mr, l.nr)
}

// MicroKernelEdge is MicroKernel for a tile of which only m rows and n columns
// are stored. The panels are full, with zeros.
func MicroKernelEdge(k int, a, b, c []float32, ldc, m, n int, accumulate bool) {
	l := active
	if l.width == 0 || k == 0 {
		microGo(k, a, b, c, ldc, m, n, accumulate)
		return
	}
	_, _, _ = a[k*l.mr-1], b[k*l.nr-1], c[(m-1)*ldc+n-1]
	l.tile(l.thirds(m), k, &a[0], &b[0], &c[0], ldc, accumulate, m, n)
}

// thirds is how many thirds of a tile's rows hold m of them. It does not divide by mr: that would take as long as a small tile's loop.
func (l *level) thirds(m int) int {
	switch third := l.mr / 3; {
	case m > 2*third:
		return 3
	case m > third:
		return 2
	}
	return min(m, 1)
}

// microGo is the micro kernel of m x n values of the active tile in plain Go.
func microGo(k int, a, b, c []float32, ldc, m, n int, accumulate bool) {
	if k > 0 && active != &goLevel {
		panic("simd: the Go micro kernel has the tile of the Go level")
	}
	const mr, nr = 4, 8
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

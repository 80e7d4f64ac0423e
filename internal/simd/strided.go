package simd

// StridedKernel is a micro kernel whose operands are not packed: C[i][j] (+)= Σp a[i*row+p*col]*b[p*ldb+j] over p < k, for the
// mr x nr tile C of row stride ldc. C is not read unless accumulate is set.
func StridedKernel(k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	l := active
	if l.width == 0 || k == 0 {
		stridedGo(k, a, row, col, b, ldb, c, ldc, accumulate)
		return
	}
	_, _, _ = a[(l.mr-1)*row+(k-1)*col], b[(k-1)*ldb+l.nr-1], c[(l.mr-1)*ldc+l.nr-1]
	l.strided(k, &a[0], row, col, &b[0], ldb, &c[0], ldc, accumulate)
}

func stridedGo(k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	for i := range active.mr {
		to := c[i*ldc : i*ldc+active.nr]
		if !accumulate {
			clear(to)
		}
		for p := range k {
			x := a[i*row+p*col]
			for j, y := range b[p*ldb : p*ldb+len(to)] {
				to[j] += x * y
			}
		}
	}
}

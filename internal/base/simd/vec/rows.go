package vec

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// CopyRows copies rows of n values from src, lds values apart, to dst, ldd apart.
func CopyRows(dst []float32, ldd int, src []float32, lds, rows, n int) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = dst[(rows-1)*ldd+n-1], src[(rows-1)*lds+n-1]
	if n == 4 {
		copyFours(dst, ldd, src, lds, rows)
		return
	}
	if have.CopyRows != none {
		have.CopyRows.run(&dst[0], &src[0], ldd, lds, rows, n, isa.Mask((n-1)%isa.Lanes()+1))
		return
	}
	for i := range rows {
		copy(dst[i*ldd:][:n], src[i*lds:])
	}
}

// copyFours copies rows of 4 values: copying an array of four takes less time than a masked vector.
func copyFours(dst []float32, ldd int, src []float32, lds, rows int) {
	for ; rows > 1; rows-- {
		*(*[4]float32)(dst) = *(*[4]float32)(src)
		dst, src = dst[ldd:], src[lds:]
	}
	*(*[4]float32)(dst) = *(*[4]float32)(src)
}

// GatherRows copies rows of n values from src[offs[i]:] to dst, ldd values apart.
func GatherRows(dst []float32, ldd int, src []float32, offs []int, n int) {
	if len(offs) == 0 || n == 0 {
		return
	}
	_ = dst[(len(offs)-1)*ldd+n-1]
	if have.GatherRows != none {
		have.GatherRows.run(&dst[0], &src[0], ldd, &offs[0], len(offs), n, isa.Mask((n-1)%isa.Lanes()+1))
		return
	}
	for i, at := range offs {
		copy(dst[i*ldd:][:n], src[at:])
	}
}

// Transpose sets dst[j*ldd+i] = src[i*lds+j] for rows i and columns j.
func Transpose(dst, src []float32, ldd, lds, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = dst[(cols-1)*ldd+rows-1], src[(rows-1)*lds+cols-1]
	if have.Turn != none && rows > 4 && cols >= 4 {
		const width = 16 // of the kernel's blocks
		for i := 0; i < rows; i += width {
			for j := 0; j < cols; j += width {
				have.Turn.run(&dst[j*ldd+i], &src[i*lds+j], ldd, lds, min(width, rows-i), min(width, cols-j), isa.Mask(0))
			}
		}
		return
	}
	i, whole := 0, cols&^3
	if have.Transpose != none && whole > 0 {
		for ; i+4 <= rows; i += 4 {
			have.Transpose.run(&dst[i], &src[i*lds], ldd, lds, whole)
			for j := whole; j < cols; j++ {
				for r := i; r < i+4; r++ {
					dst[j*ldd+r] = src[r*lds+j]
				}
			}
		}
	}
	for ; i < rows; i++ {
		for j, v := range src[i*lds : i*lds+cols] {
			dst[j*ldd+i] = v
		}
	}
}

// AddRow is Axpy whose results have the same bits for slices of any length. Levels that multiply and add with one rounding also use the kernel
// for the elements past the last whole vector.
func AddRow(d, x []float32, a float32) {
	width, axpy := isa.Lanes(), have.Elementwise[opAxpy]
	if axpy == none || len(d) >= width || len(d) == 0 {
		Axpy(d, x, a)
		return
	}
	var td, tx [16]float32
	copy(td[:], d)
	copy(tx[:], x)
	axpy.run(&td[0], &tx[0], nil, width, a, 0)
	copy(d, td[:])
}

package simd

// SumRows sets d[i] = scale*Σr x[r*ld+i] + shift over so many rows of x, which are ld apart. d must not be among them.
func SumRows(d, x []float32, ld, rows int, scale, shift float32) {
	if active.sumRows(false, d, x, ld, rows, scale, shift) {
		return
	}
	for i := range d {
		var sum float32
		for r := range rows {
			sum += x[r*ld+i]
		}
		d[i] = float32(sum*scale) + shift
	}
}

// SumSquaresOfRows sets d[i] = scale*Σr x[r*ld+i]² + shift over so many rows of x, which are ld apart. d must not be among them.
func SumSquaresOfRows(d, x []float32, ld, rows int, scale, shift float32) {
	if active.sumRows(true, d, x, ld, rows, scale, shift) {
		return
	}
	for i := range d {
		var sum float32
		for r := range rows {
			sum += float32(x[r*ld+i] * x[r*ld+i])
		}
		d[i] = float32(sum*scale) + shift
	}
}

// sumRows adds up rows, or their squares, and is false at the Go level and where there is nothing to add up.
func (l *level) sumRows(squares bool, d, x []float32, ld, rows int, scale, shift float32) bool {
	n := len(d)
	if l.width == 0 || n == 0 || rows == 0 {
		return false
	}
	_ = x[(rows-1)*ld+n-1]
	l.rowSums(squares, &d[0], &x[0], ld, rows, n, scale, shift, &maskWords[16])
	return true
}

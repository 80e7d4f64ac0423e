package simd

// Windows are the windows of a row of outputs, all inside the image: KH rows of KW inputs, rows Ld apart; the windows of
// neighbouring outputs are Stride apart.
type Windows struct{ KH, KW, Ld, Stride int }

// end is the number of inputs from the first window's first to the last window's last.
func (s *Windows) end(n int) int { return (s.KH-1)*s.Ld + (n-1)*s.Stride + s.KW }

// MaxPool sets dst[i] to the largest input of window i, the first of equals, a NaN being larger than all, and mask[i] to its
// index in a plane of rows of w inputs, in which src begins at index.
func MaxPool(dst []float32, mask []int32, src []float32, index, w int, s *Windows) {
	l, n := active, len(dst)
	mask = mask[:n]
	if n == 0 {
		return
	}
	_ = src[s.end(n)-1]
	if l.width == 0 || s.Stride > 2 {
		for i := range dst {
			dst[i], mask[i] = maxWindow(src[i*s.Stride:], index+i*s.Stride, w, s)
		}
		return
	}
	for i := 0; i < n; i += l.width {
		at := i * s.Stride
		l.maxPool(&dst[i], &mask[i], index+at, w, &src[at], s.KH, s.KW, s.Ld, s.Stride, min(l.width, n-i), &maskWords[16])
	}
}

func maxWindow(src []float32, index, w int, s *Windows) (value float32, best int32) {
	value, best = src[0], int32(index)
	for y := range s.KH {
		for x, v := range src[y*s.Ld:][:s.KW] {
			if v > value || v != v && value == value {
				value, best = v, int32(index+y*w+x)
			}
		}
	}
	return value, best
}

// AvePool sets dst[i] to the sum of window i over the divisor.
func AvePool(dst []float32, divisor float32, src []float32, s *Windows) {
	l, n := active, len(dst)
	if n == 0 {
		return
	}
	_ = src[s.end(n)-1]
	if l.width == 0 || s.Stride > 2 {
		for i := range dst {
			dst[i] = sumWindow(src[i*s.Stride:], s) / divisor
		}
		return
	}
	for i := 0; i < n; i += l.width {
		l.avePool(&dst[i], divisor, &src[i*s.Stride], s.KH, s.KW, s.Ld, s.Stride, min(l.width, n-i), &maskWords[16])
	}
}

func sumWindow(src []float32, s *Windows) (sum float32) {
	for y := range s.KH {
		for _, v := range src[y*s.Ld:][:s.KW] {
			sum += v
		}
	}
	return sum
}

package vpool

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// Windows are the windows of a row of outputs, all inside the image: KH rows of KW inputs, rows Ld values apart. Windows of neighbouring outputs
// are Stride apart.
type Windows struct{ KH, KW, Ld, Stride int }

// end is the number of inputs from the first input of the first window to the last input of the last of n windows.
func (s *Windows) end(n int) int { return (s.KH-1)*s.Ld + (n-1)*s.Stride + s.KW }

// Max sets dst[i] to the largest input of window i and mask[i] to its index in the plane. Of equal inputs the first is taken, and NaN is larger
// than all numbers. Rows of the plane have w inputs, and src begins at index.
func Max(dst []float32, mask []int32, src []float32, index, w int, s *Windows) {
	n := len(dst)
	mask = mask[:n]
	if n == 0 {
		return
	}
	_ = src[s.end(n)-1]
	if s.Stride >= len(have.MaxPool) || have.MaxPool[s.Stride] == none {
		for i := range dst {
			dst[i], mask[i] = maxWindow(src[i*s.Stride:], index+i*s.Stride, w, s)
		}
		return
	}
	for i := 0; i < n; i += isa.Lanes() {
		at := i * s.Stride
		have.MaxPool[s.Stride].run(&dst[i], &mask[i], index+at, w, &src[at], s.KH, s.KW, s.Ld, min(isa.Lanes(), n-i), isa.Mask(0))
	}
}

// maxWindow is the largest input of a window and its index.
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

// Average sets dst[i] to the sum of window i divided by divisor.
func Average(dst []float32, divisor float32, src []float32, s *Windows) {
	n := len(dst)
	if n == 0 {
		return
	}
	_ = src[s.end(n)-1]
	if s.Stride >= len(have.AvePool) || have.AvePool[s.Stride] == none {
		for i := range dst {
			dst[i] = sumWindow(src[i*s.Stride:], s) / divisor
		}
		return
	}
	for i := 0; i < n; i += isa.Lanes() {
		have.AvePool[s.Stride].run(&dst[i], divisor, &src[i*s.Stride], s.KH, s.KW, s.Ld, min(isa.Lanes(), n-i), isa.Mask(0))
	}
}

// sumWindow is the sum of a window.
func sumWindow(src []float32, s *Windows) (sum float32) {
	for y := range s.KH {
		for _, v := range src[y*s.Ld:][:s.KW] {
			sum += v
		}
	}
	return sum
}

package vpixel

// Widener doubles the width of rows of samples, and interpolates between two rows.
type Widener struct {
	sums []int16 // one, the row, and another one, up to a whole vector
	out  []byte
	n    int
}

// step is the number of samples that kernels take at once, and that rows need behind their end.
const step = 16

// Padding is the number of bytes that rows need behind their last sample, whatever these hold.
const Padding = 2 * step

const before = step // sums ahead of the row's first

// NewWidener prepares for rows of n samples.
func NewWidener(n int) *Widener {
	whole := (n + step - 1) / step * step
	return &Widener{make([]int16, before+whole+step), make([]byte, 2*whole), n}
}

// Widen returns 2*n samples at a resolution twice that of near and far along the row, a quarter of the way from near to far: weights of 3/4 and 1/4 in
// each direction, libjpeg's rounding. far can be nil; then there is no interpolation between rows, and another rounding. The samples are
// valid until the next call. Both rows have Padding bytes more.
func (w *Widener) Widen(near, far []byte) []byte {
	left, right := 8, 7
	if far == nil {
		far, left, right = near, 4, 8
	}
	n := w.n
	near, far = near[:n+Padding], far[:n+Padding]
	row := w.sums[before:]
	if have.Mix != none {
		have.Mix.run(&row[0], &near[0], &far[0], (n+step-1)/step)
	} else {
		for i, v := range near[:n] {
			row[i] = 3*int16(v) + int16(far[i])
		}
	}
	w.sums[before-1], row[n] = row[0], row[n-1]
	if have.Widen != none {
		have.Widen.run(&w.out[0], &row[0], (n+step-1)/step, left, right)
		return w.out[:2*n]
	}
	in, out := w.sums[before-1:][:n+2], w.out[:2*n]
	for i := range n {
		v := 3 * int32(in[i+1])
		out[2*i] = byte((v + int32(in[i]) + int32(left)) >> 4)
		out[2*i+1] = byte((v + int32(in[i+2]) + int32(right)) >> 4)
	}
	return out
}

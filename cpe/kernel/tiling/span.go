package tiling

// Span is the N indices At, At+1, ... along an axis.
type Span struct{ At, N int }

// End returns the index after the last one.
func (s Span) End() int { return s.At + s.N }

// Has reports whether index i is in the span.
func (s Span) Has(i int) bool { return i >= s.At && i < s.End() }

// Nth returns part i of an extent that is cut into spans of n indices; the last part may be shorter.
func Nth(i, n, extent int) Span { return Span{i * n, min(n, extent-i*n)} }

// Window returns the inputs lo <= i < hi, of size along an axis, in the window of output o, without the padding.
func Window(o, stride, pad, kernel, size int) (lo, hi int) {
	lo = o*stride - pad
	return max(lo, 0), min(lo+kernel, size)
}

// Inputs returns the inputs, of size along an axis, in the windows of a span of outputs.
func Inputs(o Span, stride, pad, kernel, size int) Span {
	lo, _ := Window(o.At, stride, pad, kernel, size)
	_, hi := Window(o.End()-1, stride, pad, kernel, size)
	lo = min(lo, size)
	return Span{lo, max(0, hi-lo)}
}

// Outputs returns the outputs, of size along an axis, whose windows overlap a span of inputs.
func Outputs(i Span, stride, pad, kernel, size int) Span {
	lo := 0
	if first := i.At + pad - kernel; first >= 0 {
		lo = min(first/stride+1, size)
	}
	hi := min(size, (i.End()-1+pad)/stride+1)
	return Span{lo, max(0, hi-lo)}
}

// Inside returns the part [lo, hi) of n positions, from first on, that lies inside a line of size positions. lo and hi are relative to first.
func Inside(first, n, size int) (lo, hi int) {
	lo = min(n, max(0, -first))
	return lo, max(lo, min(n, size-first))
}

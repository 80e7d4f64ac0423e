package tiling

// From returns data without its first n values. No data (nil), as where only costs count, stays none.
func From(data []float32, n int) []float32 {
	if data == nil {
		return nil
	}
	return data[n:]
}

// Part returns data[at:at+n], or nil if data is nil.
func Part(data []float32, at, n int) []float32 {
	if data == nil {
		return nil
	}
	return data[at : at+n]
}

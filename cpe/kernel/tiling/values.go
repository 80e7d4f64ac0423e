package tiling

// From returns data without its first n values; nil stays nil.
func From(data []float32, n int) []float32 {
	if data == nil {
		return nil
	}
	return data[n:]
}

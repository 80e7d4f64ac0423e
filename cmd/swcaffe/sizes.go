package main

// Bytes of sizes that flags give and reports print.
const (
	bytesPerMB    = 1e6 // as bandwidths are counted
	bytesPerValue = 4   // float32
)

// isSize reports whether a flag's number of MB is 0 or a size that a computer's memory may have.
func isSize(mb float64) bool { return mb >= 0 && mb < 1e9 }

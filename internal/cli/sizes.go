package cli

// Bytes of sizes that flags give and reports print.
const (
	BytesPerMB    = 1e6 // as bandwidths are counted
	BytesPerValue = 4   // float32
)

// IsSize reports whether a flag's number of MB is 0 or a size that a computer's memory may have.
func IsSize(mb float64) bool { return mb >= 0 && mb < 1e9 }

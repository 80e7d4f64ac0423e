package cli

// Units of sizes in flags and reports, in bytes.
const (
	BytesPerMB    = 1e6 // in bandwidths
	BytesPerValue = 4   // a float32
)

// IsSize reports whether a number of MB given by a flag is 0 or a plausible size of memory.
func IsSize(mb float64) bool { return mb >= 0 && mb < 1e9 }

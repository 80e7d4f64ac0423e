//go:build !unix

package page

import "math"

// fileLimit returns the number of files that the process may open.
func fileLimit() uint64 { return math.MaxUint64 }

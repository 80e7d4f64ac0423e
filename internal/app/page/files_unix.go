//go:build unix

package page

import (
	"math"
	"syscall"
)

// fileLimit returns the number of files that the process may open.
func fileLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxUint64
	}
	return uint64(limit.Cur)
}

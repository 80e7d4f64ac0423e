//go:build unix

package randomtest

import (
	"syscall"
	"time"
)

// processorTime returns the time that all threads of this process have run so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the only errors are a wrong address and a wrong constant
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

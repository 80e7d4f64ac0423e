// Package cputime tells how long a thread has had a processor.
package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Thread returns the time that this thread has run so far. getrusage would know it by ticks of milliseconds alone.
func Thread() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // the only errors are a wrong address and an unknown clock
	}
	return time.Duration(t.Nano())
}

package costtest

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the time that this thread has run so far. getrusage would know it by ticks of milliseconds alone.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // the only errors are a wrong address and an unknown clock
	}
	return time.Duration(t.Nano())
}

package costtest

import (
	"syscall"
	"time"
)

// threadTime returns the time that this thread has run so far.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err) // the only errors are a wrong address and a wrong constant
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

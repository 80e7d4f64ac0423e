// Package costtest measures what a call costs, for tests of limits.
package costtest

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Of calls f and returns the time that the processor spent in it and the bytes that it allocated. What other goroutines do meanwhile counts as memory,
// and not as time.
func Of(f func()) (took time.Duration, allocated float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, began := heap(), threadTime()
	f()
	return threadTime() - began, float64(heap() - before)
}

// heap is the number of bytes that were ever allocated.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

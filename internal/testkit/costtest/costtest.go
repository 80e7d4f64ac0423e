// Package costtest measures what a call costs, for tests of limits.
package costtest

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/cputime"
)

// Of calls f and returns the time that the processor spent in it and the bytes that it allocated. What other goroutines do meanwhile counts as memory,
// and not as time.
func Of(f func()) (took time.Duration, allocated float64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, began := heap(), cputime.Thread()
	f()
	return cputime.Thread() - began, float64(heap() - before)
}

// Seconds returns the processor time of a number of seconds' work on a computer of 3 GHz, as this one takes it now: limits of time are stated in it, since
// a slower computer, or one whose caches other programs use, takes longer for everything.
func Seconds(n float64) time.Duration {
	const steps = 1 << 24 // of 4 cycles each
	took, _ := Of(func() {
		x := uint64(1)
		for range steps {
			x = x*6364136223846793005 + 1442695040888963407
		}
		runtime.KeepAlive(x)
	})
	return time.Duration(n * float64(took) / (4 * steps) * 3e9)
}

// heap is the number of bytes that were ever allocated.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

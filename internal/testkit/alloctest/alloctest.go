// Package alloctest counts the allocations of steady work, without the Go runtime's own allocations.
package alloctest

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// cached is the number of wait records (sudog, in runtime/proc.go) that the runtime caches per processor. A goroutine waiting for
// a channel, a lock or a WaitGroup needs such a record. It takes the record from the cache of the processor where it parks, and
// returns it to the cache of the processor where it wakes. A central store holds the surplus of the caches. If goroutines often
// wake on another processor, as on a busy computer, one cache fills up while another runs dry, and the runtime allocates new
// records: at most as many as the full cache holds.
const cached = 128

// threads is the number of additional threads that the runtime may start. When a goroutine blocks in a system call, as those of a
// machine's core groups do, another thread takes over its processor.
const threads = 16

// Stock makes the runtime allocate more wait records than the caches of all processors hold, and idle threads. The central store
// then has records until the next garbage collection.
func Stock() {
	open := make(chan struct{})
	var parking, waiting sync.WaitGroup
	for i := range threads + 2*cached*runtime.GOMAXPROCS(0) {
		parking.Add(1)
		waiting.Go(func() {
			if i < threads {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			parking.Done()
			<-open
		})
	}
	parking.Wait()
	runtime.Gosched()
	close(open)
	waiting.Wait()
}

// Count returns the number of objects that all goroutines of the process allocate while f runs. It prevents garbage collections
// meanwhile: a collection would empty the store filled by Stock, and every sync.Pool.
func Count(f func()) int {
	Stock()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs)
}

// PerRun returns the mean number of objects that a run of f allocates, over the given number of runs, rounded down. One earlier
// run is not counted.
func PerRun(runs int, f func()) int {
	f()
	all := Count(func() {
		for range runs {
			f()
		}
	})
	return all / runs
}

// Package alloctest counts what steady work allocates, less what the Go runtime allocates for itself.
package alloctest

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// A goroutine that waits for a channel, a lock or a WaitGroup does so on a record that the runtime keeps for the next one to wait,
// in a cache for each processor, of 128, and in a common store beyond that (sudog, in runtime/proc.go). It is taken from the
// processor where the goroutine parks and given back where it wakes. If goroutines often wake on another processor than they parked
// on, as when other processes take turns with this one, one cache fills up while the other runs dry and new records are made, up to
// what the first cache holds.
const cached = 128

// threads is how many more threads the runtime may come to start: one takes over the processor of a goroutine that sleeps in a call of
// the operating system, as those of a machine's core groups do.
const threads = 16

// Stock makes the runtime keep more records of waiting goroutines than the caches of all processors hold, so that the common store
// has some as long as no garbage is collected, and threads that have nothing to do.
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

// Count returns how many objects the process allocates while f runs, by all goroutines. No garbage is collected meanwhile: a
// collection would empty the store that Stock fills, and every sync.Pool.
func Count(f func()) int {
	Stock()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs)
}

// PerRun returns how many objects runs of f allocate, in the mean of so many behind one that is not counted, rounded down.
func PerRun(runs int, f func()) int {
	f()
	all := Count(func() {
		for range runs {
			f()
		}
	})
	return all / runs
}

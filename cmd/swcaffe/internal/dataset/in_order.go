package dataset

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// inOrder calls work for 0 to n-1 on all processors, and use with what it returned, in order, on the caller's goroutine. Work is a few calls
// a processor ahead, but most of them at a time. An error of use ends it, when the calls of work that are under way have returned.
func inOrder[T any](n, most int, work func(i int) T, use func(i int, made T) error) error {
	const ahead = 4
	workers := min(n, most, runtime.GOMAXPROCS(0))
	slots := make([]chan T, min(ahead*workers, most)) // of calls i, i + len(slots), ..., of which one is under way
	for i := range slots {
		slots[i] = make(chan T, 1)
	}
	free, done := make(chan struct{}, len(slots)), make(chan struct{})
	var next atomic.Int64
	var running sync.WaitGroup
	defer running.Wait()
	defer close(done)
	for range workers {
		running.Go(func() {
			for {
				select {
				case free <- struct{}{}:
				case <-done:
					return
				}
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				slots[i%len(slots)] <- work(i)
			}
		})
	}
	for i := range n {
		if err := use(i, <-slots[i%len(slots)]); err != nil {
			return err
		}
		<-free
	}
	return nil
}

package dataset

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/swcaffe/swcaffe/internal/relay"
)

// inOrder calls work(0) to work(n-1) on all processors, and calls use with the results, in order, on the caller's goroutine. Work
// runs a few calls per processor ahead of use, so that at most `most` results wait. After an error of use, inOrder returns when
// the running calls of work have ended. It raises a panic of work when that call's turn comes.
func inOrder[T any](n, most int, work func(i int) T, use func(i int, made T) error) error {
	const ahead = 4
	workers := min(n, most, runtime.GOMAXPROCS(0))
	slots := make([]chan outcome[T], min(ahead*workers, most)) // slot i serves the calls i, i + len(slots), ..., one at a time
	for i := range slots {
		slots[i] = make(chan outcome[T], 1)
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
				slots[i%len(slots)] <- outcomeOf(work, i)
			}
		})
	}
	for i := range n {
		o := <-slots[i%len(slots)]
		o.panicked.Raise()
		if err := use(i, o.made); err != nil {
			return err
		}
		<-free
	}
	return nil
}

// outcome is what a call of work made, or its panic.
type outcome[T any] struct {
	made     T
	panicked *relay.Panic
}

func outcomeOf[T any](work func(i int) T, i int) (o outcome[T]) {
	defer relay.Catch(&o.panicked)
	o.made = work(i)
	return o
}

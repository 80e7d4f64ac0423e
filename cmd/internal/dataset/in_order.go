package dataset

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// inOrder calls work(0) to work(n-1) on all processors, and calls use with the results, in order, on the caller's goroutine. Work
// runs a few calls per processor ahead of use, so that at most `most` results wait. After an error of use, inOrder returns when
// the running calls of work have ended. It raises a panic of work when that call's turn comes.
func inOrder[T any](n, most int, work func(i int) T, use func(i int, made T) error) error {
	return inOrderNear(n, most, func(i int, _ func()) T { return work(i) }, use)
}

// inOrderNear is inOrder for work whose results can be large. A call whose result is calls near before it makes it. Near returns when at most one result a
// processor and the one in use come before it.
func inOrderNear[T any](n, most int, work func(i int, near func()) T, use func(i int, made T) error) error {
	const ahead = 4
	workers := min(n, most, runtime.GOMAXPROCS(0))
	slots := make([]chan outcome[T], min(ahead*workers, most)) // slot i serves the calls i, i + len(slots), ..., one at a time
	for i := range slots {
		slots[i] = make(chan outcome[T], 1)
	}
	free, done := make(chan struct{}, len(slots)), make(chan struct{})
	var next atomic.Int64
	p := newProgress(workers)
	var running sync.WaitGroup
	defer running.Wait()
	defer p.end()
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
				slots[i%len(slots)] <- outcomeOf(func() T { return work(i, func() { p.wait(i) }) })
			}
		})
	}
	for i := range n {
		o := <-slots[i%len(slots)]
		o.panicked.Raise()
		if err := use(i, o.made); err != nil {
			return err
		}
		p.advance()
		<-free
	}
	return nil
}

// progress is the number of results that have been used.
type progress struct {
	mu      sync.Mutex
	changed sync.Cond
	used    int
	ahead   int // how far a waiting call may be ahead of it
	ended   bool
}

func newProgress(ahead int) *progress {
	p := &progress{ahead: ahead}
	p.changed.L = &p.mu
	return p
}

// wait waits until call i is near.
func (p *progress) wait(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i > p.used+p.ahead && !p.ended {
		p.changed.Wait()
	}
}

func (p *progress) advance() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used++
	p.changed.Broadcast()
}

// end lets all waiting calls go on.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.changed.Broadcast()
}

// outcome is what a call of work made, or its panic.
type outcome[T any] struct {
	made     T
	panicked *relay.Panic
}

func outcomeOf[T any](work func() T) (o outcome[T]) {
	defer relay.Catch(&o.panicked)
	o.made = work()
	return o
}

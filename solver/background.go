package solver

import "github.com/swcaffe/swcaffe/internal/base/relay"

// background runs one function at a time in parallel with its caller, on a permanent goroutine.
type background struct {
	begun chan struct{}
	ended chan error
}

// inBackground starts the goroutine. stop ends it.
func inBackground(work func() error) *background {
	b := &background{begun: make(chan struct{}), ended: make(chan error, 1)}
	go func() {
		for range b.begun {
			b.ended <- relay.Error(work)
		}
	}()
	return b
}

// begin starts one run. wait must be called before the next begin.
func (b *background) begin() { b.begun <- struct{}{} }

// wait returns the run's error, or raises its panic.
func (b *background) wait() error { return relay.RaiseIn(<-b.ended) }

func (b *background) stop() { close(b.begun) }

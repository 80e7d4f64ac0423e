package solver

// background runs one piece of work at a time beside its caller, on a goroutine that stays.
type background struct {
	begun chan struct{}
	ended chan error
}

// inBackground starts the goroutine; it ends with stop.
func inBackground(work func() error) *background {
	b := &background{begun: make(chan struct{}), ended: make(chan error, 1)}
	go func() {
		for range b.begun {
			b.ended <- work()
		}
	}()
	return b
}

// begin starts the work; wait must be called before the next begin.
func (b *background) begin() { b.begun <- struct{}{} }

// wait returns what the work has returned.
func (b *background) wait() error { return <-b.ended }

func (b *background) stop() { close(b.begun) }

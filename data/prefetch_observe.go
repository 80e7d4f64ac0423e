package data

import "time"

// Observer is told of a piece of work of a Prefetcher's goroutines that has just ended: "read" of the reading goroutine, or "decode" of a worker.
type Observer func(work string, worker int, begun time.Time)

// Observe makes the goroutines tell an observer of their work; nil ends that. The observer is called by several goroutines at once, and may be
// called once more by each after the end.
func (p *Prefetcher) Observe(f Observer) {
	if f == nil {
		p.observer.Store(nil)
		return
	}
	p.observer.Store(&f)
}

// clock returns the time if somebody observes the goroutines.
func (p *Prefetcher) clock() time.Time {
	if p.observer.Load() == nil {
		return time.Time{}
	}
	return time.Now()
}

// tell tells the observer of work that clock has seen begin.
func (p *Prefetcher) tell(work string, worker int, begun time.Time) {
	if f := p.observer.Load(); f != nil && !begun.IsZero() {
		(*f)(work, worker, begun)
	}
}

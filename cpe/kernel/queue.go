package kernel

import "sync/atomic"

// queue hands units of work to the host's core groups as they get ready: one that others slow down does fewer, and those that work at the
// same time read and write what lies close together. Who does a unit must make no difference to its results.
type queue struct{ taken atomic.Int32 }

// opener is a program whose units core groups take from a queue.
type opener interface{ open() }

// open begins with the first unit, before core groups run.
func (q *queue) open() { q.taken.Store(0) }

// take returns the next unit; there may be no more of them.
func (q *queue) take() int { return int(q.taken.Add(1)) - 1 }

package net

import "time"

// Observer is told of a layer's run: Forward, or Backward, of layer i, which began at a time and has just ended.
type Observer func(i int, backward bool, begun time.Time)

// Observe makes the net tell an observer of every layer's run; nil ends that.
func (n *Net) Observe(f Observer) { n.observer = f }

// begin returns the time if somebody observes the net.
func (n *Net) begin() time.Time {
	if n.observer == nil {
		return time.Time{}
	}
	return time.Now()
}

// ran tells the observer of a layer's run.
func (n *Net) ran(i int, backward bool, begun time.Time) {
	if n.observer != nil {
		n.observer(i, backward, begun)
	}
}

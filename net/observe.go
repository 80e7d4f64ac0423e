package net

import "time"

// Observer is told of a layer's run: Forward, or Backward, of layer i, which began at a time and has just ended.
type Observer func(i int, backward bool, begun time.Time)

// Observe makes the net tell an observer of every layer's run; nil ends that.
func (n *Net) Observe(f Observer) { n.observer = f }

// Hook is called before and after Forward, or Backward, of layer i, also of a layer that needs no Backward. An error ends the run.
type Hook func(i int, backward, after bool) error

// Around makes the net call a hook around every layer's run; nil ends that.
func (n *Net) Around(f Hook) { n.hook = f }

// call calls the hook.
func (n *Net) call(i int, backward, after bool) error {
	if n.hook == nil {
		return nil
	}
	if err := n.hook(i, backward, after); err != nil {
		return n.fail(n.nodes[i], err)
	}
	return nil
}

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

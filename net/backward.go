package net

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// pruneBackward excludes layers from the backward pass that cannot contribute: those with no loss after them, and those whose tops all get
// no gradient. It goes from the last layer to the first.
func (n *Net) pruneBackward() {
	underLoss, skipped := map[int]bool{}, map[int]bool{}
	for i := len(n.nodes) - 1; i >= 0; i-- {
		d := n.nodes[i]
		contributes, skip := false, true
		for k, id := range d.TopIDs {
			contributes = contributes || d.Loss[k] != 0 || underLoss[id]
			skip = skip && skipped[id]
		}
		if d.NeedsBackward && skip {
			d.NeedsBackward = false
			clear(d.Propagate)
		}
		if !contributes {
			d.NeedsBackward = false
		}
		for j, id := range d.BottomIDs {
			if contributes {
				underLoss[id] = true
			} else {
				d.Propagate[j] = false
			}
			if !d.Propagate[j] {
				skipped[id] = true
			}
		}
	}
}

// forceBackward makes every layer compute the gradients of all its bottoms, except those (labels) that the type exempts.
func (n *Net) forceBackward() {
	for _, d := range n.nodes {
		if d.kind.NoGradient {
			continue
		}
		d.NeedsBackward = true
		for j := range d.Bottoms {
			d.Propagate[j] = d.Propagate[j] || d.kind.Forced(j, len(d.Bottoms))
		}
	}
	for i := range n.params {
		n.params[i].needGrad = true
	}
}

// CheckBackward returns an error for each layer whose Backward would need a gradient that its type does not have.
func (n *Net) CheckBackward() error {
	var errs []error
	for _, d := range n.nodes {
		if !d.NeedsBackward || d.kind.ZeroGradient {
			continue
		}
		for j, need := range d.Propagate {
			switch {
			case !need:
			case d.kind.NoGradient:
				errs = append(errs, n.fail(d, fmt.Errorf("layers of type %s have no gradient, but weights before it, or force_backward, need that of bottom %d", d.kind.Name, j)))
			case !d.kind.Forced(j, len(d.Propagate)):
				errs = append(errs, n.fail(d, fmt.Errorf("the layer cannot backpropagate to bottom %d, but weights before it, or force_backward, need this gradient; propagate_down: false for that bottom leaves it out", j)))
			}
		}
	}
	return errors.Join(errs...)
}

// findStarts finds the tops at which Backward starts from the loss weight: they have a loss weight, and no later layer computes their
// gradient. If a loss layer's top has a reader, its gradient is that of the reader, although the top counts in the loss by default. As in
// Caffe, the reader overwrites the weight in the gradient. An explicit loss_weight makes the top count as well (see InsertSplits).
func (n *Net) findStarts() {
	written := map[int]bool{}
	for i := len(n.nodes) - 1; i >= 0; i-- {
		d := n.nodes[i]
		d.Starts = make([]bool, len(d.TopIDs))
		for k, id := range d.TopIDs {
			d.Starts[k] = d.Loss[k] != 0 && !written[id]
		}
		d.findOwnLoss(written)
		for j, id := range d.BottomIDs {
			written[id] = d.NeedsBackward && d.Propagate[j]
		}
	}
}

// arrangeOverwritten sets Arranged.TopLost for layers whose tops' values a later in-place layer overwrites, directly or through a view.
func (n *Net) arrangeOverwritten() error {
	above := map[blob.Storage][]*node{} // by the storage of their tops' values
	for _, d := range n.nodes {
		if len(d.Tops) != 1 {
			continue
		}
		values := d.Tops[0].DataStorage()
		if slices.Contains(d.Bottoms, d.Tops[0]) {
			for _, o := range above[values] {
				o.Alone.TopLost = true
				if err := layers.Arrange(o.Layer, o.Alone); err != nil {
					return n.fail(o, err)
				}
			}
			delete(above, values)
		}
		above[values] = append(above[values], d)
	}
	return nil
}

// selectGradients tells layers which weight gradients are needed.
func (n *Net) selectGradients() {
	for _, d := range n.nodes {
		s, ok := d.Layer.(layers.GradSelector)
		for i, id := range d.paramIDs {
			if ok {
				s.SetParamGrad(i, n.params[id].needGrad)
			}
		}
	}
}

// ComputesGradients reports whether layer i computes gradients of the given kind in Backward.
func (n *Net) ComputesGradients(i int, kind Gradients) bool {
	d := n.nodes[i]
	if !d.NeedsBackward {
		return false
	}
	if kind == InputGradients {
		return slices.Contains(d.Propagate, true)
	}
	return slices.ContainsFunc(d.paramIDs, func(id int) bool { return n.params[id].needGrad })
}

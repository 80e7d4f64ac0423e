package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// pruneBackward walks the net from its end and takes layers out of the backward pass that cannot matter: those under
// which no loss lies, and those all of whose tops get no gradient.
func (n *Net) pruneBackward() {
	underLoss, skipped := map[int]bool{}, map[int]bool{}
	for i := len(n.nodes) - 1; i >= 0; i-- {
		d := n.nodes[i]
		contributes, skip := false, true
		for k, id := range d.topIDs {
			contributes = contributes || d.lossWeights[k] != 0 || underLoss[id]
			skip = skip && skipped[id]
		}
		if d.needBackward && skip {
			d.needBackward = false
			clear(d.propagate)
		}
		if !contributes {
			d.needBackward = false
		}
		for j, id := range d.bottomIDs {
			if contributes {
				underLoss[id] = true
			} else {
				d.propagate[j] = false
			}
			if !d.propagate[j] {
				skipped[id] = true
			}
		}
	}
}

// forceBackward makes every layer compute the gradients of all its bottoms, except of those (labels) whose type does
// not allow it.
func (n *Net) forceBackward() {
	for _, d := range n.nodes {
		if d.kind.NoGradient {
			continue
		}
		d.needBackward = true
		for j := range d.bottoms {
			d.propagate[j] = d.propagate[j] || !slices.Contains(d.kind.NoForceBackward, j)
		}
	}
	for i := range n.params {
		n.params[i].needGrad = true
	}
}

// findReadBack finds the tops whose gradient a layer behind computes. A loss layer's is that alone, though it counts in the loss by
// default, as in Caffe, where the weight that stands in the gradient is overwritten; a loss_weight makes it count too (see
// InsertSplits).
func (n *Net) findReadBack() {
	written := map[int]bool{}
	for i := len(n.nodes) - 1; i >= 0; i-- {
		d := n.nodes[i]
		d.readBack = make([]bool, len(d.topIDs))
		for k, id := range d.topIDs {
			d.readBack[k] = written[id]
		}
		for j, id := range d.bottomIDs {
			written[id] = d.needBackward && d.propagate[j]
		}
	}
}

// findReaders finds the layer that reads each one's first top, as it leaves it.
func (n *Net) findReaders() {
	next := map[int]*node{}
	for _, d := range slices.Backward(n.nodes) {
		if len(d.topIDs) > 0 {
			d.reader = next[d.topIDs[0]]
		}
		for _, id := range d.bottomIDs {
			next[id] = d
		}
	}
}

// startsGradient reports whether Backward begins with the loss weight of top k of a layer as its gradient.
func (d *node) startsGradient(k int) bool { return d.lossWeights[k] != 0 && !d.readBack[k] }

// freeOverwritten tells layers whose tops' values a layer behind overwrites, as it runs in place, on them or on a view of them.
func (n *Net) freeOverwritten() {
	above := map[blob.Storage][]layers.TopFreer{} // by where their tops' values stand; those that have not been told
	for _, d := range n.nodes {
		if len(d.tops) == 1 && slices.Contains(d.bottoms, d.tops[0]) {
			values := d.tops[0].DataStorage()
			for _, f := range above[values] {
				f.FreeTop()
			}
			delete(above, values)
		}
		if f, ok := d.Layer.(layers.TopFreer); ok {
			values := d.tops[0].DataStorage()
			above[values] = append(above[values], f)
		}
	}
}

// tellLayersWhichGradients passes on which weights' gradients are wanted.
func (n *Net) tellLayersWhichGradients() {
	for _, d := range n.nodes {
		s, ok := d.Layer.(layers.GradSelector)
		for i, id := range d.paramIDs {
			if ok {
				s.SetParamGrad(i, n.params[id].needGrad)
			}
		}
	}
}

// ComputesGradients reports whether layer i computes gradients of a kind in Backward.
func (n *Net) ComputesGradients(i int, kind Gradients) bool {
	d := n.nodes[i]
	if !d.needBackward {
		return false
	}
	if kind == InputGradients {
		return slices.Contains(d.propagate, true)
	}
	return slices.ContainsFunc(d.paramIDs, func(id int) bool { return n.params[id].needGrad })
}

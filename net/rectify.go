package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/layers"
)

// rectify lets layers do what ReLU layers in place that compute alone would do: those before them in Forward, those behind them in
// Backward, which have at hand what is rectified.
func (n *Net) rectify() {
	for _, d := range n.nodes {
		if next := d.nextAlone(); next != nil && len(next.tops) == 1 && next.tops[0] == d.tops[0] {
			if r, ok := d.task.Layer.(layers.Rectifier); ok {
				n.noteRectified(r.TakeReLU(next.task.Layer))
			}
		}
		if len(d.bottoms) != 1 || len(d.tops) != 1 || d.bottoms[0] != d.tops[0] || n.opt.ForwardOnly {
			continue
		}
		if next := d.nextHead(); next != nil {
			i := slices.Index(next.bottoms, d.tops[0])
			if r, ok := next.task.Layer.(layers.GradRectifier); ok && next.needBackward && next.propagate[i] {
				n.noteRectified(r.TakeReLUGrad(i, d.task.Layer))
			}
		}
	}
}

// nextAlone returns the node that reads the only top of one that computes alone, if it computes alone too.
func (d *node) nextAlone() *node {
	if next := d.nextHead(); next != nil && len(next.task.nodes) == 1 {
		return next
	}
	return nil
}

// nextHead returns the node that reads the only top of one that computes alone, if it computes, alone or with layers behind it.
func (d *node) nextHead() *node {
	if len(d.task.nodes) != 1 {
		return nil
	}
	if next := d.task.reader(); next != nil && len(next.task.nodes) > 0 {
		return next
	}
	return nil
}

// noteRectified keeps what takes back that a layer is computed by another, if it is.
func (n *Net) noteRectified(back func()) {
	if back != nil {
		n.rectified = append(n.rectified, back)
	}
}

// unrectify takes all back.
func (n *Net) unrectify() {
	for _, back := range n.rectified {
		back()
	}
	n.rectified, n.finished = nil, nil
}

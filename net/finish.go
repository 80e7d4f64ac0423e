package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// In a net for Forward alone a layer may do what the one that reads its only top does, result by result, as it makes them (layers.Finisher).
// The tops of both then are one place in memory, and what is between them is nowhere.

// finish lets layers do that which can.
func (n *Net) finish() {
	if !n.opt.ForwardOnly {
		return
	}
	for i, d := range n.nodes {
		f, ok := d.task.Layer.(layers.Finisher)
		next := d.nextHead()
		if !ok || next == nil || !n.canFinish(i, next.task) {
			continue
		}
		before, after := d.task.tops[0], next.task.tops[0]
		back := f.TakeForward(next.task.Layer, next.task.bottoms[1:])
		if back == nil {
			continue
		}
		before.ShareData(after)
		n.finished = append(n.finished, before)
		n.noteRectified(func() {
			back()
			before.ShareData(n.opt.Device.NewBlob(before.Shape()...))
		})
	}
}

// canFinish reports whether node i could do a task that reads its top: nobody asks for that, what else the task reads is there before node i
// runs, and where the task writes nothing stands that either reads.
func (n *Net) canFinish(i int, t *task) bool {
	d := n.nodes[i]
	if len(d.task.bottoms) != 1 || len(t.tops) != 1 { // Silence has no top
		return false
	}
	before, after := d.task.tops[0], t.tops[0]
	if n.kept[d.topIDs[0]] || t.bottoms[0] != before || before.Count() != after.Count() {
		return false
	}
	others := t.bottoms[1:]
	late := func(b *blob.Blob) bool { return n.writtenFrom(i, b) }
	return !slices.ContainsFunc(others, late) && !slices.ContainsFunc(slices.Concat(d.task.bottoms, others), after.SharesData)
}

package net

import (
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// task is what is run at a node's place in the order: the node's own layer, or one that computes its layer and the ones behind it.
type task struct {
	layers.Layer
	bottoms, tops []*blob.Blob
	propagate     []bool
	nodes         []*node               // whose layers it computes
	parted        layers.PartedBackward // its layer, if Backward runs in parts
}

// complete reports whether the gradients of node i are there when Backward has come down to node at: it may be computed with a
// layer before it.
func (n *Net) complete(i, at int) bool {
	if len(n.nodes[i].task.nodes) > 0 {
		return i >= at
	}
	for k := i - 1; k >= at; k-- {
		if slices.Contains(n.nodes[k].task.nodes, n.nodes[i]) {
			return true
		}
	}
	return false
}

// separate makes every node run its own layer.
func (n *Net) separate() {
	n.unsetLayouts()
	n.partGradients()
	n.unrectify()
	for _, d := range n.nodes {
		d.alone()
	}
}

func (d *node) alone() {
	d.task = &task{Layer: d.Layer, bottoms: d.bottoms, tops: d.tops, propagate: d.propagate, nodes: []*node{d}}
}

// fuse lets chains of layers be computed together where the first of them can do that (layers.Fuser) and nobody asks for what stands
// between them. Both directions then run at the place of the first.
func (n *Net) fuse() {
	if !n.opt.Economise {
		return
	}
	n.findWriters()
	for range 2 { // the second time chains are there that layers before them can join
		for i := range n.nodes {
			n.fuseFrom(i)
		}
	}
	n.rectify()
	n.finish()
	n.shareGradients()
}

// fuseFrom lets the task of node i compute what is behind it as well, as far as it can.
func (n *Net) fuseFrom(i int) {
	t := n.nodes[i].task
	for alone := len(t.nodes); len(t.nodes) > 0; {
		next := t.reader()
		fused := n.fused(i, next)
		if fused == nil {
			if len(t.nodes) > alone {
				n.completeFusion(i)
			}
			return
		}
		t.Layer = fused
		t.addBottoms(next.task)
		t.tops, t.nodes = next.task.tops, append(t.nodes, next.task.nodes...)
		next.task = &task{}
	}
}

// fused returns the layer that computes the task of node i and that of another, nil if there is none.
func (n *Net) fused(i int, next *node) layers.Layer {
	t := n.nodes[i].task
	f, ok := t.Layer.(layers.Fuser)
	if !ok || next == nil || !n.joins(i, next) {
		return nil
	}
	fused := f.Fuse(next.task.Layer)
	if p, ok := fused.(layers.ParamsTrainer); ok && p.GradsOfParamsAlone() && slices.Contains(t.propagate, true) {
		return nil
	}
	return fused
}

// reader returns the node that reads a task's only top, which is no loss.
func (t *task) reader() *node {
	last := t.nodes[len(t.nodes)-1]
	if len(last.topIDs) != 1 || last.lossWeights[0] != 0 {
		return nil
	}
	return last.reader
}

// joins reports whether a node's task can be computed with the layers before it, at the place of node i: what it reads besides is there by
// then, it goes backward as they do, and their top is not asked for, unless it is overwritten anyway and its gradient is there all the same;
// nor would they overwrite, in place, values that stand elsewhere, so that those could not be kept for Backward. A layer that looks in
// Backward at what it wrote, where another has overwritten that in place, finds what is there then, as in Caffe.
func (n *Net) joins(i int, d *node) bool {
	head, t := n.nodes[i], d.task
	if len(t.nodes) == 0 || len(t.tops) != 1 || d.needBackward != head.needBackward || d.needBackward && slices.Contains(t.propagate, false) {
		return false
	}
	inPlace := slices.Contains(head.bottoms, head.tops[0])
	if inPlace && n.isView(i, head.tops[0]) {
		return false
	}
	if d.needBackward && (inPlace && n.makerReads(i, head.tops[0]) || n.readsOverwritten(d) || n.viewOverwritten(i)) {
		return false
	}
	top := head.task.tops[0]
	id := head.task.nodes[len(head.task.nodes)-1].topIDs[0]
	hidden := n.kept[id] && (t.tops[0] != top || n.hidesGrad(head.task.nodes, id))
	for _, b := range slices.Backward(t.bottoms) { // of many the last is most often the one that is not there
		if n.fromSource(b) || b != top && n.writtenFrom(i, b) || b == top && hidden {
			return false
		}
	}
	return len(t.bottoms) == 1 || !slices.Contains(t.bottoms, t.tops[0])
}

// isView reports whether a blob's values are those of another that a node before node i makes.
func (n *Net) isView(i int, b *blob.Blob) bool {
	return slices.ContainsFunc(n.writers.views[b.DataStorage()], func(w written) bool { return w.node < i && w.top != b })
}

// makerReads reports whether a node before node i that writes a blob reads its values in Backward.
func (n *Net) makerReads(i int, b *blob.Blob) bool {
	return slices.ContainsFunc(n.writers.of[b], func(k int) bool { d := n.nodes[k]; return k < i && d.needBackward && d.readsWritten(b) })
}

// readsOverwritten reports whether one of the layers of a node's task reads, in Backward, what it wrote and what a node behind them overwrites.
func (n *Net) readsOverwritten(d *node) bool {
	nodes := d.task.nodes
	behind := n.writers.at[nodes[len(nodes)-1]] + 1
	return slices.ContainsFunc(nodes, func(m *node) bool { return n.writtenFrom(behind, m.tops[0]) && m.readsWritten(m.tops[0]) })
}

// readsWritten reports whether a node's own layer writes a blob and reads its values in Backward.
func (d *node) readsWritten(b *blob.Blob) bool {
	if !slices.Contains(d.tops, b) {
		return false
	}
	for j, o := range d.bottoms {
		if o == b && readsBottom(d.Layer, j) {
			return true
		}
	}
	return readsTops(d.Layer)
}

// viewOverwritten reports whether a node behind node i overwrites, in place on another view of them, the values of its first bottom, from
// which layers that are computed together may compute anew in Backward what they keep by themselves.
func (n *Net) viewOverwritten(i int) bool {
	return slices.ContainsFunc(n.nodes[i].bottoms, func(b *blob.Blob) bool {
		return slices.ContainsFunc(n.writers.views[b.DataStorage()], func(w written) bool {
			return w.node > i && w.top != b && slices.Contains(n.nodes[w.node].bottoms, w.top)
		})
	})
}

// writtenFrom reports whether a node from i on writes a blob.
func (n *Net) writtenFrom(i int, b *blob.Blob) bool {
	of := n.writers.of[b]
	return len(of) > 0 && of[len(of)-1] >= i
}

// addBottoms gives a task what one that joins it reads besides its top.
func (t *task) addBottoms(joined *task) {
	t.bottoms, t.propagate = slices.Clone(t.bottoms), slices.Clone(t.propagate)
	for j, b := range joined.bottoms {
		if b != t.tops[0] {
			t.bottoms, t.propagate = append(t.bottoms, b), append(t.propagate, joined.propagate[j])
		}
	}
}

// fromSource reports whether a layer without bottoms makes a blob.
func (n *Net) fromSource(b *blob.Blob) bool {
	return slices.ContainsFunc(n.writers.of[b], func(k int) bool { return len(n.nodes[k].bottoms) == 0 })
}

// between reports whether a blob or its gradient stands between layers that are computed together, so that nobody writes it.
func (n *Net) between(id int) bool {
	return slices.ContainsFunc(n.nodes, func(d *node) bool {
		inside := func(m *node) bool { return m.topIDs[0] == id }
		nodes := d.task.nodes
		return len(nodes) > 1 && slices.ContainsFunc(nodes[:len(nodes)-1], inside) && (!inside(nodes[len(nodes)-1]) || n.hidesGrad(nodes, id))
	})
}

// hidesGrad reports whether layers that are computed together, of which the later ones run in place on a blob, compute no gradient by what
// the first of these find there. If all run in place, it is the gradient that they pass on.
func (n *Net) hidesGrad(nodes []*node, id int) bool {
	return nodes[0].needBackward && !n.opt.ForwardOnly && !slices.Contains(nodes[0].bottomIDs, id)
}

// completeFusion wires the task of node i. Where it would overwrite its own bottom, those before it write to a blob of its own,
// which shares its gradient with the top. Layers of which the machine refuses to compute all at once remain by themselves.
func (n *Net) completeFusion(i int) {
	t := n.nodes[i].task
	top := t.tops[0]
	before := n.opt.Device.NewBlob(top.Shape()...)
	before.ShareDiff(top)
	t.bottoms = exchanged(t.bottoms, top, before)
	names := make([]string, len(t.nodes))
	for k, d := range t.nodes {
		names[k] = d.param.GetName()
	}
	if err := t.Reshape(t.bottoms, t.tops); err != nil {
		n.log.Infof("Computing %s one by one: %v", strings.Join(names, ", "), err)
		for _, d := range t.nodes {
			d.alone()
		}
		return
	}
	for _, d := range n.nodes[n.firstWith(top, i):i] {
		d.task.bottoms, d.task.tops = exchanged(d.task.bottoms, top, before), exchanged(d.task.tops, top, before)
	}
	n.log.Infof("Computing %s together", strings.Join(names, ", "))
}

// firstWith is the first node before node i whose task may have a blob that nobody has before it is written: the one that computes the
// layer which writes it first, maybe together with layers before that.
func (n *Net) firstWith(b *blob.Blob, i int) int {
	first := min(i, n.writers.of[b][0])
	for k := first; k >= 0; k-- {
		if slices.Contains(n.nodes[k].task.nodes, n.nodes[first]) {
			return k
		}
	}
	return first
}

// exchanged returns a list with one blob in the place of another.
func exchanged(list []*blob.Blob, old, by *blob.Blob) []*blob.Blob {
	out := make([]*blob.Blob, len(list))
	for i, b := range list {
		if out[i] = b; b == old {
			out[i] = by
		}
	}
	return out
}

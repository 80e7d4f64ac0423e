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
	nodes         []*node // whose layers it computes
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

func (d *node) alone() { d.task = &task{d.Layer, d.bottoms, d.tops, d.propagate, []*node{d}} }

// fuse lets chains of layers be computed together where the first of them can do that (layers.Fuser) and nobody asks for what stands
// between them. Both directions then run at the place of the first.
func (n *Net) fuse() {
	if !n.opt.Economise {
		return
	}
	for i, head := range n.nodes {
		if len(head.task.nodes) == 0 {
			continue
		}
		for {
			f, ok := head.task.Layer.(layers.Fuser)
			next := n.reader(head.task)
			if !ok || next == nil || !n.joins(i, next) {
				break
			}
			fused := f.Fuse(next.task.Layer)
			if fused == nil {
				break
			}
			head.task.Layer = fused
			n.addBottoms(head.task, next)
			head.task.tops = next.tops
			head.task.nodes = append(head.task.nodes, next)
			next.task = &task{}
		}
		if len(head.task.nodes) > 1 {
			n.completeFusion(i)
		}
	}
	n.rectify()
	n.shareGradients()
}

// reader returns the node that reads a task's only top.
func (n *Net) reader(t *task) *node {
	last := t.nodes[len(t.nodes)-1]
	if len(last.topIDs) != 1 || last.lossWeights[0] != 0 {
		return nil
	}
	behind := false
	for _, d := range n.nodes {
		for _, id := range d.bottomIDs {
			if behind && id == last.topIDs[0] {
				return d
			}
		}
		behind = behind || d == last
	}
	return nil
}

// joins reports whether a node can be computed with the layers before it, at the place of node i: what it reads besides is there by
// then, it goes backward as they do, and their top is not asked for, unless it is overwritten anyway.
func (n *Net) joins(i int, d *node) bool {
	head := n.nodes[i]
	if len(d.tops) != 1 || len(d.task.nodes) != 1 || d.needBackward != head.needBackward || d.needBackward && slices.Contains(d.propagate, false) {
		return false
	}
	top := head.task.tops[0]
	for j, b := range d.bottoms {
		if n.fromSource(b) || b != top && n.writtenFrom(i, b) || b == top && d.tops[0] != b && n.kept[d.bottomIDs[j]] {
			return false
		}
	}
	return len(d.bottoms) == 1 || !slices.Contains(d.bottoms, d.tops[0])
}

// writtenFrom reports whether a node from i on writes a blob.
func (n *Net) writtenFrom(i int, b *blob.Blob) bool {
	return slices.ContainsFunc(n.nodes[i:], func(d *node) bool { return slices.Contains(d.tops, b) })
}

// addBottoms gives a task what a node that joins it reads besides its top.
func (n *Net) addBottoms(t *task, d *node) {
	t.bottoms, t.propagate = slices.Clone(t.bottoms), slices.Clone(t.propagate)
	for j, b := range d.bottoms {
		if b != t.tops[0] {
			t.bottoms, t.propagate = append(t.bottoms, b), append(t.propagate, d.propagate[j])
		}
	}
}

// fromSource reports whether a layer without bottoms makes a blob.
func (n *Net) fromSource(b *blob.Blob) bool {
	return slices.ContainsFunc(n.nodes, func(d *node) bool { return len(d.bottoms) == 0 && slices.Contains(d.tops, b) })
}

// between reports whether a blob stands between layers that are computed together, so that nobody writes it.
func (n *Net) between(id int) bool {
	return slices.ContainsFunc(n.nodes, func(d *node) bool {
		inside := func(m *node) bool { return m.topIDs[0] == id }
		nodes := d.task.nodes
		return len(nodes) > 1 && slices.ContainsFunc(nodes[:len(nodes)-1], inside) && !inside(nodes[len(nodes)-1])
	})
}

// completeFusion wires the task of node i. Where it would overwrite its own bottom, those before it write to a blob of its own,
// which shares its gradient with the top. Layers of which the machine refuses to compute all at once remain by themselves.
func (n *Net) completeFusion(i int) {
	t := n.nodes[i].task
	top := t.tops[0]
	before := n.opt.Device.NewBlob(top.Shape()...)
	before.ShareDiff(top)
	t.bottoms = replaced(t.bottoms, top, before)
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
	for _, d := range n.nodes[:i] {
		d.task.bottoms, d.task.tops = replaced(d.task.bottoms, top, before), replaced(d.task.tops, top, before)
	}
	n.log.Infof("Computing %s together", strings.Join(names, ", "))
}

// replaced returns a list with one blob in the place of another.
func replaced(list []*blob.Blob, old, new *blob.Blob) []*blob.Blob {
	out := make([]*blob.Blob, len(list))
	for i, b := range list {
		if out[i] = b; b == old {
			out[i] = new
		}
	}
	return out
}

package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// wiring records which nodes read and write which blobs, before fusion. With it the cost of passes grows linearly with the number of
// layers, not quadratically.
type wiring struct {
	at     map[*Node]int              // a node's position
	reader map[*Node]*Node            // the next reader of a node's first top
	of     map[*blob.Blob][]int       // the nodes that write a blob, in order
	views  map[blob.Storage][]written // the tops that share a storage of values
	own    []layers.Traits            // traits of the nodes' own layers
}

// written is a top of a node.
type written struct {
	node int
	top  *blob.Blob
}

func findWiring(g *Graph, alone []*Task) wiring {
	w := wiring{map[*Node]int{}, map[*Node]*Node{}, map[*blob.Blob][]int{}, map[blob.Storage][]written{}, nil}
	for i, d := range g.Nodes {
		w.at[d] = i
		w.own = append(w.own, alone[i].traits)
		for _, t := range d.Tops {
			if of := w.of[t]; len(of) == 0 || of[len(of)-1] != i {
				w.of[t] = append(of, i)
			}
			w.views[t.DataStorage()] = append(w.views[t.DataStorage()], written{i, t})
		}
	}
	next := map[int]*Node{}
	for _, d := range slices.Backward(g.Nodes) {
		if len(d.TopIDs) > 0 {
			w.reader[d] = next[d.TopIDs[0]]
		}
		for _, id := range d.BottomIDs {
			next[id] = d
		}
	}
	return w
}

// task returns the task at a node's position.
func (p *Plan) task(d *Node) *Task { return p.Tasks[p.at[d]] }

// readerOf returns the reader of a task's only top, or nil if the top has a loss weight.
func (p *Plan) readerOf(t *Task) *Node {
	last := t.last()
	if len(last.TopIDs) != 1 || last.Loss[0] != 0 {
		return nil
	}
	return p.reader[last]
}

// behind returns the reader of node d's only top, if d is not fused and the reader is not fused to an earlier layer.
func (p *Plan) behind(d *Node) *Node {
	t := p.task(d)
	if !t.single() {
		return nil
	}
	if next := p.readerOf(t); next != nil && !p.task(next).Empty() {
		return next
	}
	return nil
}

// isView reports whether a blob shares its values with another top of a node before node i.
func (p *Plan) isView(i int, b *blob.Blob) bool {
	return slices.ContainsFunc(p.views[b.DataStorage()], func(w written) bool { return w.node < i && w.top != b })
}

// makerReads reports whether a node before node i writes a blob and reads its values in Backward.
func (p *Plan) makerReads(i int, b *blob.Blob) bool {
	return slices.ContainsFunc(p.of[b], func(k int) bool { return k < i && p.Nodes[k].NeedsBackward && p.readsWritten(k, b) })
}

// readsOverwritten reports whether a layer of the task reads in Backward one of its tops that a later node overwrites.
func (p *Plan) readsOverwritten(t *Task) bool {
	behind := p.at[t.last()] + 1
	return slices.ContainsFunc(t.Nodes, func(m *Node) bool {
		return p.writtenFrom(behind, m.Tops[0]) && p.readsWritten(p.at[m], m.Tops[0])
	})
}

// readsWritten reports whether node k's own layer writes a blob and reads its values in Backward.
func (p *Plan) readsWritten(k int, b *blob.Blob) bool {
	d, unread := p.Nodes[k], p.own[k].Unread
	if !slices.Contains(d.Tops, b) {
		return false
	}
	for j, o := range d.Bottoms {
		if o == b && !unread.Bottoms.Has(j) {
			return true
		}
	}
	return !unread.Tops
}

// viewOverwritten reports whether a node after node i overwrites the values of its bottoms in place through another view. Fused layers may
// recompute from these in Backward, although the separate layers keep what they need.
func (p *Plan) viewOverwritten(i int) bool {
	return slices.ContainsFunc(p.Nodes[i].Bottoms, func(b *blob.Blob) bool {
		return slices.ContainsFunc(p.views[b.DataStorage()], func(w written) bool {
			return w.node > i && w.top != b && slices.Contains(p.Nodes[w.node].Bottoms, w.top)
		})
	})
}

// writtenFrom reports whether node i or a later one writes a blob.
func (p *Plan) writtenFrom(i int, b *blob.Blob) bool {
	of := p.of[b]
	return len(of) > 0 && of[len(of)-1] >= i
}

// fromSource reports whether a layer without bottoms makes a blob.
func (p *Plan) fromSource(b *blob.Blob) bool {
	return slices.ContainsFunc(p.of[b], func(k int) bool { return len(p.Nodes[k].Bottoms) == 0 })
}

// between reports whether a blob or its gradient lies between fused layers, so that nothing writes it.
func (p *Plan) between(id int) bool {
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool {
		inside := func(m *Node) bool { return m.TopIDs[0] == id }
		return len(t.Nodes) > 1 && slices.ContainsFunc(t.Nodes[:len(t.Nodes)-1], inside) && (!inside(t.last()) || p.hidesGrad(t.Nodes, id))
	})
}

// hidesGrad reports whether fused layers, the later of which run in place on a blob, leave no gradient in it. If all run in place, the
// gradient that they pass on is the blob's.
func (p *Plan) hidesGrad(nodes []*Node, id int) bool {
	return nodes[0].NeedsBackward && !p.ForwardOnly && !slices.Contains(nodes[0].BottomIDs, id)
}

// exchanged returns a copy of list with blob old replaced by another.
func exchanged(list []*blob.Blob, old, by *blob.Blob) []*blob.Blob {
	out := make([]*blob.Blob, len(list))
	for i, b := range list {
		if out[i] = b; b == old {
			out[i] = by
		}
	}
	return out
}

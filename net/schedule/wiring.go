package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// wiring says which nodes read and write what, as the layers stand by themselves. With it, the time that passes take grows with the number
// of layers, not with its square.
type wiring struct {
	at     map[*Node]int              // a node's place
	reader map[*Node]*Node            // the next node that reads a node's first top
	of     map[*blob.Blob][]int       // the nodes that write a blob, in order
	views  map[blob.Storage][]written // the tops whose values share a storage
	own    []layers.Traits            // of the nodes' own layers
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

// task is that of a node.
func (p *Plan) task(d *Node) *Task { return p.Tasks[p.at[d]] }

// readerOf returns the node that reads a task's only top, which is no loss.
func (p *Plan) readerOf(t *Task) *Node {
	last := t.last()
	if len(last.TopIDs) != 1 || last.Loss[0] != 0 {
		return nil
	}
	return p.reader[last]
}

// behind returns the node that reads the only top of node d, if d is computed by itself, and the reader is too, or with layers behind it.
func (p *Plan) behind(d *Node) *Node {
	t := p.task(d)
	if len(t.Nodes) != 1 {
		return nil
	}
	if next := p.readerOf(t); next != nil && !p.task(next).Empty() {
		return next
	}
	return nil
}

// isView reports whether a blob's values are those of another that a node before node i makes.
func (p *Plan) isView(i int, b *blob.Blob) bool {
	return slices.ContainsFunc(p.views[b.DataStorage()], func(w written) bool { return w.node < i && w.top != b })
}

// makerReads reports whether a node before node i that writes a blob reads its values in Backward.
func (p *Plan) makerReads(i int, b *blob.Blob) bool {
	return slices.ContainsFunc(p.of[b], func(k int) bool { return k < i && p.Nodes[k].NeedsBackward && p.readsWritten(k, b) })
}

// readsOverwritten reports whether one of the layers of a task reads, in Backward, what it wrote and what a node behind them overwrites.
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

// viewOverwritten reports whether a node behind node i overwrites, in place on another view of them, the values of its first bottom, from
// which fused layers may compute anew in Backward what they keep by themselves.
func (p *Plan) viewOverwritten(i int) bool {
	return slices.ContainsFunc(p.Nodes[i].Bottoms, func(b *blob.Blob) bool {
		return slices.ContainsFunc(p.views[b.DataStorage()], func(w written) bool {
			return w.node > i && w.top != b && slices.Contains(p.Nodes[w.node].Bottoms, w.top)
		})
	})
}

// writtenFrom reports whether a node from i on writes a blob.
func (p *Plan) writtenFrom(i int, b *blob.Blob) bool {
	of := p.of[b]
	return len(of) > 0 && of[len(of)-1] >= i
}

// fromSource reports whether a layer without bottoms makes a blob.
func (p *Plan) fromSource(b *blob.Blob) bool {
	return slices.ContainsFunc(p.of[b], func(k int) bool { return len(p.Nodes[k].Bottoms) == 0 })
}

// between reports whether a blob or its gradient stands between fused layers, so that nobody writes it.
func (p *Plan) between(id int) bool {
	return slices.ContainsFunc(p.Tasks, func(t *Task) bool {
		inside := func(m *Node) bool { return m.TopIDs[0] == id }
		return len(t.Nodes) > 1 && slices.ContainsFunc(t.Nodes[:len(t.Nodes)-1], inside) && (!inside(t.last()) || p.hidesGrad(t.Nodes, id))
	})
}

// hidesGrad reports whether fused layers, of which the later ones run in place on a blob, leave no gradient in it. If all run in place,
// the gradient that they pass on is the blob's.
func (p *Plan) hidesGrad(nodes []*Node, id int) bool {
	return nodes[0].NeedsBackward && !p.ForwardOnly && !slices.Contains(nodes[0].BottomIDs, id)
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

package schedule

import (
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// fuse lets the task of a layer also compute the layer behind it, where a fusion is registered for the two and nobody wants the blob between
// them. Both directions then run at the place of the first.
func fuse(p *Plan) error {
	refused := map[int]bool{}
	for range 2 { // the second time chains are there that layers before them can join
		for i := range p.Nodes {
			if !refused[i] && !p.fuseFrom(i) {
				refused[i] = true
			}
		}
	}
	return nil
}

// fuseFrom lets the task of node i compute what is behind it as well, as far as it can. It reports false if the layers cannot be computed
// together after all.
func (p *Plan) fuseFrom(i int) bool {
	t := p.Tasks[i]
	var fusions []string
	for !t.Empty() {
		next := p.readerOf(t)
		fused, name := p.fused(i, next)
		if fused == nil {
			break
		}
		behind := p.task(next)
		t.Layer, fusions = fused, append(fusions, name)
		t.addBottoms(behind)
		t.Tops, t.Nodes = behind.Tops, append(t.Nodes, behind.Nodes...)
		p.Tasks[p.at[next]] = &Task{}
	}
	return len(fusions) == 0 || p.completeFusion(i, fusions)
}

// fused returns the layer that computes the task of node i and that of another, and the name of the fusion; nil if there is none.
func (p *Plan) fused(i int, next *Node) (fused layers.Layer, name string) {
	t := p.Tasks[i]
	if next == nil || !p.mayJoin(i, next) {
		return nil, ""
	}
	fused, name = layers.Fuse(t.Layer, p.task(next).Layer, p.leavesOut)
	if fused != nil && layers.TraitsOf(fused).Joins.OnlyParams && slices.Contains(t.Propagate, true) {
		return nil, ""
	}
	return fused, name
}

// mayJoin reports whether a node's task can be computed with the layers before it, at the place of node i. Its other bottoms are there by then;
// it goes backward as they do; nobody asked for their top, unless the node overwrites that and the gradient is there all the same. Nor may they
// overwrite, in place, values that Backward needs. A layer whose Backward looks at a top that another has overwritten in place finds the
// other's values, as in Caffe.
func (p *Plan) mayJoin(i int, d *Node) bool {
	head, front, t := p.Nodes[i], p.Tasks[i], p.task(d)
	if t.Empty() || len(t.Tops) != 1 || d.NeedsBackward != head.NeedsBackward || d.NeedsBackward && !t.propagatesAll() {
		return false
	}
	inPlace := slices.Contains(head.Bottoms, head.Tops[0])
	if inPlace && p.isView(i, head.Tops[0]) {
		return false
	}
	if d.NeedsBackward && (inPlace && p.makerReads(i, head.Tops[0]) || p.readsOverwritten(t) || p.viewOverwritten(i)) {
		return false
	}
	top, id := front.Tops[0], front.last().TopIDs[0]
	hidden := p.Kept[id] && (t.Tops[0] != top || p.hidesGrad(front.Nodes, id))
	for _, b := range slices.Backward(t.Bottoms) { // of many the last is most often the one that is not there
		if p.fromSource(b) || b != top && p.writtenFrom(i, b) || b == top && hidden {
			return false
		}
	}
	return len(t.Bottoms) == 1 || !slices.Contains(t.Bottoms, t.Tops[0])
}

// addBottoms gives a task the bottoms, besides its top, of one that joins it.
func (t *Task) addBottoms(joined *Task) {
	t.Bottoms, t.Propagate = slices.Clone(t.Bottoms), slices.Clone(t.Propagate)
	for j, b := range joined.Bottoms {
		if b != t.Tops[0] {
			t.Bottoms, t.Propagate = append(t.Bottoms, b), append(t.Propagate, joined.Propagate[j])
		}
	}
}

// completeFusion wires the task of node i. Where it would overwrite its own bottom, the tasks before it write to a blob of its own, which
// shares its gradient with the top. It reports false if the fused layer refuses the shapes: then the layers remain by themselves.
func (p *Plan) completeFusion(i int, fusions []string) bool {
	t := p.Tasks[i]
	top := t.Tops[0]
	before := p.Device.NewBlob(top.Shape()...)
	before.ShareDiff(top)
	t.Bottoms = exchanged(t.Bottoms, top, before)
	if err := t.Reshape(); err != nil {
		p.note("fuse", t.names(), "one by one, since %v", err)
		p.log("Computing %s one by one: %v", strings.Join(t.names(), ", "), err)
		for _, d := range t.Nodes {
			p.Tasks[p.at[d]] = alone(d)
		}
		return false
	}
	t.traits = layers.TraitsOf(t.Layer)
	for _, o := range p.Tasks[p.firstWith(top, i):i] {
		o.Bottoms, o.Tops = exchanged(o.Bottoms, top, before), exchanged(o.Tops, top, before)
	}
	p.note("fuse", t.names(), "together (%s)", strings.Join(fusions, ", "))
	p.log("Computing %s together", strings.Join(t.names(), ", "))
	return true
}

// firstWith is the first node before node i whose task may have a blob: the one that computes the layer which writes it first, maybe
// together with layers before that.
func (p *Plan) firstWith(b *blob.Blob, i int) int {
	first := min(i, p.of[b][0])
	for k := first; k >= 0; k-- {
		if slices.Contains(p.Tasks[k].Nodes, p.Nodes[first]) {
			return k
		}
	}
	return first
}

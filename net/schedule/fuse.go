package schedule

import (
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// fuse lets the task of a layer also compute the next layer, if a fusion is registered for the two and nobody needs the blob between them.
// Both directions then run at the position of the first layer.
func fuse(p *Plan) error {
	refused := map[int]bool{}
	for range 2 { // twice: chains made in the first round may join layers before them
		for i := range p.Nodes {
			if !refused[i] && !p.fuseFrom(i) {
				refused[i] = true
			}
		}
	}
	return nil
}

// fuseFrom extends the task of node i by the layers after it, as far as possible. It returns false if the combined layer refuses the
// shapes.
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

// fused returns the layer that computes both the task of node i and the next one, with the name of the fusion, or nil.
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

// mayJoin reports whether the task of node d can run at the position of node i, together with the layers before it. Its other bottoms must
// be written by then, and it must take part in Backward as they do. Nobody may have requested their top by name, unless d overwrites that
// top and its gradient is still correct. In-place layers among them must not overwrite values that Backward needs. As in Caffe, a layer
// that reads an overwritten top in Backward gets the new values.
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
	for _, b := range slices.Backward(t.Bottoms) { // in reverse, since the last of many is most often the one not written yet
		if p.fromSource(b) || b != top && p.writtenFrom(i, b) || b == top && hidden {
			return false
		}
	}
	return len(t.Bottoms) == 1 || !slices.Contains(t.Bottoms, t.Tops[0])
}

// addBottoms adds to a task the bottoms of a joined task, except its own top.
func (t *Task) addBottoms(joined *Task) {
	t.Bottoms, t.Propagate = slices.Clone(t.Bottoms), slices.Clone(t.Propagate)
	for j, b := range joined.Bottoms {
		if b != t.Tops[0] {
			t.Bottoms, t.Propagate = append(t.Bottoms, b), append(t.Propagate, joined.Propagate[j])
		}
	}
}

// completeFusion connects the blobs of node i's task. If the task would overwrite its own bottom, the earlier tasks write to a separate
// blob, whose gradient is shared with the top. It returns false if the fused layer refuses the shapes; the layers then stay separate.
func (p *Plan) completeFusion(i int, fusions []string) bool {
	t := p.Tasks[i]
	top := t.Tops[0]
	before := p.Device.NewBlob(top.Shape()...)
	before.ShareDiff(top)
	t.Bottoms = exchanged(t.Bottoms, top, before)
	if err := t.Reshape(); err != nil {
		p.note("fuse", t.names(), "stay separate: %v", err)
		p.log("Computing %s one by one: %v", strings.Join(t.names(), ", "), err)
		for _, d := range t.Nodes {
			p.Tasks[p.at[d]] = alone(d)
		}
		unfold(t.Nodes)
		return false
	}
	t.traits = layers.TraitsOf(t.Layer)
	for _, o := range p.Tasks[p.firstWith(top, i):i] {
		o.Bottoms, o.Tops = exchanged(o.Bottoms, top, before), exchanged(o.Tops, top, before)
	}
	p.note("fuse", t.names(), "computed together (%s)", strings.Join(fusions, ", "))
	p.log("Computing %s together", strings.Join(t.names(), ", "))
	return true
}

// firstWith returns the first node before node i whose task may access a blob: the task that computes the layer which writes it first,
// perhaps with layers before.
func (p *Plan) firstWith(b *blob.Blob, i int) int {
	first := min(i, p.of[b][0])
	for k := first; k >= 0; k-- {
		if slices.Contains(p.Tasks[k].Nodes, p.Nodes[first]) {
			return k
		}
	}
	return first
}

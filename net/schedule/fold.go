package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/layers"
)

// fold lets a layer with weights also do the work of the Maps behind it (BatchNorm with stored statistics, Scale, Bias), in nets for Forward
// alone: their factors are multiplied into its weights, and their summands added to its biases. Results are those of the separate layers up to
// rounding.
func fold(p *Plan) error {
	if !p.ForwardOnly {
		return nil
	}
	for i := range p.Nodes {
		if maps := p.mapsBehind(i); len(maps) > 0 {
			p.foldInto(i, maps)
		}
	}
	return nil
}

// mapsBehind lists the nodes of the Maps whose work node i can do.
func (p *Plan) mapsBehind(i int) (list []*Node) {
	t := p.Tasks[i]
	if _, ok := t.Layer.(layers.Folder); !ok || t.traits.Joins.Fold == 0 || len(t.Bottoms) != 1 || len(t.Tops) != 1 {
		return nil
	}
	last := p.Nodes[i]
	for last.Loss[0] == 0 && len(last.Tops) == 1 {
		next := p.reader[last]
		if next == nil || len(next.Bottoms) != 1 || len(next.Tops) != 1 {
			break
		}
		m := p.own[p.at[next]].Is.Map
		hidden := p.Kept[last.TopIDs[0]] && next.Tops[0] != last.Tops[0]
		if m == nil || m.Channels() != t.traits.Joins.Fold || hidden || next.Tops[0].Count() != t.Tops[0].Count() {
			break
		}
		list, last = append(list, next), next
	}
	return list
}

// foldInto makes the task of node i do the work of the Maps of some nodes. Their tasks become empty.
func (p *Plan) foldInto(i int, list []*Node) {
	t := p.Tasks[i]
	var maps []layers.Map
	for _, d := range list {
		maps = append(maps, p.own[p.at[d]].Is.Map)
		p.Tasks[p.at[d]] = &Task{}
	}
	t.Layer.(layers.Folder).Fold(maps)
	t.Nodes, t.Tops = slices.Concat(t.Nodes, list), list[len(list)-1].Tops
	p.note("fold", t.names(), "computed together, with other weights")
}

// unfold returns layers to their own weights.
func unfold(nodes []*Node) {
	for _, d := range nodes {
		if f, ok := d.Layer.(layers.Folder); ok {
			f.Fold(nil)
		}
	}
}

// single reports whether a task's layer is that of its first node: no fusion has made another. Maps may be folded into it.
func (t *Task) single() bool { return !t.Empty() && t.Layer == t.Nodes[0].Layer }

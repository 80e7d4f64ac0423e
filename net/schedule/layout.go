package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// Layouts lists the layouts of a net's images, and the conversions between planes and blocks of channels that remain.
type Layouts struct {
	Blocked []string `json:"blocked"` // blobs with channels in blocks
	Thin    []string `json:"thin"`    // those of which only the pixels at multiples of strides are computed
	// Turns counts the conversions per iteration, Values the values they move. The other two are the same for a net with all images in
	// planes.
	Turns          int `json:"turns"`
	Values         int `json:"values"`
	TurnsOfPlanes  int `json:"turns_of_planes"`
	ValuesOfPlanes int `json:"values_of_planes"`
}

// layOut keeps the channels of images in blocks (shape.BlockLanes) through runs of layers that are faster with them. Nothing is converted
// within a run; its first and last layers read or write planes. Outputs and blobs requested by name are in planes.
func layOut(p *Plan) error {
	p.blocked = map[*blob.Blob]bool{}
	for _, g := range p.layoutGroups() {
		if g.can && g.gains {
			for _, b := range g.blobs {
				p.blocked[b] = true
			}
		}
	}
	for _, t := range p.Tasks {
		if !t.Empty() && len(t.Bottoms) > 0 && len(t.Tops) > 0 {
			t.Arranged.In.Blocks, t.Arranged.Out.Blocks = p.InBlocks(t.Bottoms[0]), p.InBlocks(t.Tops[0])
		}
	}
	p.Layouts.Blocked = p.namesWhere(func(id int) bool { return p.InBlocks(p.Blobs[id]) && !p.between(id) })
	if len(p.Layouts.Blocked) > 0 {
		p.note("layout", nil, "channels in blocks of %d: %s", shape.BlockLanes, strings.Join(p.Layouts.Blocked, ", "))
	}
	return nil
}

// arrange passes the decisions of the earlier passes to all layers.
func arrange(p *Plan) error {
	l := &p.Layouts
	l.TurnsOfPlanes, l.ValuesOfPlanes = p.turns()
	if err := p.arrange(p.Tasks); err != nil {
		return err
	}
	p.noteApart()
	if l.Turns, l.Values = p.turns(); l.Turns+l.TurnsOfPlanes > 0 {
		p.note("arrange", nil, "%d conversions between planes and blocks of channels move %d values; with planes only, %d conversions move %d", l.Turns, l.Values, l.TurnsOfPlanes, l.ValuesOfPlanes)
	}
	return nil
}

// arrange passes the plan's decisions to the layers of some tasks.
func (p *Plan) arrange(tasks []*Task) error {
	for _, t := range tasks {
		if t.Empty() {
			continue
		}
		t.Arranged.Inference = p.infers()
		if err := layers.Arrange(t.Layer, t.Arranged); err != nil {
			return &layoutError{fmt.Errorf("layer %q: %w", t.Nodes[0].Name, err)}
		}
		t.traits = layers.TraitsOf(t.Layer)
	}
	return nil
}

// noteApart says which steps need a pass over memory of their own.
func (p *Plan) noteApart() {
	for i, t := range p.Tasks {
		if !t.Empty() && len(t.Arranged.Steps) > 0 && t.traits.Apart != nil {
			p.note("finish", []string{p.Nodes[i].Name}, "does this in a pass over memory of its own: %v", t.traits.Apart)
		}
	}
}

// InBlocks reports whether a blob has channels in blocks.
func (p *Plan) InBlocks(b *blob.Blob) bool { return p.blocked[b] }

// layoutGroup is a set of blobs that must have the same layout.
type layoutGroup struct {
	blobs []*blob.Blob
	can   bool // all layers that read or write them support blocks
	gains bool // at least one of these layers is faster with blocks

	made  int            // its number, in order of creation
	parts []*layoutGroup // groups merged into this one
	in    *layoutGroup   // the group this one was merged into
}

// layoutGroups returns the blobs that are read or written, in groups of equal layout. Blobs belong to one group if they share storage, if
// they are the bottoms or the tops of one layer, or if that layer's bottoms and tops must have the same layout.
func (p *Plan) layoutGroups() []*layoutGroup {
	j := &layoutJoiner{of: map[any]*layoutGroup{}}
	for _, t := range p.Tasks {
		if t.Empty() {
			continue
		}
		var can layers.Blocking
		if len(t.Bottoms) > 0 {
			can = t.traits.Layout
		}
		if can.Alike {
			j.join(slices.Concat(t.Bottoms, t.Tops), can.Bottoms && can.Tops, can.Gains)
			continue
		}
		j.join(t.Bottoms, can.Bottoms, can.Gains)
		j.join(t.Tops, can.Tops, can.Gains)
	}
	plain := p.seenFromOutside()
	var groups []*layoutGroup
	for _, g := range j.groups {
		if g.in != nil {
			continue
		}
		g.blobs = g.all(nil)
		g.can = g.can && !slices.ContainsFunc(g.blobs, func(b *blob.Blob) bool { return mustBePlain(b, plain) })
		groups = append(groups, g)
	}
	return groups
}

// layoutJoiner builds groups of blobs.
type layoutJoiner struct {
	groups []*layoutGroup       // in order of creation, merged ones included
	of     map[any]*layoutGroup // by blob, storage of values, and storage of gradients
}

// join merges some blobs, and all groups with one of them or with a blob of the same storage, into one group.
func (j *layoutJoiner) join(blobs []*blob.Blob, can, gains bool) {
	if len(blobs) == 0 {
		return
	}
	all := &layoutGroup{blobs: slices.Clone(blobs), can: can, gains: gains, made: len(j.groups)}
	for _, b := range blobs {
		for _, key := range layoutKeys(b) {
			if g := j.of[key]; g != nil {
				if g = g.outermost(); g != all && !slices.Contains(all.parts, g) {
					all.parts = append(all.parts, g)
				}
			}
			j.of[key] = all
		}
	}
	slices.SortFunc(all.parts, func(a, b *layoutGroup) int { return a.made - b.made })
	for _, g := range all.parts {
		g.in = all
		all.can, all.gains = all.can && g.can, all.gains || g.gains
	}
	j.groups = append(j.groups, all)
}

// layoutKeys returns keys that are equal for blobs that share storage.
func layoutKeys(b *blob.Blob) [3]any {
	type values struct{ of blob.Storage }
	type gradients struct{ of blob.Storage }
	return [3]any{b, values{b.DataStorage()}, gradients{b.DiffStorage()}}
}

// outermost returns the group that g was finally merged into.
func (g *layoutGroup) outermost() *layoutGroup {
	top := g
	for top.in != nil {
		top = top.in
	}
	for g != top {
		g, g.in = g.in, top
	}
	return top
}

// all appends the blobs of a group and of the groups merged into it.
func (g *layoutGroup) all(to []*blob.Blob) []*blob.Blob {
	to = append(to, g.blobs...)
	for _, p := range g.parts {
		to = p.all(to)
	}
	return to
}

// seenFromOutside returns the blobs, by layoutKeys, that are outputs or were requested by name.
func (p *Plan) seenFromOutside() map[any]bool {
	seen := map[any]bool{}
	add := func(id int) {
		for _, key := range layoutKeys(p.Blobs[id]) {
			seen[key] = true
		}
	}
	for id := range p.Kept {
		add(id)
	}
	for _, id := range p.Outputs {
		add(id)
	}
	return seen
}

// mustBePlain reports whether a blob must be in planes: it does not have four axes, its channels do not fill whole blocks, or it shares
// storage with a blob visible outside.
func mustBePlain(b *blob.Blob, seen map[any]bool) bool {
	if b.NumAxes() != 4 || b.Dim(1)%shape.BlockLanes != 0 {
		return true
	}
	keys := layoutKeys(b)
	return slices.ContainsFunc(keys[:], func(key any) bool { return seen[key] })
}

// turns sums up the layers' layout conversions.
func (p *Plan) turns() (times, values int) {
	for _, t := range p.Tasks {
		if !t.Empty() {
			times, values = times+t.traits.Turns.Times, values+t.traits.Turns.Values
		}
	}
	return times, values
}

// namesWhere lists the names of the blobs for which is returns true.
func (p *Plan) namesWhere(is func(id int) bool) []string {
	var names []string
	for id, name := range p.Names {
		if is(id) {
			names = append(names, name)
		}
	}
	return names
}

package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// Images lie by planes, as Caffe's do, unless a run of layers does better with their channels in blocks (shape.BlockLanes). Within such
// a run nothing is turned; its first and its last layers read or write planes. A blob that somebody asks for by name, or that is an
// output, lies by planes.

// layoutGroup is blobs that lie alike.
type layoutGroup struct {
	blobs []*blob.Blob
	can   bool // all layers that read or write them can do with blocks
	gains bool // and one does better with them

	made  int            // its number
	parts []*layoutGroup // groups that it has taken in
	in    *layoutGroup   // which has taken it in
}

// chooseLayouts says how each layer's blobs lie.
func (n *Net) chooseLayouts() {
	if !n.opt.Economise {
		return
	}
	for _, g := range n.layoutGroups() {
		if g.can && g.gains {
			n.blocked = append(n.blocked, g.blobs...)
		}
	}
	n.layouts = Layouts{}
	n.layouts.TurnsOfPlanes, n.layouts.ValuesOfPlanes = n.turns()
	err := n.setLayouts()
	if err == nil {
		err = n.chooseThin()
	}
	if err != nil {
		n.log.Infof("All images lie by planes: %v", err)
		n.unsetLayouts()
	}
	n.layouts.Blocked = n.blockedNames()
	n.layouts.Thin = n.thinNames()
	n.layouts.Turns, n.layouts.Values = n.turns()
}

// setLayouts tells the layers, and unsetLayouts takes it back.
func (n *Net) setLayouts() error {
	for _, d := range n.nodes {
		b, ok := d.task.Layer.(layers.Blocker)
		if !ok || len(d.task.bottoms) == 0 || len(d.task.tops) == 0 {
			continue
		}
		if err := b.SetBlocked(n.inBlocks(d.task.bottoms[0]), n.inBlocks(d.task.tops[0])); err != nil {
			return n.fail(d, err)
		}
	}
	return nil
}

func (n *Net) unsetLayouts() {
	if len(n.blocked) == 0 {
		return
	}
	n.unsetThin()
	n.blocked, n.layouts.Blocked, n.layouts.Thin = nil, nil, nil
	n.layouts.Turns, n.layouts.Values = n.layouts.TurnsOfPlanes, n.layouts.ValuesOfPlanes
	if err := n.setLayouts(); err != nil {
		panic("net: layers do not work by planes any more: " + err.Error())
	}
}

// inBlocks reports whether a blob's channels lie in blocks.
func (n *Net) inBlocks(b *blob.Blob) bool { return slices.Contains(n.blocked, b) }

// layoutGroups returns the blobs that are read and written, in groups that must lie alike: they share storage, are the bottoms or
// the tops of one layer, or those of one that makes its tops lie like its bottoms.
func (n *Net) layoutGroups() []*layoutGroup {
	j := &layoutJoiner{of: map[any]*layoutGroup{}}
	for _, d := range n.nodes {
		if len(d.task.nodes) == 0 {
			continue
		}
		var can layers.Blocking
		if b, ok := d.task.Layer.(layers.Blocker); ok && len(d.task.bottoms) > 0 {
			can = b.Blocking()
		}
		if can.Alike {
			j.join(slices.Concat(d.task.bottoms, d.task.tops), can.Bottoms && can.Tops, can.Gains)
			continue
		}
		j.join(d.task.bottoms, can.Bottoms, can.Gains)
		j.join(d.task.tops, can.Tops, can.Gains)
	}
	plain := n.seenFromOutside()
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

// layoutJoiner makes groups of blobs.
type layoutJoiner struct {
	groups []*layoutGroup       // in the order in which they were made, those that are part of others too
	of     map[any]*layoutGroup // by blob, storage of values, and storage of gradients
}

// join makes one group of some blobs and of the groups that have one of them, or one that shares its storage.
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

// layoutKeys are equal for blobs that share storage.
func layoutKeys(b *blob.Blob) [3]any {
	type values struct{ of blob.Storage }
	type gradients struct{ of blob.Storage }
	return [3]any{b, values{b.DataStorage()}, gradients{b.DiffStorage()}}
}

// outermost returns the group that a group has become part of.
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

// all appends the blobs of a group and its parts.
func (g *layoutGroup) all(to []*blob.Blob) []*blob.Blob {
	to = append(to, g.blobs...)
	for _, p := range g.parts {
		to = p.all(to)
	}
	return to
}

// seenFromOutside returns the blobs, by layoutKeys, that are outputs or were asked for.
func (n *Net) seenFromOutside() map[any]bool {
	seen := map[any]bool{}
	add := func(id int) {
		for _, key := range layoutKeys(n.blobs[id]) {
			seen[key] = true
		}
	}
	for id := range n.kept {
		add(id)
	}
	for _, id := range n.outputs {
		add(id)
	}
	return seen
}

// mustBePlain reports whether a blob is no images with whole blocks of channels, or shares storage with one that is looked at from outside.
func mustBePlain(b *blob.Blob, seen map[any]bool) bool {
	if b.NumAxes() != 4 || b.Dim(1)%shape.BlockLanes != 0 {
		return true
	}
	keys := layoutKeys(b)
	return slices.ContainsFunc(keys[:], func(key any) bool { return seen[key] })
}

// bringToPlanes turns what a blob holds.
func bringToPlanes(b *blob.Blob) {
	for _, values := range [][]float32{b.Data(), b.Diff()} {
		shape.FromBlocks(values, slices.Clone(values), b.CountRange(0, 2), b.CountFrom(2))
	}
}

// Layouts says how a net's images lie, and what is left of the turns from planes to blocks of channels and back.
type Layouts struct {
	Blocked []string `json:"blocked"` // blobs whose channels lie in blocks
	Thin    []string `json:"thin"`    // those of which only the pixels that strides meet are made
	// Turns are those of an iteration, Values how many values they turn; were all images to lie by planes, it would be the others.
	Turns          int `json:"turns"`
	Values         int `json:"values"`
	TurnsOfPlanes  int `json:"turns_of_planes"`
	ValuesOfPlanes int `json:"values_of_planes"`
}

// Layouts returns what the net has chosen.
func (n *Net) Layouts() Layouts { return n.layouts }

// turns adds up what layers say.
func (n *Net) turns() (times, values int) {
	for _, d := range n.nodes {
		if t, ok := d.task.Layer.(layers.Turner); ok {
			k, v := t.Turns()
			times, values = times+k, values+v
		}
	}
	return times, values
}

// blockedNames returns the names of the blobs whose channels lie in blocks, and thinNames those of the blobs that are thin.
func (n *Net) blockedNames() []string {
	return n.namesWhere(func(id int) bool { return n.inBlocks(n.blobs[id]) && !n.between(id) })
}

func (n *Net) thinNames() []string {
	return n.namesWhere(func(id int) bool { return n.thinOf(n.blobs[id]) != nil })
}

func (n *Net) namesWhere(is func(id int) bool) []string {
	var names []string
	for id, name := range n.names {
		if is(id) {
			names = append(names, name)
		}
	}
	return names
}

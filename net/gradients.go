package net

import (
	"maps"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// Gradients that are equal, or whose sum is wanted, need one place: a sum passes its top's gradient on to all of its bottoms, and the
// readers of a split blob can add to one gradient instead of writing each its own. shareGradients lets them share storage where no
// layer would then read anything but what it reads when all gradients stand apart. So the gradient of a residual net's trunk
// stays where it is from block to block, and nothing passes over it but what computes with it. A gradient may also take the place of the
// one that it is computed from, as where layers run in place.

// gradientPlaces numbers the storages of gradients.
type gradientPlaces struct {
	of     map[*blob.Blob]int
	adding map[*node]bool // who adds to the gradient of its bottom
}

// movedGradient is a blob whose gradient has been moved, and one that holds on to where it was.
type movedGradient struct{ blob, before *blob.Blob }

// shareGradients goes through the layers backward and merges places where that is sound.
func (n *Net) shareGradients() {
	if n.opt.ForwardOnly {
		return
	}
	now := n.placesOfGradients()
	for i := len(n.nodes) - 1; i >= 0; i-- {
		d := n.nodes[i]
		if !d.runsBackward() || slices.Contains(d.task.propagate, false) {
			continue
		}
		if bottoms := d.task.passedOn(); len(bottoms) > 0 {
			now = n.passed(now, bottoms, d.task.tops)
		}
		if s, ok := d.task.Layer.(layers.GradSummer); ok && s.SumsGrads() {
			now = n.summed(now, d)
		}
	}
	for _, d := range n.nodes {
		if d.runsBackward() && !slices.Contains(d.task.propagate, false) {
			now = n.replaced(now, d.task)
		}
	}
	n.moveGradients(now)
}

// runsBackward reports whether Backward runs something at the node's place.
func (d *node) runsBackward() bool { return d.needBackward && len(d.task.nodes) > 0 }

// placesOfGradients numbers the storages as they are.
func (n *Net) placesOfGradients() gradientPlaces {
	p := gradientPlaces{map[*blob.Blob]int{}, map[*node]bool{}}
	numbers := map[blob.Storage]int{}
	for _, d := range n.nodes {
		for _, b := range slices.Concat(d.task.bottoms, d.task.tops, d.tops) {
			at, known := numbers[b.DiffStorage()]
			if !known {
				at = len(numbers)
				numbers[b.DiffStorage()] = at
			}
			p.of[b] = at
		}
	}
	return p
}

// merged returns the places with those of some blobs made one.
func (p gradientPlaces) merged(blobs []*blob.Blob) gradientPlaces {
	m := gradientPlaces{maps.Clone(p.of), maps.Clone(p.adding)}
	to := m.of[blobs[0]]
	for _, b := range blobs[1:] {
		from := m.of[b]
		for other, at := range m.of {
			if at == from {
				m.of[other] = to
			}
		}
	}
	return m
}

// passes reports whether a bottom's gradient may stand where the top's does.
func (t *task) passes(bottom int) bool {
	p, ok := t.Layer.(layers.GradPasser)
	return ok && p.PassesGrad(bottom)
}

// passedOn lists the bottoms whose gradients may.
func (t *task) passedOn() (bottoms []*blob.Blob) {
	for j, b := range t.bottoms {
		if t.passes(j) {
			bottoms = append(bottoms, b)
		}
	}
	return bottoms
}

// passed merges the gradients of a sum and its bottoms. Layers that made a bottom from a blob whose gradient has its place get
// another for that, one after the other, until it is sound.
func (n *Net) passed(now gradientPlaces, bottoms, tops []*blob.Blob) gradientPlaces {
	all := slices.Concat(bottoms, tops)
	apart := gradientPlaces{maps.Clone(now.of), now.adding}
	for i := len(n.nodes); ; {
		if next := apart.merged(all); n.sound(next, all) {
			return next
		}
		for i--; i >= 0 && !n.inPlace(apart, n.nodes[i], bottoms); i-- {
		}
		if i < 0 {
			return now
		}
		apart.of[n.nodes[i].task.bottoms[0]] = len(apart.of) + i
	}
}

// inPlace reports whether layers that are computed together make one of some blobs from one that only they have, and of which the
// gradient has the same place.
func (n *Net) inPlace(p gradientPlaces, d *node, blobs []*blob.Blob) bool {
	t := d.task
	return d.runsBackward() && len(t.nodes) > 1 && slices.Contains(blobs, t.tops[0]) && !slices.Contains(n.blobs, t.bottoms[0]) &&
		p.of[t.bottoms[0]] == p.of[t.tops[0]]
}

// summed merges the gradients of a split blob, to which all readers but the first to go backward then add theirs.
func (n *Net) summed(now gradientPlaces, d *node) gradientPlaces {
	all := append(slices.Clone(d.task.tops), d.task.bottoms...)
	next, readers := now.merged(all), 0
	for i := len(n.nodes) - 1; i >= 0; i-- {
		r := n.nodes[i]
		if !r.runsBackward() || !slices.ContainsFunc(r.task.bottoms, func(b *blob.Blob) bool { return slices.Contains(d.task.tops, b) }) {
			continue
		}
		if readers++; readers == 1 {
			continue
		}
		if a, ok := r.task.Layer.(layers.GradAdder); !ok || !a.CanAddGrad() || len(r.task.bottoms) != 1 {
			return now
		}
		next.adding[r] = true
	}
	if readers == len(d.task.tops) && n.sound(next, all) {
		return next
	}
	return now
}

// replaced merges the gradients of a bottom and a top where one can replace the other.
func (n *Net) replaced(now gradientPlaces, t *task) gradientPlaces {
	if r, ok := t.Layer.(layers.GradReplacer); ok && r.ReplacesGrad() && now.of[t.bottoms[0]] != now.of[t.tops[0]] {
		both := []*blob.Blob{t.bottoms[0], t.tops[0]}
		if next := now.merged(both); n.sound(next, both) {
			return next
		}
	}
	return now
}

// sound reports whether every layer finds the gradients of its tops where they have these places, and none of some blobs has one
// that must stay.
func (n *Net) sound(p gradientPlaces, blobs []*blob.Blob) bool {
	stays := func(b *blob.Blob) bool {
		return slices.ContainsFunc(blobs, func(o *blob.Blob) bool { return p.of[o] == p.of[b] })
	}
	for id := range n.kept {
		if stays(n.blobs[id]) {
			return false
		}
	}
	f := gradientFlow{gradientPlaces: p, want: map[*blob.Blob]uint64{}, have: map[int]uint64{}}
	for i := len(n.nodes) - 1; i >= 0; i-- {
		if d := n.nodes[i]; len(d.bottoms) == 0 && slices.ContainsFunc(d.tops, stays) || d.runsBackward() && !f.backward(d) {
			return false
		}
	}
	return true
}

// moveGradients gives gradients the places that were found.
func (n *Net) moveGradients(to gradientPlaces) {
	at := map[int]*blob.Blob{}
	before := n.placesOfGradients()
	for _, d := range n.nodes {
		for _, b := range slices.Concat(d.task.bottoms, d.task.tops, d.tops) {
			place := to.of[b]
			home, ok := at[place]
			if !ok {
				home = b
				if place != before.of[b] {
					home = n.opt.Device.NewBlob(b.Shape()...)
				}
				at[place] = home
			}
			if home == b || home.SharesDiff(b) {
				continue
			}
			old := n.opt.Device.NewBlob(b.Shape()...)
			old.ShareDiff(b)
			n.moved = append(n.moved, movedGradient{b, old})
			b.ShareDiff(home)
		}
		if to.adding[d] {
			a := d.task.Layer.(layers.GradAdder)
			a.AddGrad(true)
			n.adding = append(n.adding, a)
		}
	}
}

// partGradients undoes it.
func (n *Net) partGradients() {
	for _, m := range n.moved {
		m.before.ReshapeLike(m.blob)
		m.blob.ShareDiff(m.before)
	}
	for _, a := range n.adding {
		a.AddGrad(false)
	}
	n.moved, n.adding = nil, nil
}

// gradMoved reports whether a blob's gradient has its place with one that was moved.
func (n *Net) gradMoved(b *blob.Blob) bool {
	return slices.ContainsFunc(n.moved, func(m movedGradient) bool { return m.blob.SharesDiff(b) })
}

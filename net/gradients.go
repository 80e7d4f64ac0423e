package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// Gradients that are equal, or whose sum is wanted, need one place: a sum passes its top's gradient on to all of its bottoms, and the
// readers of a split blob can add to one gradient instead of writing each its own. shareGradients lets them share storage where no
// layer would then read anything but what it reads when all gradients stand apart. So the gradient of a residual net's trunk
// stays where it is from block to block, and nothing passes over it but what computes with it. A gradient may also take the place of the
// one that it is computed from, as where layers run in place.

// gradientPlaces numbers the storages of gradients. Merges are tried and taken back, so that what one costs does not grow with the net.
type gradientPlaces struct {
	of     map[*blob.Blob]int
	at     map[int][]*blob.Blob // by place
	adding map[*node]bool       // who adds to the gradient of its bottom
	moves  []placeMove          // all that were made

	readers map[*blob.Blob][]int // the nodes whose tasks have a blob for a bottom
	users   map[*blob.Blob][]int // the nodes that read or write a blob's gradient
	stays   map[*blob.Blob]bool  // whose gradient has to stay where it is
}

// placeMove is a blob's way from a place to another.
type placeMove struct {
	blob *blob.Blob
	from int
}

// movedGradient is a blob whose gradient has been moved, and one that holds on to where it was.
type movedGradient struct{ blob, before *blob.Blob }

// shareGradients goes through the layers backward and merges places where that is sound.
func (n *Net) shareGradients() {
	if n.opt.ForwardOnly {
		return
	}
	p := n.placesOfGradients()
	for i := len(n.nodes) - 1; i >= 0; i-- {
		d := n.nodes[i]
		if !d.runsBackward() || slices.Contains(d.task.propagate, false) {
			continue
		}
		if bottoms := d.task.passedOn(); len(bottoms) > 0 {
			n.passed(p, bottoms, d.task.tops)
		}
		if s, ok := d.task.Layer.(layers.GradSummer); ok && s.SumsGrads() {
			n.summed(p, d)
		}
	}
	for _, d := range n.nodes {
		if d.runsBackward() && !slices.Contains(d.task.propagate, false) {
			n.replaced(p, d.task)
		}
	}
	n.moveGradients(p)
}

// runsBackward reports whether Backward runs something at the node's place.
func (d *node) runsBackward() bool { return d.needBackward && len(d.task.nodes) > 0 }

// placesOfGradients numbers the storages as they are.
func (n *Net) placesOfGradients() *gradientPlaces {
	p := &gradientPlaces{
		of: map[*blob.Blob]int{}, at: map[int][]*blob.Blob{}, adding: map[*node]bool{},
		readers: map[*blob.Blob][]int{}, users: map[*blob.Blob][]int{}, stays: map[*blob.Blob]bool{},
	}
	numbers := map[blob.Storage]int{}
	for i, d := range n.nodes {
		for _, b := range d.task.bottoms {
			p.readers[b] = append(p.readers[b], i)
		}
		for _, b := range slices.Concat(d.task.bottoms, d.task.tops, d.tops) {
			p.users[b] = append(p.users[b], i)
			if _, known := p.of[b]; known {
				continue
			}
			place, known := numbers[b.DiffStorage()]
			if !known {
				place = len(numbers)
				numbers[b.DiffStorage()] = place
			}
			p.of[b] = place
			p.at[place] = append(p.at[place], b)
		}
		if len(d.bottoms) == 0 {
			for _, b := range d.tops {
				p.stays[b] = true
			}
		}
	}
	for id := range n.kept {
		p.stays[n.blobs[id]] = true
	}
	return p
}

// move gives a blob's gradient another place.
func (p *gradientPlaces) move(b *blob.Blob, to int) {
	p.moves = append(p.moves, placeMove{b, p.of[b]})
	p.put(b, to)
}

func (p *gradientPlaces) put(b *blob.Blob, to int) {
	before := p.at[p.of[b]]
	i := len(before) - 1
	for before[i] != b { // who came last goes first
		i--
	}
	before[i] = before[len(before)-1]
	p.at[p.of[b]] = before[:len(before)-1]
	p.of[b] = to
	p.at[to] = append(p.at[to], b)
}

// takeBack undoes all moves but the first n.
func (p *gradientPlaces) takeBack(n int) {
	for i := len(p.moves) - 1; i >= n; i-- {
		p.put(p.moves[i].blob, p.moves[i].from)
	}
	p.moves = p.moves[:n]
}

// merge makes the places of some blobs one.
func (p *gradientPlaces) merge(blobs []*blob.Blob) {
	to := p.of[blobs[0]]
	for _, b := range blobs[1:] {
		from := p.of[b]
		if from == to {
			continue
		}
		for k := len(p.at[from]) - 1; k >= 0; k-- {
			p.move(p.at[from][k], to)
		}
	}
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
func (n *Net) passed(p *gradientPlaces, bottoms, tops []*blob.Blob) {
	all, before := slices.Concat(bottoms, tops), len(p.moves)
	for i := len(n.nodes); ; {
		apart := len(p.moves)
		if p.merge(all); n.sound(p, all) {
			return
		}
		p.takeBack(apart)
		for i--; i >= 0 && !n.inPlace(p, n.nodes[i], bottoms); i-- {
		}
		if i < 0 {
			p.takeBack(before)
			return
		}
		p.move(n.nodes[i].task.bottoms[0], len(p.of)+i)
	}
}

// inPlace reports whether layers that are computed together make one of some blobs from one that only they have, and of which the
// gradient has the same place.
func (n *Net) inPlace(p *gradientPlaces, d *node, blobs []*blob.Blob) bool {
	t := d.task
	return d.runsBackward() && len(t.nodes) > 1 && slices.Contains(blobs, t.tops[0]) && !slices.Contains(n.blobs, t.bottoms[0]) &&
		p.of[t.bottoms[0]] == p.of[t.tops[0]]
}

// summed merges the gradients of a split blob, to which all readers but the first to go backward then add theirs.
func (n *Net) summed(p *gradientPlaces, d *node) {
	var readers []int
	for _, top := range d.task.tops {
		readers = append(readers, p.readers[top]...)
	}
	slices.Sort(readers)
	readers = slices.DeleteFunc(slices.Compact(readers), func(i int) bool { return !n.nodes[i].runsBackward() })
	if len(readers) != len(d.task.tops) {
		return
	}
	adding := readers[:len(readers)-1]
	for _, i := range adding {
		r := n.nodes[i]
		if a, ok := r.task.Layer.(layers.GradAdder); !ok || !a.CanAddGrad() || len(r.task.bottoms) != 1 {
			return
		}
	}
	for _, i := range adding {
		p.adding[n.nodes[i]] = true
	}
	all, before := append(slices.Clone(d.task.tops), d.task.bottoms...), len(p.moves)
	if p.merge(all); n.sound(p, all) {
		return
	}
	p.takeBack(before)
	for _, i := range adding {
		delete(p.adding, n.nodes[i])
	}
}

// replaced merges the gradients of a bottom and a top where one can replace the other.
func (n *Net) replaced(p *gradientPlaces, t *task) {
	if r, ok := t.Layer.(layers.GradReplacer); ok && r.ReplacesGrad() && p.of[t.bottoms[0]] != p.of[t.tops[0]] {
		both, before := []*blob.Blob{t.bottoms[0], t.tops[0]}, len(p.moves)
		if p.merge(both); !n.sound(p, both) {
			p.takeBack(before)
		}
	}
}

// sound reports whether every layer finds the gradients of its tops where some blobs, which have one place, and the others of that
// place share it, and none of them has to stay where it is. What stands elsewhere does not depend on that.
func (n *Net) sound(p *gradientPlaces, blobs []*blob.Blob) bool {
	place := p.of[blobs[0]]
	var users []int
	for _, b := range p.at[place] {
		if p.stays[b] {
			return false
		}
		users = append(users, p.users[b]...)
	}
	slices.Sort(users)
	f := gradientFlow{gradientPlaces: p, place: place, want: map[*blob.Blob]uint64{}}
	for _, i := range slices.Backward(slices.Compact(users)) {
		if d := n.nodes[i]; d.runsBackward() && !f.backward(d) {
			return false
		}
	}
	return true
}

// moveGradients gives gradients the places that were found.
func (n *Net) moveGradients(to *gradientPlaces) {
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

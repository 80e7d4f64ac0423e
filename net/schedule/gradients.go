package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// shareGradients lets gradients share storage if they are equal or only their sum is needed. A sum passes its top's gradient on to all
// bottoms. The readers of a split blob add to one gradient, instead of each writing its own. A layer may write its bottom's gradient over
// its top's. In a residual net the trunk's gradient thus stays in one place from block to block, and no pass only copies or adds it. Places
// are shared only if every layer still reads the same gradients as without sharing (flow.go).
func shareGradients(p *Plan) error {
	if p.ForwardOnly {
		return nil
	}
	g := p.placesOfGradients()
	for i := len(p.Nodes) - 1; i >= 0; i-- {
		t := p.Tasks[i]
		if !t.runsBackward(p.Nodes[i]) || !t.propagatesAll() {
			continue
		}
		if bottoms := t.passedOn(); len(bottoms) > 0 && p.passed(g, bottoms, t.Tops) {
			p.note("gradients", t.names(), "bottoms share the gradient of the top")
		}
		if t.traits.Grads.Sums && p.summed(g, i) {
			p.note("gradients", t.names(), "readers of the tops add to one gradient")
		}
	}
	for i, d := range p.Nodes {
		if t := p.Tasks[i]; t.runsBackward(d) && t.propagatesAll() && p.replaced(g, t) {
			p.note("gradients", t.names(), "the bottom's gradient overwrites the top's")
		}
	}
	p.moveGradients(g)
	return nil
}

// passed merges the gradients of a sum and its bottoms. If that is not correct, it moves the gradients of fused layers' inputs out of the
// place, one after the other, until it is.
func (p *Plan) passed(g *gradientPlaces, bottoms, tops []*blob.Blob) bool {
	all, before := slices.Concat(bottoms, tops), len(g.moves)
	for i := len(p.Nodes); ; {
		apart := len(g.moves)
		if g.merge(all); p.sound(g, all) {
			return true
		}
		g.takeBack(apart)
		for i--; i >= 0 && !p.fusedInPlace(g, i, bottoms); i-- {
		}
		if i < 0 {
			g.takeBack(before)
			return false
		}
		g.move(p.Tasks[i].Bottoms[0], len(g.of)+i)
	}
}

// fusedInPlace reports whether node i's task is a fused one that runs in place: it makes one of the blobs from a private blob, whose
// gradient is at the same place.
func (p *Plan) fusedInPlace(g *gradientPlaces, i int, blobs []*blob.Blob) bool {
	t := p.Tasks[i]
	return t.runsBackward(p.Nodes[i]) && len(t.Nodes) > 1 && slices.Contains(blobs, t.Tops[0]) && !slices.Contains(p.Blobs, t.Bottoms[0]) &&
		g.of[t.Bottoms[0]] == g.of[t.Tops[0]]
}

// summed merges the gradients of a split blob. The first reader in Backward writes the gradient, and all others add to it.
func (p *Plan) summed(g *gradientPlaces, split int) bool {
	t := p.Tasks[split]
	var readers []int
	for _, top := range t.Tops {
		readers = append(readers, g.readers[top]...)
	}
	slices.Sort(readers)
	readers = slices.DeleteFunc(slices.Compact(readers), func(i int) bool { return !p.Tasks[i].runsBackward(p.Nodes[i]) })
	if len(readers) != len(t.Tops) {
		return false
	}
	adding := readers[:len(readers)-1]
	for _, i := range adding {
		if r := p.Tasks[i]; !r.traits.Grads.Adds || len(r.Bottoms) != 1 {
			return false
		}
	}
	for _, i := range adding {
		g.adding[p.Tasks[i]] = true
	}
	all, before := append(slices.Clone(t.Tops), t.Bottoms...), len(g.moves)
	if g.merge(all); p.sound(g, all) {
		return true
	}
	g.takeBack(before)
	for _, i := range adding {
		delete(g.adding, p.Tasks[i])
	}
	return false
}

// replaced merges the gradients of a task's bottom and top if the first may overwrite the second.
func (p *Plan) replaced(g *gradientPlaces, t *Task) bool {
	if !t.traits.Grads.Replaces || g.of[t.Bottoms[0]] == g.of[t.Tops[0]] {
		return false
	}
	both, before := []*blob.Blob{t.Bottoms[0], t.Tops[0]}, len(g.moves)
	if g.merge(both); p.sound(g, both) {
		return true
	}
	g.takeBack(before)
	return false
}

// sound reports whether every layer reads the correct gradients of its tops if all blobs at one place share it, and none of them has to
// stay elsewhere. Gradients at other places do not matter.
func (p *Plan) sound(g *gradientPlaces, blobs []*blob.Blob) bool {
	place := g.of[blobs[0]]
	var users []int
	for _, b := range g.at[place] {
		if g.stays[b] {
			return false
		}
		users = append(users, g.users[b]...)
	}
	slices.Sort(users)
	f := gradientFlow{gradientPlaces: g, place: place, want: map[*blob.Blob]uint64{}}
	for _, i := range slices.Backward(slices.Compact(users)) {
		if d, t := p.Nodes[i], p.Tasks[i]; t.runsBackward(d) && !f.backward(d, t) {
			return false
		}
	}
	return true
}

// moveGradients applies the places to the blobs.
func (p *Plan) moveGradients(to *gradientPlaces) {
	at := map[int]*blob.Blob{}
	before := p.placesOfGradients()
	for i, d := range p.Nodes {
		t := p.Tasks[i]
		for _, b := range slices.Concat(t.Bottoms, t.Tops, d.Tops) {
			place := to.of[b]
			home, ok := at[place]
			if !ok {
				home = b
				if place != before.of[b] {
					home = p.Device.NewBlob(b.Shape()...)
				}
				at[place] = home
			}
			if home != b && !home.SharesDiff(b) {
				p.moveDiff(b, home)
			}
		}
		t.Arranged.AddGrad = to.adding[t]
	}
}

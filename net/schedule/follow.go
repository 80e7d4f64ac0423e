package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// follow lets one kernel compute a task and the next one, piece by piece, if the next one's layer can do so (layers.Follower) and nobody else reads the blob between
// them. The two run at the position of the first.
func follow(p *Plan) error {
	if !p.infers() {
		return nil
	}
	for i := range p.Nodes {
		if done := p.chainOf(i); len(done) > 0 {
			p.followWith(i, done)
		}
	}
	return nil
}

// chainOf returns the task of node i and those whose work it does as steps, or nil if it does none itself or steps read other blobs.
func (p *Plan) chainOf(i int) (chain []*Task) {
	t := p.Tasks[i]
	if t.Empty() || t.done || len(t.Bottoms) != 1 || len(t.Tops) != 1 {
		return nil
	}
	chain = []*Task{t}
	for _, s := range t.Arranged.Steps {
		next := p.readerOf(chain[len(chain)-1])
		if next == nil || len(s.Others) > 0 {
			return nil
		}
		chain = append(chain, p.task(next))
	}
	return chain
}

// followWith computes the reader of a chain of tasks along with it, if it can.
func (p *Plan) followWith(i int, chain []*Task) {
	last := chain[len(chain)-1]
	next := p.readerOf(last)
	if next == nil || p.Kept[last.last().TopIDs[0]] || p.shares(last.Tops[0]) {
		return
	}
	t, s := p.Tasks[i], p.task(next)
	if s.Empty() || s.done || len(s.Bottoms) != 1 || len(s.Tops) != 1 || s.Bottoms[0] != last.Tops[0] || s.Tops[0].SharesData(t.Bottoms[0]) {
		return
	}
	for _, step := range s.Arranged.Steps {
		if slices.ContainsFunc(step.Others, func(b *blob.Blob) bool { return p.writtenFrom(i, b) }) {
			return
		}
	}
	f, ok := s.Layer.(layers.Follower)
	if !ok {
		return
	}
	both := f.Follow(t.Layer)
	if both == nil {
		return
	}
	p.note("follow", t.names(), "computed together with %s, piece by piece", next.Name)
	t.Layer, t.Tops, t.traits = both, s.Tops, layers.TraitsOf(both)
	for _, behind := range append(chain[1:], s) {
		t.Nodes = append(t.Nodes, behind.Nodes...)
		p.Tasks[p.at[behind.Nodes[0]]] = &Task{}
	}
}

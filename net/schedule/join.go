package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// joinReLUGrad lets a task apply the Backward of an in-place ReLU layer on a bottom as it writes that bottom's gradient.
func joinReLUGrad(p *Plan) error {
	if p.ForwardOnly {
		return nil
	}
	for _, d := range p.Nodes {
		next := p.behind(d)
		if !d.inPlace() || next == nil || !next.NeedsBackward {
			continue
		}
		i := slices.Index(next.Bottoms, d.Tops[0])
		t, relu := p.task(next), p.task(d)
		if next.Propagate[i] && t.traits.Joins.ReLUGrad && relu.traits.Is.ReLU.Plain() {
			t.Arranged.ReLUGrad = t.Arranged.ReLUGrad.And(i)
			relu.undone = true
			p.note("relu-grad", []string{next.Name}, "also applies the ReLU layer %s to its bottom's gradient", d.Name)
		}
	}
	return nil
}

// finish lets a task apply the next tasks to its results, piece by piece, before these leave a core's cache: activations, sums, normalisations that
// could not be folded. In a net for Forward only all tops then share one place, and only the last results are stored. Where Backward runs, the next
// tasks are those that work in place and store nothing else.
func finish(p *Plan) error {
	var moves [][2]*blob.Blob // a top, and the next one, whose place it takes
	for i, d := range p.Nodes {
		t := p.task(d)
		if t.Empty() || t.done || !t.traits.Joins.Finish {
			continue
		}
		for last := t; ; {
			next := p.readerOf(last)
			if next == nil || p.task(next).Empty() || p.task(next).traits.Is.Finish == nil || !p.mayFinish(i, last, p.task(next)) {
				break
			}
			s := p.task(next)
			t.Arranged.Steps = append(t.Arranged.Steps, layers.Step{Finisher: s.traits.Is.Finish, Others: others(last, s), Floor: s.traits.Is.ReLU.Plain()})
			p.note("finish", []string{d.Name}, "also computes %s on its results", next.Name)
			if last.Tops[0] != s.Tops[0] {
				moves = append(moves, [2]*blob.Blob{last.Tops[0], s.Tops[0]})
			}
			s.done, last = true, s
		}
	}
	for _, m := range slices.Backward(moves) {
		p.moveData(m[0], m[1])
	}
	return nil
}

// mayFinish reports whether node i can also do the task behind, which reads the top of the last task that node i does: nobody requested that top, unless
// the task works in place, as it must where Backward runs, and it then keeps nothing for Backward; the task's other bottoms are written before node i runs; and the task
// overwrites none of its bottoms. A top that is to move has its data alone: behind a Flatten, the top of a layer in place is also the Flatten's bottom.
func (p *Plan) mayFinish(i int, last, behind *Task) bool {
	t := p.Tasks[i]
	if len(behind.Tops) != 1 { // Silence has no top
		return false
	}
	before, after := last.Tops[0], behind.Tops[0]
	if !p.ForwardOnly && (after != before || len(behind.Nodes) != 1 || len(behind.traits.Keeps) > 0) {
		return false
	}
	first := slices.Index(behind.Bottoms, before)
	if after != before && p.Kept[last.last().TopIDs[0]] || first < 0 || first > 0 && !behind.traits.Is.Symmetric || before.Count() != after.Count() {
		return false
	}
	if after != before && p.shares(before) {
		return false
	}
	others := others(last, behind)
	for _, b := range others {
		if b == before || p.writtenFrom(i, b) {
			return false
		}
	}
	return !slices.ContainsFunc(slices.Concat(t.Bottoms, others), after.SharesData)
}

// shares reports whether other blobs of the net have a blob's data.
func (p *Plan) shares(b *blob.Blob) bool {
	return slices.ContainsFunc(p.Nodes, func(d *Node) bool {
		return slices.ContainsFunc(d.Tops, func(o *blob.Blob) bool { return o != b && o.SharesData(b) })
	})
}

// others lists the bottoms of a task behind task t that are not the top of t.
func others(t, behind *Task) []*blob.Blob {
	first := slices.Index(behind.Bottoms, t.Tops[0])
	return slices.Concat(behind.Bottoms[:first], behind.Bottoms[first+1:])
}

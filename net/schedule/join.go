package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// joinReLU lets a task apply the in-place ReLU layer on its top as it stores results. The ReLU layer keeps its task, which does nothing if
// the kernel has done the work. In nets for Forward alone any ReLU layer behind the task runs in place.
func joinReLU(p *Plan) error {
	for i, d := range p.Nodes {
		next := p.behind(d)
		if next == nil || len(p.task(next).Nodes) != 1 || len(next.Tops) != 1 {
			continue
		}
		t, relu := p.task(d), p.task(next)
		joiner, ok := t.Layer.(layers.Joiner)
		if !ok || !t.traits.Joins.ReLU || !relu.traits.Is.ReLU.Plain() {
			continue
		}
		if next.Tops[0] != t.Tops[0] {
			if !p.ForwardOnly || !p.mayFinish(i, t, relu) {
				continue
			}
			p.moveData(t.Tops[0], relu.Tops[0])
		}
		t.Arranged.ReLU, relu.forward = true, joiner
		p.note("relu", []string{d.Name}, "also applies the ReLU layer %s to its results", next.Name)
	}
	return nil
}

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
		if joiner, ok := t.Layer.(layers.Joiner); ok && next.Propagate[i] && t.traits.Joins.ReLUGrad && relu.traits.Is.ReLU.Plain() {
			t.Arranged.ReLUGrad = t.Arranged.ReLUGrad.And(i)
			relu.backward, relu.bottom = joiner, i
			p.note("relu-grad", []string{next.Name}, "also applies the ReLU layer %s to its bottom's gradient", d.Name)
		}
	}
	return nil
}

// finish lets a convolution apply the next tasks to its results, block by block, in nets for Forward only: activations, sums, normalisations that
// could not be folded. All tops then share one place, and only the last results are stored.
func finish(p *Plan) error {
	if !p.ForwardOnly {
		return nil
	}
	for i, d := range p.Nodes {
		t := p.task(d)
		joiner, ok := t.Layer.(layers.Joiner)
		if !ok || !t.traits.Joins.Finish || t.Arranged.ReLU || !t.single() {
			continue
		}
		var behind []*Task
		for last := t; ; last = behind[len(behind)-1] {
			next := p.readerOf(last)
			if next == nil || p.task(next).Empty() || p.task(next).traits.Is.Finish == nil || !p.mayFinish(i, last, p.task(next)) {
				break
			}
			behind = append(behind, p.task(next))
			t.Arranged.Steps = append(t.Arranged.Steps, layers.Step{Finisher: p.task(next).traits.Is.Finish, Others: others(last, p.task(next))})
			p.note("finish", []string{d.Name}, "also computes %s on its results", next.Name)
		}
		tops := []*blob.Blob{t.Tops[0]}
		for _, b := range behind {
			b.forward, tops = joiner, append(tops, b.Tops[0])
		}
		for k := len(tops) - 2; k >= 0; k-- {
			if tops[k] != tops[k+1] {
				p.moveData(tops[k], tops[k+1])
			}
		}
	}
	return nil
}

// mayFinish reports whether node i can also do the task behind, which reads the top of the last task that node i does: nobody requested that top, unless
// the task works in place; the task's other bottoms are written before node i runs; and the task overwrites none of its bottoms.
func (p *Plan) mayFinish(i int, last, behind *Task) bool {
	t := p.Tasks[i]
	if len(t.Bottoms) != 1 || len(behind.Tops) != 1 { // Silence has no top
		return false
	}
	before, after := last.Tops[0], behind.Tops[0]
	first := slices.Index(behind.Bottoms, before)
	if after != before && p.Kept[last.last().TopIDs[0]] || first < 0 || first > 0 && !behind.traits.Is.Symmetric || before.Count() != after.Count() {
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

// others lists the bottoms of a task behind task t that are not the top of t.
func others(t, behind *Task) []*blob.Blob {
	first := slices.Index(behind.Bottoms, t.Tops[0])
	return slices.Concat(behind.Bottoms[:first], behind.Bottoms[first+1:])
}

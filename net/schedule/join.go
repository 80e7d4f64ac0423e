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
			if !p.ForwardOnly || !p.mayFinish(i, relu) {
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

// finish lets a convolution apply the next task to its results, block by block, in nets for Forward only: a sum, or a normalisation that could
// not be folded. Both tops then share one place, and the convolution's own results are not stored.
func finish(p *Plan) error {
	if !p.ForwardOnly {
		return nil
	}
	for i, d := range p.Nodes {
		next := p.behind(d)
		if next == nil {
			continue
		}
		t, behind := p.task(d), p.task(next)
		joiner, ok := t.Layer.(layers.Joiner)
		if !ok || !t.traits.Joins.Finish || t.Arranged.ReLU || behind.traits.Is.Finish == nil || !p.mayFinish(i, behind) {
			continue
		}
		t.Arranged.Finish, t.Arranged.Others = behind.traits.Is.Finish, others(t, behind)
		behind.forward = joiner
		p.moveData(t.Tops[0], behind.Tops[0])
		p.note("finish", []string{d.Name}, "also computes %s on its results", next.Name)
	}
	return nil
}

// mayFinish reports whether node i can also do the given task, which reads its top: nobody requested that top, the task's other bottoms are
// written before node i runs, and the task overwrites none of its bottoms.
func (p *Plan) mayFinish(i int, behind *Task) bool {
	t := p.Tasks[i]
	if len(t.Bottoms) != 1 || len(behind.Tops) != 1 { // Silence has no top
		return false
	}
	before, after := t.Tops[0], behind.Tops[0]
	first := slices.Index(behind.Bottoms, before)
	if p.Kept[t.last().TopIDs[0]] || first < 0 || first > 0 && !behind.traits.Is.Symmetric || before.Count() != after.Count() {
		return false
	}
	others := others(t, behind)
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

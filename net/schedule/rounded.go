package schedule

import (
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// rounded stores images in rounded blocks if all tasks that read them and all that write them can. They take half the bytes where the processor multiplies pairs of bfloat16 values. A pointwise
// convolution in bfloat16 rounds its images anyway. For a sum, its inputs or its result are rounded in addition.
func rounded(p *Plan) error {
	if !p.infers() {
		return nil
	}
	can := map[blob.Storage]bool{} // by the storage of values that tasks write
	allow := func(b *blob.Blob, ok bool) {
		before, seen := can[b.DataStorage()]
		can[b.DataStorage()] = ok && p.InBlocks(b) && p.thinOf(b) == nil && (before || !seen)
	}
	tasks := p.computing()
	for _, t := range tasks {
		one := len(t.Bottoms) == 1 && len(t.Tops) == 1
		for _, b := range t.Bottoms {
			allow(b, one && t.traits.Rounds.Bottoms)
		}
		for _, b := range t.Tops {
			allow(b, one && t.traits.Rounds.Tops)
		}
		for _, s := range t.Arranged.Steps {
			_, widens := s.Finisher.(layers.Widener)
			for _, b := range s.Others {
				allow(b, widens && t.traits.Rounds.Others)
			}
		}
	}
	is := func(blobs []*blob.Blob) bool { return len(blobs) > 0 && can[blobs[0].DataStorage()] }
	var changed []*Task
	for _, t := range tasks {
		a := &t.Arranged
		a.In.Rounded, a.Out.Rounded = is(t.Bottoms), is(t.Tops)
		any := a.In.Rounded || a.Out.Rounded
		a.Steps = slices.Clone(a.Steps)
		for i := range a.Steps {
			a.Steps[i].Rounded = is(a.Steps[i].Others)
			any = any || a.Steps[i].Rounded
		}
		if any {
			changed = append(changed, t)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	p.rounded = can
	names := p.namesWhere(func(id int) bool { return can[p.Blobs[id].DataStorage()] && !p.between(id) })
	p.note("rounded", nil, "stored in bfloat16: %s", strings.Join(names, ", "))
	return p.arrange(changed)
}

// Widen makes the values of a blob in rounded blocks float32 ones in blocks. The plan must then be made anew.
func (p *Plan) Widen(b *blob.Blob) {
	if !p.rounded[b.DataStorage()] {
		return
	}
	values, pixels := b.Data(), b.CountFrom(2)
	stored := slices.Clone(values)
	clear(values)
	for at := 0; at < len(values); at += pixels * shape.BlockLanes {
		factors.AddRounded(values[at:at+pixels*shape.BlockLanes], stored, at, pixels)
	}
}

// computing lists the tasks that compute Forward themselves. A Split, whose tops are its bottom, computes nothing.
func (p *Plan) computing() (list []*Task) {
	for _, t := range p.Tasks {
		if t.Empty() || t.done || t.traits.Grads.Sums && !slices.ContainsFunc(t.Tops, func(b *blob.Blob) bool { return !b.SharesData(t.Bottoms[0]) }) {
			continue
		}
		list = append(list, t)
	}
	return list
}

package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// thinImages is a blob, with the blobs that share its values, of which only the pixels at multiples of given strides exist.
type thinImages struct {
	blobs   []*blob.Blob
	strides [2]int
	maker   *Task
	readers []*Task
}

// thin lets a layer compute only the pixels that its readers need, for images with channels in blocks whose readers all have the same
// strides. The pixels are packed at the front of their planes. Stages of a residual net start like this.
func thin(p *Plan) error {
	for i := range p.Nodes {
		t := p.thinTop(i)
		if t == nil {
			continue
		}
		p.thin = append(p.thin, t)
		t.maker.Arranged.Out.Thin = t.strides
		for _, r := range t.readers {
			r.Arranged.In.Thin = t.strides
		}
		if err := p.arrange(append(t.readers, t.maker)); err != nil {
			return err
		}
		p.note("thin", t.maker.names(), "computes only the pixels at strides of %d x %d", t.strides[0], t.strides[1])
	}
	p.Layouts.Thin = p.namesWhere(func(id int) bool { return p.thinOf(p.Blobs[id]) != nil })
	p.Layouts.Turns, p.Layouts.Values = p.turns()
	return nil
}

// thinTop returns the thin form of the top of node i's task, or nil if it must be whole.
func (p *Plan) thinTop(i int) *thinImages {
	maker := p.Tasks[i]
	if !maker.traits.Thin.Makes || len(maker.Tops) != 1 || !p.InBlocks(maker.Tops[0]) || p.Nodes[i].NeedsBackward && !maker.propagatesAll() {
		return nil
	}
	top := maker.Tops[0]
	t := &thinImages{maker: maker, blobs: []*blob.Blob{top}}
	shares := func(b *blob.Blob) bool { return b == top || b.SharesData(top) }
	for id, b := range p.Blobs {
		if shares(b) && p.Loss[id] != 0 {
			return nil
		}
	}
	for _, o := range p.Tasks {
		switch {
		case o == maker || o.Empty():
		case o.traits.Grads.Sums && shares(o.Bottoms[0]):
			t.blobs = append(t.blobs, o.Tops...)
		case slices.ContainsFunc(o.Tops, shares), slices.ContainsFunc(o.Bottoms, shares) && !t.readBy(o):
			return nil
		}
	}
	if len(t.readers) == 0 {
		return nil
	}
	return t
}

// readBy records another reader. It reports whether its strides equal those of the others.
func (t *thinImages) readBy(o *Task) bool {
	strides := o.traits.Thin.Reads
	if len(o.Bottoms) != 1 || strides == [2]int{} {
		return false
	}
	if len(t.readers) == 0 {
		t.strides = strides
	}
	t.readers = append(t.readers, o)
	return strides[0]*strides[1] > 1 && strides == t.strides
}

// thinOf returns a blob's thin form, or nil.
func (p *Plan) thinOf(b *blob.Blob) *thinImages {
	for _, t := range p.thin {
		if slices.Contains(t.blobs, b) {
			return t
		}
	}
	return nil
}

// EachMade calls f with each range of a blob's values that is computed, and its start. Values in rounded blocks come in no particular order.
func (p *Plan) EachMade(b *blob.Blob, f func(at int, values []float32)) {
	t := p.thinOf(b)
	switch {
	case p.rounded[b.DataStorage()]:
		factors.EachRounded(b.Data(), f)
		return
	case t == nil:
		f(0, b.Data())
		return
	}
	made := shape.Thin{H: b.Dim(2), W: b.Dim(3), StrideH: t.strides[0], StrideW: t.strides[1]}
	plane, n, values := b.CountFrom(2)*shape.BlockLanes, made.Pixels()*shape.BlockLanes, b.Data()
	for at := 0; at < len(values); at += plane {
		f(at, values[at:at+n])
	}
}

package part

import (
	"slices"
	"sync"
	"weak"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// made is what nets have made of one version of a blob's values (blob.Made): packed forms, and the weights with Maps folded into them.
type made struct {
	op.Weights

	mu   sync.Mutex
	list []weak.Pointer[folded]
}

// madeOf returns what was made of a blob's present values, nil if these may change unseen.
func madeOf(b *blob.Blob) *made {
	v, ok := b.Version()
	if !ok {
		return nil
	}
	return b.Made(v, func() any { return new(made) }).(*made)
}

// folded returns the weights with factors folded in, which may still have to be computed.
func (m *made) folded(factor []float64) *folded {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.list {
		if f := p.Value(); f != nil && slices.Equal(f.factor, factor) {
			return f
		}
	}
	f := &folded{factor: slices.Clone(factor), shared: true}
	m.list = append(slices.DeleteFunc(m.list, func(p weak.Pointer[folded]) bool { return p.Value() == nil }), weak.Make(f))
	return f
}

// folded are a layer's weights times a factor for each output channel. If shared, they are computed once, for all layers of all nets with these weights and factors.
type folded struct {
	factor []float64
	shared bool
	lost   *lost // how they become the layer's own weights, nil if they do not

	mu  sync.Mutex // held while they are computed
	w   *blob.Blob // nil before
	run folding
}

// share computes the weights from own unless somebody has done so. In a net for inference own is stowed then.
func (f *folded) share(m *cpe.Machine, own *blob.Blob, inference bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.w != nil {
		return nil
	}
	if err := f.compute(m, own, inference && own.Count() >= fewest); err != nil {
		return err
	}
	if f.w.Seal(); own.Frozen() {
		f.w.Freeze()
	}
	f.stow(own)
	return nil
}

// stow stows the layer's own weights, which come back from their file or from those here.
func (f *folded) stow(own *blob.Blob) {
	if by := own.Origin(); by != nil {
		stow(own, by, false)
	} else if f.lost != nil {
		stow(own, f, false)
	}
}

// compute computes the weights, and lost if own is to be stowed.
func (f *folded) compute(m *cpe.Machine, own *blob.Blob, stows bool) error {
	w, from := f.w, own.Hold(false)
	defer own.Free()
	if w == nil || w.Count() != own.Count() {
		w = blob.New(own.Shape()...)
	}
	f.run = folding{factor: f.factor, from: from, to: w.Data()}
	if stows && own.Origin() == nil {
		f.run.lost = newLost(len(f.factor), len(from)/len(f.factor))
	}
	err := m.Run(&f.run, m.GroupsFor(len(from), fewest))
	if err == nil {
		f.w, f.lost = w, f.run.lost
	}
	f.run = folding{}
	return err
}

// folding is a computation of folded weights.
type folding struct {
	factor   []float64
	from, to []float32
	lost     *lost
}

// Name implements cpe.Program.
func (f *folding) Name() string { return "folding weights" }

// RunGroup implements cpe.Program. It computes a core group's share of the weights.
func (f *folding) RunGroup(g *cpe.CoreGroup) error {
	lo, hi := g.Share(len(f.factor))
	f.rows(lo, hi)
	return nil
}

// rows computes the weights of output channels lo to hi-1.
func (f *folding) rows(lo, hi int) {
	n := len(f.to) / len(f.factor)
	for o := lo; o < hi; o++ {
		from, to, factor := f.from[o*n:(o+1)*n], f.to[o*n:(o+1)*n], float32(f.factor[o])
		vec.Scale(to, from, factor)
		if f.lost != nil {
			f.lost.note(o, from, to, factor)
		}
	}
}

// Restore implements blob.Restorer: it writes the layer's own weights.
func (f *folded) Restore(values []float32) {
	copy(values, f.w.Hold(false))
	f.w.Free()
	f.lost.restore(values)
}

// again returns what computes the weights once more from the layer's own, nil if these cannot be had without them.
func (f *folded) again(own *blob.Blob) blob.Restorer {
	if own.Origin() == nil {
		return nil
	}
	return &refolding{f, own}
}

// refolding brings folded weights back that were stowed.
type refolding struct {
	*folded
	own *blob.Blob
}

// Restore implements blob.Restorer.
func (r *refolding) Restore(values []float32) {
	once := folding{factor: r.factor, from: r.own.Hold(false), to: values}
	once.rows(0, len(r.factor))
	r.own.Free()
	stow(r.own, r.own.Origin(), false)
}

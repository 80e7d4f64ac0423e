package part

import (
	"sync/atomic"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

// made are the weights that Fixed gives out: a layer's own or, if there are Maps, these with the Maps multiplied into them,
//
//	w'(o) = factor(o) * w(o),   b'(o) = factor(o) * b(o) + shift(o),
//
// with w(o) the weights of output channel o, side by side, and the factor and the shift of the Maps one after the other. They are made anew when values
// that they depend on may have changed (blob.Version).
type made struct {
	maps   []layers.Map
	of     []*blob.Blob   // the weights, the biases if there are any, and the weights of the Maps
	seen   []blob.Version // of these; empty if they could change unseen
	number uint64         // of the weights, 0 if the values that they depend on may change unseen
	kept   op.Keeper      // the kernel that has packed the weights and can unpack them, or nil

	// With Maps:
	factor, shift []float64
	from, w, b    []float32 // w is nil if kept has it; folding reads from, which may be w
	lost          *lost     // how w becomes the layer's own weights, nil if these stay in memory
}

// numbers counts the numbers that were given to weights. None is given twice.
var numbers atomic.Uint64

// fewest is the number of weights from which on folding is shared by core groups, and from which on weights are stowed.
const fewest = 1 << 14

func newMade(weights []*blob.Blob, maps []layers.Map) *made {
	f := &made{maps: maps, of: append([]*blob.Blob(nil), weights...)}
	for _, m := range maps {
		f.of = append(f.of, m.Params()...)
	}
	if len(maps) > 0 {
		n := maps[0].Channels()
		f.factor, f.shift, f.b = make([]float64, n), make([]float64, n), pages.Make[float32](n)
	}
	return f
}

// take is Fixed.Take with Maps.
func (f *made) take(by *Fixed, m *cpe.Machine, k op.Keeper, inference bool) (w, b []float32, number uint64, err error) {
	switch {
	case !m.Values() || f.fresh() && (f.w != nil || keeps(k, f.number)):
		return f.w, f.b, f.number, nil
	case f.fresh() && keeps(f.kept, f.number): // another kernel has it
		f.w = pages.Floats(f.of[0].Count())
		f.kept.Unpack(f.w)
		return f.w, f.b, f.number, nil
	}
	f.from = f.of[0].Hold(false) // restored from what was made before, if need be
	f.forget()
	f.compose()
	by.folding.Lock()
	defer by.folding.Unlock()
	stowed := false
	if f.lost = nil; inference && f.stows() {
		var memory []float32
		if memory, stowed = by.stow(f, true); stowed {
			f.lost = newLost(len(f.factor), len(f.from)/len(f.factor))
		}
		if memory != nil {
			f.from, f.w = memory, memory
		}
	}
	if len(f.w) != len(f.from) {
		f.w = pages.Floats(len(f.from))
	}
	err = m.Run(f, m.GroupsFor(len(f.w), fewest))
	if f.from = nil; !stowed {
		f.of[0].Free()
	}
	return f.w, f.b, f.number, err
}

// compose computes the factors, the shifts and the biases.
func (f *made) compose() {
	own := len(f.of)
	for _, m := range f.maps {
		own -= len(m.Params())
	}
	for c := range f.factor {
		f.factor[c], f.shift[c] = 1, 0
		if own > 1 {
			f.shift[c] = float64(f.of[1].Values()[c])
		}
	}
	for _, m := range f.maps {
		m.Compose(f.factor, f.shift)
	}
	for c, v := range f.shift {
		f.b[c] = float32(v)
	}
}

// Name implements cpe.Program.
func (f *made) Name() string { return "folding weights" }

// RunGroup implements cpe.Program. It computes a core group's share of the weights.
func (f *made) RunGroup(g *cpe.CoreGroup) error {
	lo, hi := g.Share(len(f.factor))
	n := len(f.w) / len(f.factor)
	var row []float32
	for o := lo; o < hi; o++ {
		from, to, factor := f.from[o*n:(o+1)*n], f.w[o*n:(o+1)*n], float32(f.factor[o])
		if f.lost != nil {
			row = append(row[:0], from...)
			from = row
		}
		vec.Scale(to, from, factor)
		if f.lost != nil {
			f.lost.note(o, from, to, factor)
		}
	}
	return nil
}

// stows reports whether the layer's own weights are worth stowing, and cannot change unseen.
func (f *made) stows() bool { return f.number != 0 && f.of[0].Count() >= fewest }

// settle gives up w if the kernel has packed it. It reports whether the layer's own weights can be restored.
func (f *made) settle(k op.Keeper) bool {
	if !f.stows() {
		return false
	}
	if keeps(k, f.number) && k.Unpacks() {
		f.kept = k
		pages.Release(f.w)
		f.w = nil
	}
	if len(f.maps) > 0 {
		return f.lost != nil
	}
	return keeps(f.kept, f.number)
}

// restore writes the layer's own weights.
func (f *made) restore(values []float32) {
	if f.w != nil {
		copy(values, f.w)
	} else {
		f.kept.Unpack(values)
	}
	if f.lost != nil {
		f.lost.restore(values)
	}
}

// note returns the number of the layer's own weights.
func (f *made) note() uint64 {
	if !f.fresh() {
		f.forget()
	}
	return f.number
}

// fresh reports whether nothing has changed since the weights were made.
func (f *made) fresh() bool {
	if len(f.seen) == 0 {
		return false
	}
	for i, b := range f.of {
		if v, ok := b.Version(); !ok || v != f.seen[i] {
			return false
		}
	}
	return true
}

// forget begins with the present values: it remembers their versions and gives what will be made of them a number.
func (f *made) forget() {
	f.seen, f.number, f.kept = f.seen[:0], 0, nil
	for _, b := range f.of {
		v, ok := b.Version()
		if !ok {
			f.seen = f.seen[:0]
			return
		}
		f.seen = append(f.seen, v)
	}
	f.number = numbers.Add(1)
}

package part

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
)

// Fixed gives a layer the weights and biases that its Forward computes with: the layer's own or, if there are Maps, these with the Maps multiplied into them,
//
//	w'(o) = factor(o) * w(o),   b'(o) = factor(o) * b(o) + shift(o),
//
// with w(o) the weights of output channel o, side by side, and the factor and the shift of the Maps one after the other. They are made anew when values
// that they depend on may have changed (blob.Version).
//
// Nets for inference keep weights in memory once, however many nets have them: as the layer's own weights, or folded (made.go), or packed (op.Weights). In the last
// two cases the ones before are stowed (blob.Stow). Forward calls Take, runs its kernel and calls Settle. The zero value is ready for use.
type Fixed struct {
	maps []layers.Map
	of   []*blob.Blob   // the weights, the biases if there are any, and the weights of the Maps; without Maps the weights
	seen []blob.Version // of these, when they were folded; empty if they could change unseen

	factor, shift []float64
	b             []float32
	folded        *folded // nil without Maps

	weights *blob.Blob  // of this run: own or folded
	packed  *op.Weights // their forms, nil if the values may change unseen
	held    bool        // the weights are in use (blob.Hold)
	reads   bool        // a kernel reads them in every run
}

// fewest is the number of weights from which on folding is shared by core groups, and from which on weights are stowed.
const fewest = 1 << 14

// Fold sets the Maps behind a layer with the given weights (layers.Folder); none ends folding.
func (f *Fixed) Fold(maps []layers.Map, weights []*blob.Blob) {
	if slices.Equal(f.maps, maps) && len(f.of) > 0 && f.of[0] == weights[0] {
		return
	}
	*f = Fixed{maps: slices.Clone(maps), of: slices.Clone(weights)}
	for _, m := range maps {
		f.of = append(f.of, m.Params()...)
	}
	if len(maps) > 0 {
		n := maps[0].Channels()
		f.factor, f.shift, f.b = make([]float64, n), make([]float64, n), pages.Make[float32](n)
	}
}

// Folds reports whether Maps are folded into the weights.
func (f *Fixed) Folds() bool { return len(f.maps) > 0 }

// Take returns the weights w, the biases b, nil if there are none, and what w is known by (op.Kept), nil if the weights may change unseen. own are the layer's
// weights, with biases if there are two. In a net for inference w is nil if the kernel k has packed it; k may be nil.
func (f *Fixed) Take(m *cpe.Machine, own []*blob.Blob, k op.Keeper, inference bool) (w, b []float32, fixed *op.Weights, err error) {
	f.weights, f.packed = own[0], nil
	switch {
	case f.Folds():
		if !m.Values() {
			return nil, f.b, nil, nil
		}
		if err := f.fold(m, inference); err != nil {
			return nil, nil, nil, err
		}
		f.weights, b = f.folded.w, f.b
	case len(own) > 1:
		b = own[1].Values()
	}
	if inference || f.Folds() {
		if of := madeOf(f.weights); of != nil {
			f.packed = &of.Weights
		}
	}
	if k, ok := k.(op.PartKeeper); ok && f.packed != nil && !k.Keeps(f.packed) {
		pack := func(read func(dst []float32, first int) error) error { return k.PackParts(f.packed, read) }
		if err := f.weights.Parts(pack); err != nil {
			return nil, nil, nil, err
		}
	}
	if k != nil && k.Keeps(f.packed) {
		return nil, b, f.packed, nil
	}
	f.held = true
	return f.weights.Hold(f.reads), b, f.packed, nil
}

// Settle ends the use of what Take has returned, after the kernel has run: it stows what is there in another form.
func (f *Fixed) Settle(k op.Keeper) {
	keeps := k != nil && k.Keeps(f.packed)
	if keeps {
		if by := f.restorer(k.Form(f.packed)); by != nil && stow(f.weights, by, f.held) {
			f.held = false
		}
	}
	if f.held {
		f.reads = !keeps
		f.weights.Free()
		f.held = false
	}
	if f.folded != nil {
		f.folded.stow(f.of[0])
	}
}

// restorer returns what brings weights back that a kernel keeps packed in a form, nil if nothing does. A form is nil if they cannot be had from it.
func (f *Fixed) restorer(form *op.Form) blob.Restorer {
	switch exact := form != nil && !form.Rounds; {
	case form != nil && (exact || !f.weights.Frozen()): // rounded weights are not to replace those of other nets
		return form
	case f.Folds():
		return f.folded.again(f.of[0])
	}
	return f.weights.Origin()
}

// stow stows weights that are worth it, since by can bring them back. held says that the caller holds them.
func stow(b *blob.Blob, by blob.Restorer, held bool) (ok bool) {
	v, known := b.Version()
	if !known || b.Count() < fewest {
		return false
	}
	memory, ok := b.Stow(v, by, held)
	pages.Release(memory)
	return ok
}

// fold sees to it that folded and b are those of the present values.
func (f *Fixed) fold(m *cpe.Machine, inference bool) error {
	if f.fresh() {
		return nil
	}
	f.compose()
	f.seen = f.seen[:0]
	for _, b := range f.of {
		v, ok := b.Version()
		if !ok { // the present values are for this run only
			f.seen = f.seen[:0]
			if f.folded == nil || f.folded.shared {
				f.folded = &folded{}
			}
			f.folded.factor = f.factor
			return f.folded.compute(m, f.of[0], false)
		}
		f.seen = append(f.seen, v)
	}
	seen := f.seen
	f.seen = f.seen[:0] // if weights cannot be read, share panics
	f.folded = madeOf(f.of[0]).folded(f.factor)
	if err := f.folded.share(m, f.of[0], inference); err != nil {
		return err
	}
	f.seen = seen
	return nil
}

// fresh reports whether nothing has changed since the weights were folded.
func (f *Fixed) fresh() bool {
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

// compose computes the factors, the shifts and the biases.
func (f *Fixed) compose() {
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

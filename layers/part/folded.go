package part

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

// Folded holds a layer's weights and biases with Maps multiplied into them:
//
//	w'(o) = factor(o) * w(o),   b'(o) = factor(o) * b(o) + shift(o),
//
// with w(o) the weights of output channel o, side by side, and the factor and the shift of the Maps one after the other. They are computed anew
// when values that they depend on may have changed (blob.Version).
type Folded struct {
	maps          []layers.Map
	of            []*blob.Blob   // the weights, the biases if there are any, and the weights of the Maps
	seen          []blob.Version // of these, when w and b were computed; empty if they could change unseen
	factor, shift []float64
	from, w, b    []float32
	number        uint64 // of w, 0 if the values that it depends on may change unseen
}

// Set sets the Maps behind a layer with the given weights; none ends folding.
func (f *Folded) Set(maps []layers.Map, weights []*blob.Blob) {
	*f = Folded{maps: maps}
	if len(maps) == 0 {
		return
	}
	f.of = slices.Clone(weights)
	for _, m := range maps {
		f.of = append(f.of, m.Params()...)
	}
	n := maps[0].Channels()
	f.factor, f.shift, f.b = make([]float64, n), make([]float64, n), pages.Make[float32](n)
}

// On reports whether there are Maps.
func (f *Folded) On() bool { return len(f.maps) > 0 }

// Operands returns the weights and the biases, and a number for the weights as in Numbered. bias says that the layer has biases of its own.
func (f *Folded) Operands(m *cpe.Machine, bias bool) (w, b []float32, number uint64, err error) {
	if f.fresh() || !m.Values() {
		return f.w, f.b, f.number, nil
	}
	f.note()
	for c := range f.factor {
		f.factor[c], f.shift[c] = 1, 0
		if bias {
			f.shift[c] = float64(f.of[1].Values()[c])
		}
	}
	for _, l := range f.maps {
		l.Compose(f.factor, f.shift)
	}
	for c, v := range f.shift {
		f.b[c] = float32(v)
	}
	if f.from = f.of[0].Values(); len(f.w) != len(f.from) {
		f.w = pages.Floats(len(f.from))
	}
	return f.w, f.b, f.number, m.Run(f, m.GroupsFor(len(f.w), leastFolded))
}

// leastFolded is the number of weights from which on folding is shared by core groups.
const leastFolded = 1 << 14

// fresh reports whether nothing has changed since the weights were computed.
func (f *Folded) fresh() bool {
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

// note remembers the versions of the values that the weights depend on.
func (f *Folded) note() {
	f.seen, f.number = f.seen[:0], 0
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

// Name implements cpe.Program.
func (f *Folded) Name() string { return "folding weights" }

// RunGroup implements cpe.Program. It computes a core group's share of the weights.
func (f *Folded) RunGroup(g *cpe.CoreGroup) error {
	lo, hi := g.Share(len(f.factor))
	n := len(f.w) / len(f.factor)
	for o := lo; o < hi; o++ {
		vec.Scale(f.w[o*n:(o+1)*n], f.from[o*n:(o+1)*n], float32(f.factor[o]))
	}
	return nil
}

package utility

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

// sumFinish is the Finisher of a plain sum of two bottoms, with a ReLU layer behind it or without.
type sumFinish struct {
	other   []float32
	rectify bool
	slope   float32
}

// finishes adds a sum's Finisher to its traits.
func (l *eltwise) finishes(t *layers.Traits, f *sumFinish) {
	if l.plain() && len(l.coeff) == 2 && l.Blockable() {
		t.Is.Finish, t.Is.Symmetric = f, true
	}
}

// Hold implements Finisher.
func (f *sumFinish) Hold(others []*blob.Blob) { f.other = others[0].Data() }

// Finish implements Finisher.
func (f *sumFinish) Finish(y []float32, at, n, _ int) {
	y = y[at : at+n]
	vec.Add(y, y, f.other[at:at+n])
	if f.rectify {
		vec.ReLU(y, y, f.slope)
	}
}

package utility

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// sumFinish is the Finisher of a plain sum of two bottoms. It works element by element, so that any layout will do.
type sumFinish struct{ other []float32 }

// ByChannel implements Finisher.
func (f *sumFinish) ByChannel() bool { return false }

// Hold implements Finisher.
func (f *sumFinish) Hold(others []*blob.Blob) { f.other = others[0].Data() }

// Finish implements Finisher.
func (f *sumFinish) Finish(y []float32, at, n, _ int) {
	vec.Add(y[at:at+n], y[at:at+n], f.other[at:at+n])
}

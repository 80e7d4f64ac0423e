package utility

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// sumFinish is the Finisher of a plain sum of two bottoms. It works element by element, so that any layout will do.
type sumFinish struct {
	other  []float32
	pixels int // of an image, if other is in shape.RoundedBlocks, else 0
}

// ByChannel implements Finisher.
func (f *sumFinish) ByChannel() bool { return false }

// Hold implements Finisher.
func (f *sumFinish) Hold(others []*blob.Blob) { f.other, f.pixels = others[0].Data(), 0 }

// HoldRounded implements layers.Widener.
func (f *sumFinish) HoldRounded(others []*blob.Blob) {
	f.other, f.pixels = others[0].Data(), others[0].CountFrom(2)
}

// Finish implements Finisher.
func (f *sumFinish) Finish(y []float32, at, _ int) {
	if f.pixels > 0 {
		factors.AddRounded(y, f.other, at, f.pixels)
		return
	}
	vec.Add(y, y, f.other[at:at+len(y)])
}

package blob

import (
	"fmt"
	"slices"
)

// PlaceData makes memory, with its present contents, the values of b and of all blobs that share them. If a later shape needs more room,
// they get new storage.
func (b *Blob) PlaceData(memory []float32) { b.storageOf(&b.data).place(b, memory) }

// PlaceDiff makes memory the gradients of b and of all blobs that share them.
func (b *Blob) PlaceDiff(memory []float32) { b.storageOf(&b.diff).place(b, memory) }

func (s *storage) place(b *Blob, memory []float32) {
	if len(memory) < b.Count() {
		panic(fmt.Sprintf("blob: %v does not fit in %d values of memory", b.shape, len(memory)))
	}
	s.forget()
	s.buf, s.unwritten = memory[:len(memory):len(memory)], 0
	s.expose()
}

// Own moves b's values and gradients, and all blobs that share them, from placed memory (PlaceData, PlaceDiff) to storage of their own.
func (b *Blob) Own() {
	for _, s := range []*storage{b.storageOf(&b.data), b.diff} {
		s.bring()
		s.buf = slices.Clone(s.buf)
	}
}

// ForgetData gives b's values, and all blobs that share them, new storage at the next use, filled with zeros.
func (b *Blob) ForgetData() {
	s := b.storageOf(&b.data)
	s.forget()
	s.buf = nil
}

// ForgetDiff is ForgetData for the gradients.
func (b *Blob) ForgetDiff() { *b.storageOf(&b.diff) = storage{shadow: b.diff.shadow} }

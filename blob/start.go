package blob

// A sum of gradients begins with zeros. StartDiff only notes them, and they are written when somebody looks: who comes first and
// overwrites all of them (Gradient) saves both the clearing and the reading of zeros. The note belongs to the storage, so that all
// blobs that share it see zeros, and the first of them to add a gradient is the one that overwrites.

// StartDiff makes the gradients zero, for a sum that begins. A slice that Diff returned before shows it from the next call of Diff
// on.
func (b *Blob) StartDiff() {
	s, n := b.storageOf(&b.diff), b.Count()
	if s.shadow != nil {
		return
	}
	s.slice(n)
	s.unwritten = max(s.unwritten, n)
}

// Gradient returns the gradients to who adds to all of them: if add, they hold a sum; if not, they are zeros that were not written,
// and must be overwritten.
func (b *Blob) Gradient() (diff []float32, add bool) {
	s, n := b.storageOf(&b.diff), b.Count()
	if s.unwritten < n {
		return b.Diff(), true
	}
	clear(s.buf[n:s.unwritten])
	s.unwritten = 0
	return s.slice(n), false
}

// write clears the values that are zeros by the note alone.
func (s *storage) write() {
	clear(s.buf[:s.unwritten])
	s.unwritten = 0
}

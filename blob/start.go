package blob

// A sum of gradients starts from zeros. StartDiff only records them in the storage; the zeros are written when somebody reads the gradient.
// A layer that is first to add its gradient can overwrite the memory instead (Gradient), which saves clearing and reading it. All blobs
// that share the storage see the zeros, and only the first addition overwrites.

// StartDiff sets the gradients to zero, as the start of a sum. A slice that Diff returned earlier shows the zeros only after another call
// of Diff.
func (b *Blob) StartDiff() {
	s, n := b.storageOf(&b.diff), b.Count()
	if s.shadow {
		return
	}
	s.slice(n)
	s.unwritten = max(s.unwritten, n)
}

// Gradient returns the gradients to a caller that adds to all of them. If add is false, they count as zeros that were not written, and the
// caller must overwrite them.
func (b *Blob) Gradient() (diff []float32, add bool) {
	s, n := b.storageOf(&b.diff), b.Count()
	if s.unwritten < n {
		return b.Diff(), true
	}
	clear(s.buf[n:s.unwritten])
	s.unwritten = 0
	return s.slice(n), false
}

// write clears the values that only count as zero.
func (s *storage) write() {
	clear(s.buf[:s.unwritten])
	s.unwritten = 0
}

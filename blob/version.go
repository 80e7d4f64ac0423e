package blob

// Whoever keeps something that was computed from a blob's values, such as weights in another order, asks whether they are still the same.
// Slices that Data has returned may be written at any time, so that their values have no version, until somebody promises the contrary (Seal).

// Version stands for the values of a storage at some time.
type Version struct {
	of *storage
	n  uint64
}

// Values returns the Count values to a caller that only reads them.
func (b *Blob) Values() []float32 { return b.storageOf(&b.data).look(b.Count(), false) }

// Seal promises that nobody uses slices of the values that exist now.
func (b *Blob) Seal() {
	s := b.storageOf(&b.data)
	if s.seal(); s.stow != nil {
		s.stow.seen = false
	}
}

// Made returns what belongs to version v of the values, such as weights in another order: it is made once, and found by all blobs that share the storage, until
// the values are others.
func (b *Blob) Made(v Version, make func() any) any {
	s := b.storageOf(&b.data)
	if s.stow == nil {
		s.stow = &stowage{seen: true}
	}
	k := s.stow
	k.Lock()
	defer k.Unlock()
	if k.made == nil || k.from != v.n {
		k.made, k.from = make(), v.n
	}
	return k.made
}

// Freeze promises that nobody will ever write to the values, nor to slices of them that Data returns. Nets that run at the same time may then share
// them, since Data notes nothing, and their version stays.
func (b *Blob) Freeze() {
	s := b.storageOf(&b.data)
	if !b.Stowed() {
		s.slice(b.Count()) // what nets share must be there, or be brought under a lock
	}
	s.seal()
	s.frozen = true
}

// Frozen reports whether the values were frozen.
func (b *Blob) Frozen() bool { return b.storageOf(&b.data).frozen }

// Version returns a version of the values. They are the same as long as it stays equal. It is not ok if they may change unseen: Data has
// returned them, or they lie in memory of somebody else.
func (b *Blob) Version() (v Version, ok bool) {
	s := b.storageOf(&b.data)
	return Version{s, s.version}, !s.open && !s.shadow
}

func (s *storage) seal() {
	if s.stow == nil && !s.shadow {
		s.stow = &stowage{seen: true}
	}
	s.open, s.version = false, s.version+1
}

// expose notes that the values may be written from now on.
func (s *storage) expose() {
	if !s.open && !s.frozen { // core groups may read values at the same time
		s.open = true
	}
}

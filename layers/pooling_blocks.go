package layers

// Blocking implements Blocker: where the kernels do, bottoms and tops may lie in blocks of channels independently of each other. A
// second top wants places in planes.
func (l *pooling) Blocking() Blocking {
	can := l.pool != nil && !l.places && l.pool.Blocks()
	return Blocking{Bottoms: can, Tops: can}
}

// SetBlocked implements Blocker. Bottoms of another shape lie as before, or are refused.
func (l *pooling) SetBlocked(bottoms, tops bool) error {
	s := l.shape
	if s.InBlocks == bottoms && s.OutBlocks == tops {
		return nil
	}
	if err := l.Blocking().check(bottoms, tops); err != nil {
		return err
	}
	s.InBlocks, s.OutBlocks = bottoms, tops
	return l.prepare(s)
}

// Turns implements Turner.
func (l *pooling) Turns() (times, values int) {
	if l.pool == nil {
		return 0, 0
	}
	return l.pool.Turns()
}

// Scratch implements Scratcher.
func (l *pooling) Scratch() (forward, params, bottoms int) {
	if l.pool == nil {
		return 0, 0, 0
	}
	return l.pool.Scratch(), 0, l.pool.Scratch()
}

package layers

import "fmt"

// Blocking implements Blocker: where the kernels do, bottoms and tops may lie in blocks of channels independently of each other. A
// second top wants places in planes.
func (l *pooling) Blocking() Blocking {
	can := l.pool != nil && !l.places && l.pool.Blocks()
	return Blocking{Bottoms: can, Tops: can}
}

// SetBlocked implements Blocker. A bottom of another shape makes all lie plain again.
func (l *pooling) SetBlocked(bottoms, tops bool) error {
	s := l.shape
	if s.InBlocks == bottoms && s.OutBlocks == tops {
		return nil
	}
	if (bottoms || tops) && !l.Blocking().Bottoms {
		return fmt.Errorf("%d channels pooled by windows of %d x %d cannot lie in blocks", s.C, s.KH, s.KW)
	}
	s.InBlocks, s.OutBlocks = bottoms, tops
	return l.prepare(s)
}

// Scratch implements Scratcher.
func (l *pooling) Scratch() (forward, backward int) {
	if l.pool == nil {
		return 0, 0
	}
	return l.pool.Scratch(), l.pool.Scratch()
}

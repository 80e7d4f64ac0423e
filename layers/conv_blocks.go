package layers

// Blocking implements Blocker.
func (l *convolution) Blocking() Blocking {
	if l.mpe() || l.transposed || l.conv == nil {
		return Blocking{}
	}
	in, out := l.conv.Blocks()
	return Blocking{Bottoms: in, Tops: out, Gains: in || out}
}

// SetBlocked implements Blocker.
func (l *convolution) SetBlocked(bottoms, tops bool) error {
	if l.blocked == [2]bool{bottoms, tops} {
		return nil
	}
	l.blocked = [2]bool{bottoms, tops}
	if err := l.conv.SetBlocks(bottoms, tops); err != nil || !l.bias {
		return err
	}
	return l.prepareBiasGrad()
}

// Turns implements Turner.
func (l *convolution) Turns() (times, values int) {
	if l.mpe() || l.conv == nil {
		return 0, 0
	}
	return l.conv.Turns()
}

// Strides implements ThinReader.
func (l *convolution) Strides() (h, w int) {
	if l.mpe() || l.transposed || l.conv == nil {
		return 1, 1
	}
	return l.conv.Strides()
}

// ReadThin implements ThinReader.
func (l *convolution) ReadThin(on bool) error { return l.conv.SetThin(on) }

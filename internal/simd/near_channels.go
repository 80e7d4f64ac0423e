package simd

// NearChannels is a block of channels X between those below and above it; all are the same pixels.
type NearChannels struct{ Below, X, Above []float32 }

// HasNear reports whether NearSquares and MulAddNear can do with windows of so many channels.
func HasNear(size int) bool { return size == 3 || size == 5 }

// NearSquares sets d[i] = scale*Σ x² + shift, the sum being over the window of size channels around i's. d must not be among them.
func NearSquares(d []float32, c NearChannels, size int, scale, shift float32) {
	c = c.of(d)
	if l := active; l.width > 0 && len(d) > 0 {
		l.nearSquares(size, &d[0], &c.Below[0], &c.X[0], &c.Above[0], len(d), scale, shift)
		return
	}
	for i := range d {
		var sum float32
		for k := i - size/2; k <= i+size/2; k++ {
			v := c.at(i, k)
			sum += float32(v * v)
		}
		d[i] = float32(sum*scale) + shift
	}
}

// MulAddNear adds scale*a[i]*Σ x to d[i], the sum being over the window of size channels around i's. d must not be among them.
func MulAddNear(d, a []float32, c NearChannels, size int, scale float32) {
	c, a = c.of(d), a[:len(d)]
	if l := active; l.width > 0 && len(d) > 0 {
		l.mulAddNear(size, &d[0], &a[0], &c.Below[0], &c.X[0], &c.Above[0], len(d), scale)
		return
	}
	for i := range d {
		var sum float32
		for k := i - size/2; k <= i+size/2; k++ {
			sum += c.at(i, k)
		}
		d[i] += float32(a[i]*scale) * sum
	}
}

// of returns the blocks of as many values as d has.
func (c NearChannels) of(d []float32) NearChannels {
	n := len(wholePixels(d))
	return NearChannels{c.Below[:n], c.X[:n], c.Above[:n]}
}

// at returns the value of i's pixel whose channel is k-i above i's.
func (c NearChannels) at(i, k int) float32 {
	switch first := i - i%BlockLanes; {
	case k < first:
		return c.Below[k+BlockLanes]
	case k >= first+BlockLanes:
		return c.Above[k-BlockLanes]
	}
	return c.X[k]
}

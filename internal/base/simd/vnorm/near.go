package vnorm

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// NearChannels is a block of channels X with the blocks below and above it, for the same pixels.
type NearChannels struct{ Below, X, Above []float32 }

// HasNear reports whether NearSquares and MulAddNear have a kernel for windows of size channels.
func HasNear(size int) bool { return size == 3 || size == 5 }

// NearSquares sets d[i] = scale*Σ x² + shift over the window of size channels around i's channel. d must be none of the blocks.
func NearSquares(d []float32, c NearChannels, size int, scale, shift float32) {
	c = c.of(d)
	if near := have.NearSquares[size]; near != none && len(d) > 0 {
		near.run(&d[0], &c.Below[0], &c.X[0], &c.Above[0], len(d), scale, shift)
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

// MulAddNear adds scale*a[i]*Σ x to d[i], over the window of size channels around i's channel. d must be none of the blocks.
func MulAddNear(d, a []float32, c NearChannels, size int, scale float32) {
	c, a = c.of(d), a[:len(d)]
	if near := have.MulAddNear[size]; near != none && len(d) > 0 {
		near.run(&d[0], &a[0], &c.Below[0], &c.X[0], &c.Above[0], len(d), scale)
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

// of returns the blocks, cut to the length of d.
func (c NearChannels) of(d []float32) NearChannels {
	n := len(wholePixels(d))
	return NearChannels{c.Below[:n], c.X[:n], c.Above[:n]}
}

// at returns the value of i's pixel in the channel that is k-i above i's channel.
func (c NearChannels) at(i, k int) float32 {
	switch first := i - i%isa.BlockLanes; {
	case k < first:
		return c.Below[k+isa.BlockLanes]
	case k >= first+isa.BlockLanes:
		return c.Above[k-isa.BlockLanes]
	}
	return c.X[k]
}

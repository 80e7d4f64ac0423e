package augment

import "math/rand/v2"

// Draws is the sequence of random numbers for one image. It depends on the seed and the image's position in the stream only.
type Draws struct{ source rand.PCG }

// NewDraws returns the draws for item number item.
func NewDraws(seed, item uint64) *Draws {
	d := &Draws{}
	d.source.Seed(seed, item)
	return d
}

// Uniform returns a number from lo up to but excluding hi, or lo if they are equal.
func (d *Draws) Uniform(lo, hi float32) float32 {
	u := float32(d.source.Uint64()>>40) / (1 << 24)
	return lo + float32(u*(hi-lo))
}

// Below returns an integer from 0 to n-1.
func (d *Draws) Below(n int) int {
	return int(d.source.Uint64() >> 32 * uint64(n) >> 32)
}

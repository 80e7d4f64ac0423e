package shapes

import (
	"math"
	"math/rand/v2"
)

// colour is blue, green and red, each in [0, 1].
type colour [Channels]float64

// minContrast is the least distance between the main colours of a shape and of its ground.
const minContrast = 0.35

// distance is the sum of the channels' absolute differences.
func distance(a, b colour) float64 {
	return math.Abs(a[0]-b[0]) + math.Abs(a[1]-b[1]) + math.Abs(a[2]-b[2])
}

func (c *colour) add(share float64, other colour) {
	for i, v := range other {
		c[i] += share * v
	}
}

type pattern int

const (
	plain pattern = iota
	stripes
	checks
	dots
	patterns
)

// texture is a pattern of two related colours. The directions of its two waves are perpendicular: u = kx x + ky y + pu, v = kx y
// - ky x + pv.
type texture struct {
	pattern        pattern
	main, second   colour
	kx, ky, pu, pv float64
}

func newTexture(rng *rand.Rand) texture {
	t := texture{pattern: pattern(rng.IntN(int(patterns)))}
	contrast := uniform(rng, 0.1, 0.4)
	for c := range t.main {
		t.main[c] = rng.Float64()
		t.second[c] = t.main[c] + contrast*uniform(rng, -1, 1)
	}
	sin, cos := math.Sincos(uniform(rng, 0, math.Pi))
	k := uniform(rng, 0.5, 1.8)
	t.kx, t.ky = k*cos, k*sin
	t.pu, t.pv = uniform(rng, 0, 2*math.Pi), uniform(rng, 0, 2*math.Pi)
	return t
}

func (t *texture) at(x, y int) colour {
	if t.isSecond(float64(x), float64(y)) {
		return t.second
	}
	return t.main
}

func (t *texture) isSecond(x, y float64) bool {
	if t.pattern == plain {
		return false
	}
	u := math.Sin(t.kx*x + t.ky*y + t.pu)
	if t.pattern == stripes {
		return u > 0
	}
	v := math.Sin(t.kx*y - t.ky*x + t.pv)
	if t.pattern == checks {
		return u*v > 0
	}
	return u*v > 0.5
}

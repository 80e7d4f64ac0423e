package digits

import (
	"math"
	"math/rand/v2"
)

// warp maps points of an outline to pixels: (x, y) -> affine(x, y) + bend. The bend's shift along x is a sine of y, its shift
// along y a sine of x.
type warp struct {
	xx, xy, yx, yy, x0, y0 float64
	bendX, bendY           wave
}

type wave struct{ amplitude, frequency, phase float64 }

func (w wave) at(v float64) float64 { return w.amplitude * math.Sin(w.frequency*v+w.phase) }

var identity = warp{xx: 1, yy: 1}

// newWarp draws a random warp for outlines one unit high around the origin: rotated, sheared, scaled, shifted by up to 2.5 pixels
// and bent by up to 1.2 pixels.
func newWarp(rng *rand.Rand) warp {
	sin, cos := math.Sincos(uniform(rng, -0.27, 0.27))
	shear := uniform(rng, -0.25, 0.25)
	height := uniform(rng, 16.5, 22)
	ratio := uniform(rng, 0.8, 1.25)
	bend := func() wave { return wave{uniform(rng, 0, 1.2), uniform(rng, 3, 8), uniform(rng, 0, 2*math.Pi)} }
	return warp{
		xx: height * ratio * cos, xy: height * (ratio*shear*cos - sin),
		yx: height * ratio * sin, yy: height * (ratio*shear*sin + cos),
		x0: Size/2 + uniform(rng, -2.5, 2.5), y0: Size/2 + uniform(rng, -2.5, 2.5),
		bendX: bend(), bendY: bend(),
	}
}

func (w *warp) apply(p point) point {
	x, y := float64(p.x), float64(p.y)
	return point{
		float32(w.xx*x + w.xy*y + w.x0 + w.bendX.at(y)),
		float32(w.yx*x + w.yy*y + w.y0 + w.bendY.at(x)),
	}
}

// crossingLine returns a thin bar at a random place, in pixels: a distracting stroke outside the digit.
func crossingLine(rng *rand.Rand) []point {
	sin, cos := math.Sincos(uniform(rng, 0, math.Pi))
	offset := Size * uniform(rng, -0.4, 0.4)
	long, half := Size*uniform(rng, 0.15, 0.35), uniform(rng, 0.3, 0.6)
	corner := func(along, across float64) point {
		u, v := along*long, offset+across*half
		return point{float32(Size/2 + u*cos - v*sin), float32(Size/2 + u*sin + v*cos)}
	}
	return []point{corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)}
}

// restroke makes strokes thicker or thinner: it blurs the plane and thresholds it at a random level. A low threshold dilates, a
// high one erodes.
func (p *plane) restroke(rng *rand.Rand) {
	cut, gain := uniform(rng, 0.1, 0.35), uniform(rng, 1.8, 4)
	sharp := *p
	for y := range Size {
		for x := range Size {
			v := sharp.blurred(x, y)
			p[y*Size+x] = min(1, max(0, gain*(v-cut)+0.1*v))
		}
	}
}

// blurred is the weighted mean of the 3x3 pixels around (x, y) inside the image, with weights 1/(1+distance^2).
func (p *plane) blurred(x, y int) float64 {
	var sum, weight float64
	for v := max(0, y-1); v <= min(Size-1, y+1); v++ {
		for u := max(0, x-1); u <= min(Size-1, x+1); u++ {
			w := blurWeights[(u-x)*(u-x)+(v-y)*(v-y)]
			sum += w * p[v*Size+u]
			weight += w
		}
	}
	return sum / weight
}

// blurWeights are indexed by the squared distance.
var blurWeights = [3]float64{1, 1. / 2, 1. / 3}

// addNoise adds Gaussian noise of up to a tenth of the ink.
func (p *plane) addNoise(rng *rand.Rand) {
	deviation := uniform(rng, 0, 0.1)
	for i := range p {
		p[i] += deviation * rng.NormFloat64()
	}
}

// hide darkens a small square.
func (p *plane) hide(rng *rand.Rand) {
	x0, y0, side := rng.IntN(Size), rng.IntN(Size), 2+rng.IntN(3)
	for y := y0; y < min(Size, y0+side); y++ {
		for x := x0; x < min(Size, x0+side); x++ {
			p[y*Size+x] *= 0.2
		}
	}
}

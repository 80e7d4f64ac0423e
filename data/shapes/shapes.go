// Package shapes renders labelled 32x32 colour images of textured shapes in ten classes: discs, squares, triangles,
// stars, crosses, rings, crescents, hexagons, hearts and arrows, of any colour on any ground, turned, stretched and noisy.
// Colour and texture say nothing of the class, so that a linear classifier does badly.
//
// Image i of a seed is a pure function of both.
package shapes

import (
	"math"
	"math/rand/v2"
)

// Size is the width and height of an image, Channels the planes: blue, green, red, as Caffe has them.
const (
	Size     = 32
	Channels = 3
)

// Names are the classes.
var Names = [...]string{"disc", "square", "triangle", "star", "cross", "ring", "crescent", "hexagon", "heart", "arrow"}

// Image is one rendered shape, channel by channel, row by row.
type Image struct {
	Label  int
	Pixels [Channels * Size * Size]byte
}

// inside reports whether a point, in the shape's own frame of about [-1, 1], belongs to a class's shape.
var inside = [len(Names)]func(x, y float64) bool{
	func(x, y float64) bool { return x*x+y*y < 0.8 },
	func(x, y float64) bool { return math.Abs(x) < 0.78 && math.Abs(y) < 0.78 },
	func(x, y float64) bool { return y < 0.7 && y > -0.9 && math.Abs(x) < (y+0.9)*0.6 },
	func(x, y float64) bool {
		r, a := math.Hypot(x, y), math.Mod(math.Atan2(x, -y)+2*math.Pi, 2*math.Pi/5)
		return r < 0.42/math.Cos(math.Abs(a-math.Pi/5)-math.Pi/5)*0.95 && r < 1 || r < 1-1.15*math.Min(a, 2*math.Pi/5-a)
	},
	func(x, y float64) bool {
		return math.Abs(x) < 0.28 && math.Abs(y) < 0.9 || math.Abs(y) < 0.28 && math.Abs(x) < 0.9
	},
	func(x, y float64) bool { r := x*x + y*y; return r < 0.85 && r > 0.3 },
	func(x, y float64) bool { return x*x+y*y < 0.85 && (x-0.45)*(x-0.45)+y*y > 0.5 },
	func(x, y float64) bool {
		x, y = math.Abs(x), math.Abs(y)
		return x < 0.8 && x*0.5+y*0.866 < 0.8
	},
	func(x, y float64) bool {
		x, y = math.Abs(x)*1.15, -y*1.15+0.1
		return (x*x+y*y-0.55)*(x*x+y*y-0.55)*(x*x+y*y-0.55) < x*x*y*y*y
	},
	func(x, y float64) bool {
		return y > -0.1 && y < 0.9 && math.Abs(x) < 0.22 || y <= 0 && y > -0.9 && math.Abs(x) < (y+0.9)*0.85
	},
}

type colour [Channels]float64

// Render writes image index of a seed to out.
func Render(seed, index uint64, out *Image) {
	rng := rand.New(rand.NewPCG(seed, index))
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	out.Label = rng.IntN(len(Names))
	sin, cos := math.Sincos(uniform(-0.3, 0.3))
	rx, ry := uniform(8, 14), uniform(8, 14)
	cx, cy := Size/2+uniform(-3, 3), Size/2+uniform(-3, 3)
	front, back := newTexture(rng), newTexture(rng)
	for dist(front.a, back.a) < 0.35 {
		front = newTexture(rng)
	}
	noise := uniform(0.01, 0.09)
	shape := inside[out.Label]
	for y := range Size {
		for x := range Size {
			cover := 0.0
			for s := range 4 {
				u, v := float64(x)+0.25+0.5*float64(s%2)-cx, float64(y)+0.25+0.5*float64(s/2)-cy
				if shape((cos*u+sin*v)/rx, (cos*v-sin*u)/ry) {
					cover += 0.25
				}
			}
			f, b := front.at(x, y), back.at(x, y)
			for c := range Channels {
				value := cover*f[c] + (1-cover)*b[c] + noise*rng.NormFloat64()
				out.Pixels[(c*Size+y)*Size+x] = byte(min(255, max(0, 255*value)))
			}
		}
	}
}

func dist(a, b colour) float64 {
	return math.Abs(a[0]-b[0]) + math.Abs(a[1]-b[1]) + math.Abs(a[2]-b[2])
}

// texture is a pattern of two related colours: plain, stripes, checks or dots.
type texture struct {
	kind           int
	a, b           colour
	kx, ky, px, py float64
}

func newTexture(rng *rand.Rand) texture {
	t := texture{kind: rng.IntN(4)}
	contrast := 0.1 + 0.3*rng.Float64()
	for c := range t.a {
		t.a[c] = rng.Float64()
		t.b[c] = t.a[c] + contrast*(rng.Float64()*2-1)
	}
	angle, k := rng.Float64()*math.Pi, 0.5+1.3*rng.Float64()
	t.kx, t.ky = k*math.Cos(angle), k*math.Sin(angle)
	t.px, t.py = rng.Float64()*2*math.Pi, rng.Float64()*2*math.Pi
	return t
}

func (t *texture) at(x, y int) colour {
	u, v := t.kx*float64(x)+t.ky*float64(y)+t.px, t.kx*float64(y)-t.ky*float64(x)+t.py
	second := false
	switch t.kind {
	case 1:
		second = math.Sin(u) > 0
	case 2:
		second = math.Sin(u)*math.Sin(v) > 0
	case 3:
		second = math.Sin(u)*math.Sin(v) > 0.5
	}
	if second {
		return t.b
	}
	return t.a
}

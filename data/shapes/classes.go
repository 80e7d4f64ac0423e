package shapes

import "math"

// class is one kind of shape. inside reports whether a point belongs to the shape. The shape's own frame spans about [-1, 1] on
// each axis, y downwards.
type class struct {
	name   string
	inside func(x, y float64) bool
}

// classes in the order of their labels.
var classes = [...]class{
	{"disc", func(x, y float64) bool { return x*x+y*y < 0.8 }},
	{"square", func(x, y float64) bool { return math.Abs(x) < 0.78 && math.Abs(y) < 0.78 }},
	{"triangle", func(x, y float64) bool { return y < 0.7 && math.Abs(x) < 0.6*(y+0.9) }},
	{"star", star},
	{"cross", func(x, y float64) bool { return bar(x, y) || bar(y, x) }},
	{"ring", func(x, y float64) bool { r2 := x*x + y*y; return r2 > 0.3 && r2 < 0.85 }},
	{"crescent", func(x, y float64) bool { return x*x+y*y < 0.85 && (x-0.45)*(x-0.45)+y*y > 0.5 }},
	{"hexagon", hexagon},
	{"heart", heart},
	{"arrow", arrow},
}

// Classes returns the names of the classes in the order of their labels.
func Classes() (names []string) {
	for _, c := range classes {
		names = append(names, c.name)
	}
	return names
}

func bar(x, y float64) bool { return math.Abs(x) < 0.28 && math.Abs(y) < 0.9 }

// starWedge is the angle between a point of the star and the next inner corner. (starX, starY) is this corner, in axes whose
// first runs from the centre to the point.
const starWedge = math.Pi / 5

var starX, starY = 0.42 * math.Cos(starWedge), 0.42 * math.Sin(starWedge)

// star has five points at distance 1, one of them upwards, and inner corners at distance 0.42. By symmetry it is a single edge,
// from a point to the next inner corner, repeated ten times.
func star(x, y float64) bool {
	radius := math.Sqrt(x*x + y*y)
	if radius > 1 {
		return false
	}
	sin, cos := math.Sincos(math.Abs(math.Remainder(math.Atan2(x, -y), 2*starWedge)))
	return (radius*cos-1)*starY-radius*sin*(starX-1) < 0
}

// hexagon is regular, with corners on the left and right ends of the horizontal axis.
func hexagon(x, y float64) bool {
	x, y = math.Abs(x), math.Abs(y)
	return x < 0.8 && 0.5*x+0.866*y < 0.8
}

// heart is the curve (x^2 + y^2 - a)^3 = x^2 y^3, y upwards.
func heart(x, y float64) bool {
	x, y = 1.15*x, 0.1-1.15*y
	d := x*x + y*y - 0.55
	return d*d*d < x*x*y*y*y
}

// arrow points upwards: a head over a shaft.
func arrow(x, y float64) bool {
	x = math.Abs(x)
	return y > -0.1 && y < 0.9 && x < 0.22 || y <= 0 && x < 0.85*(y+0.9)
}

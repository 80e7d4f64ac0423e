// Package shapes renders labelled 32x32 colour images of textured shapes in ten classes: discs, squares, triangles, stars,
// crosses, rings, crescents, hexagons, hearts and arrows. Render makes an Image of one shape, RenderScene a Scene of several, and
// RenderPicture a Picture of any size with the boxes of its objects.
//
// Shapes are rotated, stretched, shifted and noisy, in any colour on any ground. Colour and texture do not depend on the class,
// and a shape may be lighter or darker than its ground. No single pixel therefore speaks for a class: a linear classifier stays
// near chance, while a small convolutional net does well.
//
// Image i of a seed is a pure function of i and the seed. Any number of goroutines can therefore render a set, always with the
// same result.
package shapes

import (
	"math"
	"math/rand/v2"
)

// Size is the width and height of an image, Channels its number of planes: blue, green, red, in Caffe's order.
const (
	Size     = 32
	Channels = 3
)

// Image is one rendered shape, plane by plane, row by row. Label is an index into Classes.
type Image struct {
	Label  int
	Pixels [Channels * Size * Size]byte
}

// Render writes image index of a seed to out.
func Render(seed, index uint64, out *Image) {
	rng := rand.New(rand.NewPCG(seed, index))
	out.Label = rng.IntN(len(classes))
	shape := classes[out.Label].inside
	place := newFrame(rng)
	front, back := newTexture(rng), newTexture(rng)
	for distance(front.main, back.main) < minContrast {
		front = newTexture(rng)
	}
	noise := uniform(rng, 0.01, 0.09)
	for y := range Size {
		for x := range Size {
			cover := place.cover(x, y, shape)
			var value colour
			if cover > 0 {
				value.add(cover, front.at(x, y))
			}
			if cover < 1 {
				value.add(1-cover, back.at(x, y))
			}
			for c, v := range value {
				out.Pixels[(c*Size+y)*Size+x] = byte(min(255, max(0, 255*(v+noise*rng.NormFloat64()))))
			}
		}
	}
}

func uniform(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// frame places a shape in an image: the shape's own axes, about [-1, 1], are rotated by an angle, scaled to the radii and moved
// to the centre, in pixels.
type frame struct{ sin, cos, rx, ry, cx, cy float64 }

func newFrame(rng *rand.Rand) frame {
	var f frame
	f.sin, f.cos = math.Sincos(uniform(rng, -0.3, 0.3))
	f.rx, f.ry = uniform(rng, 8, 14), uniform(rng, 8, 14)
	f.cx, f.cy = Size/2+uniform(rng, -3, 3), Size/2+uniform(rng, -3, 3)
	return f
}

// cover is the share of a pixel inside a shape, estimated at 2x2 points.
func (f *frame) cover(x, y int, inside func(x, y float64) bool) float64 {
	share := 0.0
	for s := range 4 {
		u, v := float64(x)+0.25+0.5*float64(s%2)-f.cx, float64(y)+0.25+0.5*float64(s/2)-f.cy
		if inside((f.cos*u+f.sin*v)/f.rx, (f.cos*v-f.sin*u)/f.ry) {
			share += 0.25
		}
	}
	return share
}

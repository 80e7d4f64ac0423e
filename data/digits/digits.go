// Package digits renders labelled 28x28 images of digits, in the manner of MNIST: light strokes on dark ground, centred,
// but slanted, stretched, bent, thick or thin, noisy and sometimes crossed by a line.
//
// Image i of a seed is a pure function of both, so that a set can be rendered by any number of goroutines and is
// reproducible. The outlines come from the Go fonts (Bigelow and Holmes) and the Liberation fonts.
package digits

import (
	"image"
	"image/draw"
	"math"
	"math/rand/v2"
	"sync"

	"golang.org/x/image/vector"
)

// Size is the width and height of an image.
const Size = 28

// Image is one rendered digit: Size x Size grey values, row by row, 0 for the ground.
type Image struct {
	Label  int
	Pixels [Size * Size]byte
}

// Renderer renders digits. It may be used by several goroutines, each with its own.
type Renderer struct {
	seed   uint64
	raster *vector.Rasterizer
	alpha  *image.Alpha
	work   [2][Size * Size]float64
}

// NewRenderer returns a renderer for a seed.
func NewRenderer(seed uint64) *Renderer {
	return &Renderer{seed: seed, raster: vector.NewRasterizer(Size, Size), alpha: image.NewAlpha(image.Rect(0, 0, Size, Size))}
}

var loadGlyphs = sync.OnceValue(glyphs)

// Render writes image index to out.
func (r *Renderer) Render(index uint64, out *Image) {
	rng := rand.New(rand.NewPCG(r.seed, index))
	out.Label = rng.IntN(10)
	fonts := loadGlyphs()
	r.draw(fonts[rng.IntN(len(fonts))][out.Label], newWarp(rng), rng)
	r.stroke(rng)
	r.spoil(rng)
	ground, ink := 20*rng.Float64(), 150+105*rng.Float64()
	for i, v := range r.work[0] {
		out.Pixels[i] = byte(min(255, max(0, ground+v*(ink-ground))))
	}
}

// draw rasterises an outline through a warp into work[0], in [0, 1].
func (r *Renderer) draw(g glyph, w warp, rng *rand.Rand) {
	r.raster.Reset(Size, Size)
	for _, contour := range g {
		for i, p := range contour {
			x, y := w.apply(p)
			if i == 0 {
				r.raster.MoveTo(x, y)
			} else {
				r.raster.LineTo(x, y)
			}
		}
		r.raster.ClosePath()
	}
	if rng.IntN(4) == 0 {
		r.crossingLine(rng)
	}
	clear(r.alpha.Pix)
	r.raster.DrawOp = draw.Src
	r.raster.Draw(r.alpha, r.alpha.Bounds(), image.Opaque, image.Point{})
	for i, a := range r.alpha.Pix {
		r.work[0][i] = float64(a) / 255
	}
}

// crossingLine adds a thin line through the image: a stroke that does not belong to the digit.
func (r *Renderer) crossingLine(rng *rand.Rand) {
	angle, offset := rng.Float64()*math.Pi, (rng.Float64()-0.5)*Size*0.8
	dx, dy := math.Cos(angle), math.Sin(angle)
	cx, cy := Size/2-dy*offset, Size/2+dx*offset
	length, half := Size*(0.2+0.3*rng.Float64()), 0.35+0.35*rng.Float64()
	corner := func(along, across float64) (float32, float32) {
		return float32(cx + along*length*dx - across*half*dy), float32(cy + along*length*dy + across*half*dx)
	}
	r.raster.MoveTo(corner(-1, -1))
	r.raster.LineTo(corner(1, -1))
	r.raster.LineTo(corner(1, 1))
	r.raster.LineTo(corner(-1, 1))
	r.raster.ClosePath()
}

// stroke blurs the digit and cuts the result at a random level: low cuts make strokes thick, high ones thin.
func (r *Renderer) stroke(rng *rand.Rand) {
	from, to := &r.work[0], &r.work[1]
	for y := range Size {
		for x := range Size {
			var sum, weight float64
			for dy := max(0, y-1); dy <= min(Size-1, y+1); dy++ {
				for dx := max(0, x-1); dx <= min(Size-1, x+1); dx++ {
					w := 1 / float64(1+(dx-x)*(dx-x)+(dy-y)*(dy-y))
					sum += w * from[dy*Size+dx]
					weight += w
				}
			}
			to[y*Size+x] = sum / weight
		}
	}
	cut, gain := 0.12+0.33*rng.Float64(), 1.5+2.5*rng.Float64()
	for i, v := range to {
		from[i] = min(1, max(0, (v-cut)*gain+0.1*v))
	}
}

// spoil adds noise, and now and then a dark patch over a part of the digit.
func (r *Renderer) spoil(rng *rand.Rand) {
	noise := 0.14 * rng.Float64()
	for i := range r.work[0] {
		r.work[0][i] += noise * rng.NormFloat64()
	}
	if rng.IntN(5) != 0 {
		return
	}
	x0, y0, size := rng.IntN(Size), rng.IntN(Size), 2+rng.IntN(4)
	for y := y0; y < min(Size, y0+size); y++ {
		for x := x0; x < min(Size, x0+size); x++ {
			r.work[0][y*Size+x] *= 0.2
		}
	}
}

// warp maps points of an outline, which lie in a box of height 1 around the origin, to pixels: an affine map and a smooth
// bend on top.
type warp struct {
	xx, xy, yx, yy, x0, y0 float64
	bend                   [2][3]float64 // amplitude, frequency and phase of the shift along x and y
}

func newWarp(rng *rand.Rand) warp {
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	angle, shear := uniform(-0.35, 0.35), uniform(-0.35, 0.35)
	height, ratio := uniform(14, 21), uniform(0.75, 1.3)
	sin, cos := math.Sincos(angle)
	w := warp{
		xx: height * ratio * cos, xy: height * (ratio*shear*cos - sin),
		yx: height * ratio * sin, yy: height * (ratio*shear*sin + cos),
		x0: Size/2 + uniform(-3, 3), y0: Size/2 + uniform(-3, 3),
	}
	for i := range w.bend {
		w.bend[i] = [3]float64{uniform(0, 1.4), uniform(3, 8), uniform(0, 2*math.Pi)}
	}
	return w
}

func (w warp) apply(p point) (x, y float32) {
	px, py := float64(p.x), float64(p.y)
	x64 := w.xx*px + w.xy*py + w.x0 + w.bend[0][0]*math.Sin(w.bend[0][1]*py+w.bend[0][2])
	y64 := w.yx*px + w.yy*py + w.y0 + w.bend[1][0]*math.Sin(w.bend[1][1]*px+w.bend[1][2])
	return float32(x64), float32(y64)
}

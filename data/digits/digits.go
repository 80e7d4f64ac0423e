// Package digits renders labelled 28x28 images of digits in the manner of MNIST: light strokes on dark ground, roughly centred.
// The digits are slanted, stretched, bent, thick or thin, and noisy; some are crossed by a line or partly hidden. A Renderer
// renders them.
//
// The set is hard for a linear classifier: trained on 20,000 images, softmax regression on the pixels classifies some 86 % of
// 4,000 test images correctly. LeNet exceeds 99 %.
//
// Image i of a seed is a pure function of i and the seed. Any number of goroutines can therefore render a set, always with the
// same result. The outlines come from the Go fonts (Bigelow and Holmes) and the Liberation fonts.
package digits

import (
	"image"
	"image/draw"
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

// plane is an image under construction: 0 for the ground, 1 for ink.
type plane [Size * Size]float64

// Renderer renders the digits of one seed. It holds work buffers, so every goroutine needs its own Renderer.
type Renderer struct {
	seed   uint64
	raster *vector.Rasterizer
	alpha  *image.Alpha
	work   plane
}

// NewRenderer returns a renderer for a seed.
func NewRenderer(seed uint64) *Renderer {
	return &Renderer{seed: seed, raster: vector.NewRasterizer(Size, Size), alpha: image.NewAlpha(image.Rect(0, 0, Size, Size))}
}

var loadGlyphs = sync.OnceValue(glyphs)

// Render writes image index of the renderer's seed to out.
func (r *Renderer) Render(index uint64, out *Image) {
	rng := rand.New(rand.NewPCG(r.seed, index))
	r.draw(rng, rng.IntN(10), out)
}

// RenderPair writes pair index of the renderer's seed to a and b. Half of the pairs show the same digit twice, the others two
// different digits.
func (r *Renderer) RenderPair(index uint64, a, b *Image) {
	rng := rand.New(rand.NewPCG(r.seed, index))
	same := rng.IntN(2) == 0
	first := rng.IntN(10)
	second := (first + 1 + rng.IntN(9)) % 10
	if same {
		second = first
	}
	r.draw(rng, first, a)
	r.draw(rng, second, b)
}

// draw renders an image of a digit.
func (r *Renderer) draw(rng *rand.Rand, label int, out *Image) {
	out.Label = label
	fonts := loadGlyphs()
	r.raster.Reset(Size, Size)
	r.outline(fonts[rng.IntN(len(fonts))][out.Label], newWarp(rng))
	if rng.IntN(8) == 0 {
		r.outline(glyph{crossingLine(rng)}, identity)
	}
	r.rasterise()
	r.work.restroke(rng)
	r.work.addNoise(rng)
	if rng.IntN(8) == 0 {
		r.work.hide(rng)
	}
	ground, ink := uniform(rng, 0, 20), uniform(rng, 160, 255)
	for i, v := range r.work {
		out.Pixels[i] = byte(min(255, max(0, ground+v*(ink-ground))))
	}
}

func uniform(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// outline warps the closed contours of a glyph and adds them to the paths to fill.
func (r *Renderer) outline(g glyph, w warp) {
	for _, contour := range g {
		for i, p := range contour {
			if p = w.apply(p); i == 0 {
				r.raster.MoveTo(p.x, p.y)
			} else {
				r.raster.LineTo(p.x, p.y)
			}
		}
		r.raster.ClosePath()
	}
}

// rasterise fills the outlines into work, with anti-aliased edges.
func (r *Renderer) rasterise() {
	r.raster.DrawOp = draw.Src
	r.raster.Draw(r.alpha, r.alpha.Bounds(), image.Opaque, image.Point{})
	for i, a := range r.alpha.Pix {
		r.work[i] = float64(a) / 255
	}
}

package conv

import "github.com/swcaffe/swcaffe/cpe/kernel/tiling"

// pointSpan are pixels that are worked on at a time, of those that count: n from the first on of an image, or all of several images.
type pointSpan struct{ image, images, first, n int }

// pointSpans cut the pixels of some images into spans.
type pointSpans struct {
	all, pixels int // images, and pixels of each
	n, images   int // of a span
	bands       int // spans of an image
}

// newPointSpans cuts into spans of at most fit pixels: multiples of unit, if they are part of an image. There are as many as groups, if
// pixels suffice, and if the spans are whole images, a multiple of that.
func newPointSpans(images, pixels, fit, unit, groups int) pointSpans {
	fit = max(unit, min(fit, tiling.Blocks(images*pixels, groups)))
	p := pointSpans{all: images, pixels: pixels, n: tiling.Even(pixels, fit, unit), images: 1}
	if p.n >= pixels {
		parts := tiling.Blocks(images, max(1, fit/pixels))
		p.n, p.images = pixels, tiling.Blocks(images, tiling.Blocks(parts, groups)*groups)
	}
	p.bands = tiling.Blocks(pixels, p.n)
	return p
}

// count is the number of spans.
func (p *pointSpans) count() int { return tiling.Blocks(p.all, p.images) * p.bands }

// span returns span i.
func (p *pointSpans) span(i int) pointSpan {
	if p.bands > 1 {
		first := i % p.bands * p.n
		return pointSpan{i / p.bands, 1, first, min(p.n, p.pixels-first)}
	}
	first := i * p.images
	return pointSpan{first, min(p.images, p.all-first), 0, p.n}
}

package conv

import "github.com/swcaffe/swcaffe/cpe/kernel/tiling"

// pointSpan is a run of pixels that are processed together: n pixels of one image, starting with first, or all pixels of several images.
type pointSpan struct{ image, images, first, n int }

// pointSpans cuts the pixels of some images into spans.
type pointSpans struct {
	all, pixels int // number of images, and pixels of each
	n, images   int // pixels and images of a span
	bands       int // spans in an image
}

// newPointSpans cuts images into spans of at most fit pixels. Spans that are parts of an image are multiples of unit pixels. There are at
// least as many spans as groups, if pixels suffice. If spans are whole images, their number is a multiple of groups.
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

package tensor

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Span is a run of pixels that are processed together: n pixels of one image, starting with first, or all pixels of several images.
type Span struct{ Image, Images, First, N int }

// Spans cuts the pixels of some images into spans.
type Spans struct {
	all, pixels int // number of images, and pixels of each
	N, Images   int // pixels and images of a span
	bands       int // spans in an image
}

// NewSpans cuts images into spans of at most fit pixels. Spans that are parts of an image are rounded up to multiples of unit pixels. There are at
// least as many spans as groups, if pixels suffice, and as near as that allows a multiple of groups.
func NewSpans(images, pixels, fit, unit, groups int) Spans {
	fit = max(unit, min(fit, tiling.Blocks(images*pixels, groups)))
	p := Spans{all: images, pixels: pixels, N: tiling.Even(pixels, fit, unit), Images: 1}
	if bands := tiling.Blocks(pixels, p.N); bands > 1 {
		for images*bands%groups > 0 {
			bands++
		}
		p.N = tiling.Even(pixels, tiling.Blocks(pixels, bands), unit)
	}
	if p.N >= pixels {
		parts := tiling.Blocks(images, max(1, fit/pixels))
		p.N, p.Images = pixels, tiling.Blocks(images, tiling.Blocks(parts, groups)*groups)
	}
	p.bands = tiling.Blocks(pixels, p.N)
	return p
}

// String describes the cut.
func (p Spans) String() string {
	if p.bands > 1 {
		return fmt.Sprintf("spans of %d of %d pixels", p.N, p.pixels)
	}
	return fmt.Sprintf("spans of %d whole images", p.Images)
}

// Count is the number of spans.
func (p *Spans) Count() int { return tiling.Blocks(p.all, p.Images) * p.bands }

// At returns span i.
func (p *Spans) At(i int) Span {
	if p.bands > 1 {
		first := i % p.bands * p.N
		return Span{i / p.bands, 1, first, min(p.N, p.pixels-first)}
	}
	first := i * p.Images
	return Span{first, min(p.Images, p.all-first), 0, p.N}
}

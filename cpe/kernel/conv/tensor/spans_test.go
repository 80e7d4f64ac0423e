package tensor_test

import (
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestSpans: random cuts cover every pixel once and keep to the limits, and cores have equal numbers of spans where units allow it.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		images, pixels, fit, unit, groups := 1+r.IntN(9), 1+r.IntN(4000), 1+r.IntN(2000), 1+r.IntN(20), 1+r.IntN(70)
		spans := tensor.NewSpans(images, pixels, fit, unit, groups)
		seen := make([]bool, images*pixels)
		for i := range spans.Count() {
			s := spans.At(i)
			if s.Images > 1 && s.Images*s.N > max(fit, pixels) || s.Images == 1 && s.N < pixels && s.N >= fit+unit {
				t.Fatalf("%d images of %d pixels: span %d is %+v, where %d fit, in units of %d", images, pixels, i, s, fit, unit)
			}
			for image := range s.Images {
				for p := range s.N {
					at := (s.Image+image)*pixels + s.First + p
					if seen[at] {
						t.Fatalf("%d images of %d pixels, %v: span %d has pixel %d again", images, pixels, spans, i, at)
					}
					seen[at] = true
				}
			}
		}
		for at, in := range seen {
			if !in {
				t.Fatalf("%d images of %d pixels, %v: pixel %d is in no span", images, pixels, spans, at)
			}
		}
		if n := spans.Count(); unit == 1 && spans.N >= 4*groups && spans.N < pixels && tiling.Blocks(n, groups)*groups-n >= images {
			t.Fatalf("%d images of %d pixels, %v: %d spans for %d groups", images, pixels, spans, n, groups)
		}
	}
}

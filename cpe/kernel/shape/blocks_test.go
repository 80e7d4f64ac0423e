package shape_test

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

func TestBlocks(t *testing.T) {
	const images, channels, size = 2, 48, 21
	x := kerneltest.Values(images*channels*size, 1)
	blocked, back := make([]float32, len(x)), make([]float32, len(x))
	shape.ToBlocks(blocked, x, images*channels, size)
	for n := range images {
		for c := range channels {
			for p := range size {
				got, want := blocked[((n*channels/16+c/16)*size+p)*16+c%16], x[(n*channels+c)*size+p]
				if got != want {
					t.Fatalf("image %d, channel %d, pixel %d: %g, want %g", n, c, p, got, want)
				}
			}
		}
	}
	if shape.FromBlocks(back, blocked, images*channels, size); !slices.Equal(back, x) {
		t.Error("there and back is not the same")
	}
}

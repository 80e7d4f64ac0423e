package conv

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestPlans compares plans for the SW26010 with a file.
func TestPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range []shape.Conv{conv2(64, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), conv2(32, 96, 256, 2, 27, 27, 5, 5, 1, 2, 1), conv2(1, 4, 4, 4, 8, 8, 3, 3, 2, 1, 1)} {
			p := planBands(&spec, &s)
			add(s, words(fmt.Sprintf("strategies %v, %d partial sums, bands of %d of %d rows", strategiesFor(t, &spec, s, shape.Auto), p.Chunks, p.Band, p.Rows)), nil)
		}
	})
}

// TestImplicitChunks: sums are cut where the weights are few and the positions many, by the shape alone.
func TestImplicitChunks(t *testing.T) {
	for _, c := range []struct {
		s    shape.Conv
		want int
	}{
		{conv2(64, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), 16},   // 500 weights, 36864 positions
		{conv2(1, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), 1},     // 576 positions
		{conv2(16, 512, 512, 1, 14, 14, 3, 3, 1, 1, 1), 1}, // weights enough
		{conv2(8, 64, 64, 64, 16, 16, 3, 3, 1, 1, 1), 2},   // depthwise: 2048 positions
	} {
		if got := implicitChunks(&c.s); got != c.want {
			t.Errorf("%v: %d partial sums, want %d", c.s, got, c.want)
		}
	}
}

// words are a text that prints itself.
type words string

func (w words) String() string { return string(w) }

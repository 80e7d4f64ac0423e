package explicit_test

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/explicit"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestPlans compares plans for the SW26010 with a file.
func TestPlans(t *testing.T) {
	spec := kerneltest.Machine(t, "sw26010", true).Spec()
	kerneltest.Plans(t, "testdata/plans.txt", func(add func(any, fmt.Stringer, error)) {
		for _, s := range []shape.Conv{convtest.Shape2D(64, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), convtest.Shape2D(32, 96, 256, 2, 27, 27, 5, 5, 1, 2, 1), convtest.Shape2D(1, 4, 4, 4, 8, 8, 3, 3, 2, 1, 1)} {
			p := explicit.Bands(&spec, &s)
			add(s, words(fmt.Sprintf("strategies %v, %d partial sums, bands of %d of %d rows", convtest.StrategiesFor(t, &spec, s, shape.Auto), p.Chunks, p.Band, p.Rows)), nil)
		}
	})
}

// words are a text that prints itself.
type words string

func (w words) String() string { return string(w) }

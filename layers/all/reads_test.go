package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

// TestBackwardNeedsWhatItReads: values that Traits declare as read influence Backward. A net keeps them until then. TestEveryType checks
// the reverse.
func TestBackwardNeedsWhatItReads(t *testing.T) {
	b := layertest.NewBench(t)
	for i := range cases {
		c := &cases[i]
		if c.Files != nil || c.Name == "dilations far beyond the outputs" { // with these dilations no kernel offset has an input
			continue
		}
		if idle, err := layertest.IdleReads(b, c); err != nil || len(idle) > 0 {
			t.Errorf("%s: it says that Backward reads %q, which makes no difference; error %v", c, idle, err)
		}
	}
}

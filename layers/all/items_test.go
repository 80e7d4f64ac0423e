package all_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

// TestCoupling holds what every type declares about the items of a batch against its cases, computed for all items and for two parts of them.
// A case that is declared to keep them apart must do so. A type that declares something else must have a case that shows it, if its cases have
// batches that can be divided.
func TestCoupling(t *testing.T) {
	bench := layertest.NewBench(t)
	shown, divided := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		if c.Files != nil || c.Feed != nil {
			continue
		}
		declared, why, ok := layertest.Apart(bench.Device(layers.MPE), c)
		switch {
		case !ok:
		case declared.Kind == layers.Apart && why != nil:
			t.Errorf("%s couples items, and its type does not declare it: %v", c.String(), why)
		case declared.Kind != layers.Apart:
			divided[c.Type] = !learnsByItself(t, bench, c)
			shown[c.Type] = shown[c.Type] || why != nil
		}
	}
	for name, shows := range divided {
		if shows && !shown[name] {
			t.Errorf("%s declares that it couples items, and no case shows it", name)
		}
	}
}

// learnsByItself reports whether a loss has weights with a gradient that is not the loss's, as CenterLoss has. Its tops do not show the coupling; TestWorkers does.
func learnsByItself(t *testing.T, b *layertest.Bench, c layertest.Case) bool {
	f, err := layertest.New(b.Device(layers.MPE), &c)
	if err != nil {
		t.Fatal(err)
	}
	return f.Type.Loss && len(f.Layer.Params()) > 0
}

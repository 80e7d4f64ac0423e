package all_test

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers/layertest"
)

// TestEffects holds what every type declares about its effects against its cases, each run twice on both paths. A case without a declared effect
// must repeat its values. A type with one must have a case that shows it, unless it is a file.
func TestEffects(t *testing.T) {
	bench := layertest.NewBench(t)
	shown, declaring := map[string]bool{}, map[string]string{}
	for i := range cases {
		c := cases[i]
		if c.Files != nil {
			c.Param += " " + c.Files(t)
		}
		for _, engine := range layertest.Engines() {
			declared, why, err := layertest.Repeats(bench.Device(engine), &c)
			switch {
			case err != nil:
				t.Errorf("%s: %v", c.String(), err)
			case declared == "" && why != nil:
				t.Errorf("%s does not repeat its values, and its type does not declare why: %v", c.String(), why)
			case declared != "":
				declaring[c.Type] = declared
				shown[c.Type] = shown[c.Type] || why != nil
			}
		}
	}
	for name, what := range declaring {
		if !shown[name] && !strings.HasPrefix(what, "writes ") {
			t.Errorf("%s declares that it %s, and no case shows it", name, what)
		}
	}
}

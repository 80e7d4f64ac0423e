package winograd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// panelsCache is the size of an L2 cache for which weights of more than some dozens of channels are many.
const panelsCache = 24 << 10

// smallHost is the host with an L2 cache of so many bytes.
func smallHost(t *testing.T, groups, bytes int) *cpe.Machine {
	t.Helper()
	spec := kerneltest.HostSpec(t)
	spec.LDMBytes = bytes
	return kerneltest.Uneven(t, spec, groups)
}

// TestWinogradPanels: many weights, of groups of channels, of more than one block of tiles, chunk, panel and piece, with panels that
// core groups divide; the number of these changes no bit, nor do blocks of channels.
func TestWinogradPanels(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 98, 100, 2, 6, 7, 3, 3, 1, 1, 1), convtest.Shape2D(6, 48, 56, 1, 17, 13, 3, 3, 1, 1, 1), convtest.Shape2D(2, 37, 65, 1, 9, 8, 5, 5, 1, 2, 1),
		convtest.Shape2D(1, 96, 128, 2, 9, 9, 3, 3, 1, 0, 1),
	} {
		want := convtest.NewCase(s, convtest.Normal)
		convtest.EachWinograd(s, func(st shape.Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) {
				var y, dx, dw []float32
				for _, groups := range []int{1, 2, 3} {
					m := smallHost(t, groups, panelsCache)
					c, err := plan.New(m, s, st)
					if err != nil {
						t.Fatal(err)
					}
					checkPanels(t, c)
					if groups == 1 {
						convtest.CompareWinograd(t, m, s, st, want)
					}
					gotY, gotDX := want.Run(t, c)
					gotDW := slices.Clone(want.DW)
					if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: gotDW, Add: true}); err != nil {
						t.Fatal(err)
					}
					if y != nil && (!slices.Equal(gotY, y) || !slices.Equal(gotDX, dx) || !slices.Equal(gotDW, dw)) {
						t.Errorf("%d core groups change bits", groups)
					}
					y, dx, dw = gotY, gotDX, gotDW
				}
				if s.C/s.Group%shape.BlockLanes == 0 && s.Out/s.Group%shape.BlockLanes == 0 {
					convtest.CompareBlocks(t, smallHost(t, 2, panelsCache), s, st, want)
				}
			})
		})
	}
}

// checkPanels reports a convolution of panels that is none.
func checkPanels(t *testing.T, c *plan.Conv) {
	t.Helper()
	if forward, weights := c.Algorithm(shape.Forward), c.Algorithm(shape.WeightGradient); !inPanels(forward) || !strings.HasSuffix(string(weights), "-panel-sums") {
		t.Errorf("%v forward, %v for the gradient of weights", forward, weights)
	}
}

// TestWinogradPanelsDivided: core groups divide a panel's tiles, of which patches have an odd number.
func TestWinogradPanelsDivided(t *testing.T) {
	s := convtest.Shape2D(3, 90, 64, 1, 12, 12, 3, 3, 1, 1, 1)
	want := convtest.NewCase(s, convtest.Normal)
	var first []float32
	for _, groups := range []int{1, 2, 3} {
		m := smallHost(t, groups, 256<<10)
		c, err := plan.New(m, s, shape.Winograd4)
		if err != nil {
			t.Fatal(err)
		}
		if !inPanels(c.Algorithm(shape.Forward)) {
			t.Fatal("weights are not in panels")
		}
		y, _ := want.Run(t, c)
		if groups == 1 {
			first = y
		}
		if e := convtest.RelativeError(y, want.WantY, len(want.W)/s.Out); !(e < convtest.WinogradErrors[shape.Winograd4]) || !slices.Equal(y, first) {
			t.Errorf("%d core groups: relative error %.2g, equal to those of one: %v", groups, e, slices.Equal(y, first))
		}
	}
}

// TestWinogradOneBlock: of few tiles panels of outputs are shared, or slices where panels are fewer than core groups, of many tiles these, even
// if weights are few; the number of core groups changes no bit.
func TestWinogradOneBlock(t *testing.T) {
	for _, c := range []struct {
		shape  shape.Conv
		panels bool
	}{
		{convtest.Shape2D(1, 20, 120, 1, 13, 13, 3, 3, 1, 1, 1), true},
		{convtest.Shape2D(4, 18, 260, 2, 7, 6, 3, 3, 1, 1, 1), true},
		{convtest.Shape2D(1, 80, 40, 1, 13, 13, 3, 3, 1, 1, 1), true},
		{convtest.Shape2D(2, 20, 120, 1, 31, 31, 3, 3, 1, 1, 1), false},
	} {
		want := convtest.NewCase(c.shape, convtest.Normal)
		var first []float32
		for _, groups := range []int{1, 2, 3} {
			layer, err := plan.New(smallHost(t, groups, 1<<20), c.shape, shape.Winograd2)
			if err != nil {
				t.Fatal(err)
			}
			if panels := inPanels(layer.Algorithm(shape.Forward)); panels != c.panels {
				t.Fatalf("%v: in panels: %v", c.shape, panels)
			}
			y, _ := want.Run(t, layer)
			if groups == 1 {
				first = y
			}
			if e := convtest.RelativeError(y, want.WantY, len(want.W)/c.shape.Out); !(e < convtest.WinogradErrors[shape.Winograd2]) || !slices.Equal(y, first) {
				t.Errorf("%v with %d core groups: relative error %.2g, equal to those of one: %v", c.shape, groups, e, slices.Equal(y, first))
			}
		}
	}
}

// inPanels reports whether core groups share panels of weights.
func inPanels(a shape.Algorithm) bool { return strings.HasSuffix(string(a), "-panels") }

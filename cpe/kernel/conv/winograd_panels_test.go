package conv

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// panelsCache is the size of an L2 cache for which weights of more than some dozens of channels are many.
const panelsCache = 24 << 10

// smallHost is the host with an L2 cache of so many bytes.
func smallHost(t *testing.T, groups, bytes int) *cpe.Machine {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.LDMBytes = bytes
	return kerneltest.Uneven(t, spec, groups)
}

// TestWinogradPanels: many weights, of groups of channels, of more than one block of tiles, chunk, panel and piece, with panels that
// core groups divide; the number of these changes no bit, nor do blocks of channels.
func TestWinogradPanels(t *testing.T) {
	for _, s := range []shape.Conv{
		conv2(2, 98, 100, 2, 6, 7, 3, 3, 1, 1, 1), conv2(6, 48, 56, 1, 17, 13, 3, 3, 1, 1, 1), conv2(2, 37, 65, 1, 9, 8, 5, 5, 1, 2, 1),
		conv2(1, 96, 128, 2, 9, 9, 3, 3, 1, 0, 1),
	} {
		want := newConvCase(s, normal)
		eachWinograd(s, func(st shape.Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) {
				var y, dx, dw []float32
				for _, groups := range []int{1, 2, 3} {
					m := smallHost(t, groups, panelsCache)
					c, err := New(m, s, st)
					if err != nil {
						t.Fatal(err)
					}
					checkPanels(t, c)
					if groups == 1 {
						testWinograd(t, m, s, st, want)
					}
					gotY, gotDX := want.run(t, c)
					gotDW := slices.Clone(want.dw)
					if err := c.Run(shape.WeightGradient, Arrays{X: want.x, DY: want.dy, DW: gotDW, Add: true}); err != nil {
						t.Fatal(err)
					}
					if y != nil && (!slices.Equal(gotY, y) || !slices.Equal(gotDX, dx) || !slices.Equal(gotDW, dw)) {
						t.Errorf("%d core groups change bits", groups)
					}
					y, dx, dw = gotY, gotDX, gotDW
				}
				if s.C/s.Group%shape.BlockLanes == 0 && s.Out/s.Group%shape.BlockLanes == 0 {
					testConvBlocks(t, smallHost(t, 2, panelsCache), s, st, want)
				}
			})
		})
	}
}

// checkPanels reports a convolution of panels that is none.
func checkPanels(t *testing.T, c *Conv) {
	t.Helper()
	_, forward := stagesOf(c, shape.Forward)[1].Program.(*panelsMultiply)
	_, weights := stagesOf(c, shape.WeightGradient)[1].Program.(*gradPanelsMultiply)
	if !forward || !weights {
		t.Errorf("%v: weights in panels forward: %v, for their gradient: %v", c.shape, forward, weights)
	}
}

// TestWinogradPanelsDivided: core groups divide a panel's tiles, of which patches have an odd number.
func TestWinogradPanelsDivided(t *testing.T) {
	s := conv2(3, 90, 64, 1, 12, 12, 3, 3, 1, 1, 1)
	want := newConvCase(s, normal)
	var first []float32
	for _, groups := range []int{1, 2, 3} {
		m := smallHost(t, groups, 256<<10)
		c, err := New(m, s, shape.Winograd4)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := stagesOf(c, shape.Forward)[1].Program.(*panelsMultiply); !ok {
			t.Fatal("weights are not in panels")
		}
		y, _ := want.run(t, c)
		if groups == 1 {
			first = y
		}
		if e := relativeError(y, want.wantY, len(want.w)/s.Out); !(e < winogradErrors[shape.Winograd4]) || !slices.Equal(y, first) {
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
		{conv2(1, 20, 120, 1, 13, 13, 3, 3, 1, 1, 1), true},
		{conv2(4, 18, 260, 2, 7, 6, 3, 3, 1, 1, 1), true},
		{conv2(1, 80, 40, 1, 13, 13, 3, 3, 1, 1, 1), true},
		{conv2(2, 20, 120, 1, 31, 31, 3, 3, 1, 1, 1), false},
	} {
		want := newConvCase(c.shape, normal)
		var first []float32
		for _, groups := range []int{1, 2, 3} {
			conv, err := New(smallHost(t, groups, 1<<20), c.shape, shape.Winograd2)
			if err != nil {
				t.Fatal(err)
			}
			if _, panels := stagesOf(conv, shape.Forward)[1].Program.(*panelsMultiply); panels != c.panels {
				t.Fatalf("%v: in panels: %v", c.shape, panels)
			}
			y, _ := want.run(t, conv)
			if groups == 1 {
				first = y
			}
			if e := relativeError(y, want.wantY, len(want.w)/c.shape.Out); !(e < winogradErrors[shape.Winograd2]) || !slices.Equal(y, first) {
				t.Errorf("%v with %d core groups: relative error %.2g, equal to those of one: %v", c.shape, groups, e, slices.Equal(y, first))
			}
		}
	}
}

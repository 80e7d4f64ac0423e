package kernel

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// smallHost is the host with an L2 cache so small that few weights are many.
func smallHost(t *testing.T, groups int) *cpe.Machine {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups, spec.LDMBytes = groups, 24<<10
	m, err := cpe.New(spec, cpe.Native)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// TestWinogradPanels: many weights, of groups of channels, of more than one block of tiles, chunk, panel and piece, with panels that
// core groups divide; the number of these changes no bit, nor do blocks of channels.
func TestWinogradPanels(t *testing.T) {
	for _, s := range []ConvShape{
		conv2(2, 98, 100, 2, 6, 7, 3, 3, 1, 1, 1), conv2(6, 48, 56, 1, 17, 13, 3, 3, 1, 1, 1), conv2(2, 37, 65, 1, 9, 8, 5, 5, 1, 2, 1),
		conv2(1, 96, 128, 2, 9, 9, 3, 3, 1, 0, 1),
	} {
		want := newConvCase(s, normal)
		eachWinograd(s, func(st Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) {
				var y, dx, dw []float32
				for _, groups := range []int{1, 3} {
					m := smallHost(t, groups)
					c, err := NewConv(m, s, st)
					if err != nil {
						t.Fatal(err)
					}
					checkPanels(t, c)
					if groups == 1 {
						testWinograd(t, m, s, st, want)
					}
					gotY, gotDX := want.run(t, c)
					gotDW := slices.Clone(want.dw)
					if err := c.WeightGrad(want.x, want.dy, gotDW); err != nil {
						t.Fatal(err)
					}
					if y != nil && (!slices.Equal(gotY, y) || !slices.Equal(gotDX, dx) || !slices.Equal(gotDW, dw)) {
						t.Errorf("%d core groups change bits", groups)
					}
					y, dx, dw = gotY, gotDX, gotDW
				}
				if s.C/s.Group%BlockLanes == 0 && s.Out/s.Group%BlockLanes == 0 {
					testConvBlocks(t, smallHost(t, 2), s, st, want)
				}
			})
		})
	}
}

// checkPanels reports a convolution of panels that is none.
func checkPanels(t *testing.T, c *Conv) {
	t.Helper()
	_, forward := c.stages[Forward][1].Program.(*panelsMultiply)
	_, weights := c.stages[WeightGradient][1].Program.(*gradPanelsMultiply)
	if !forward || !weights {
		t.Errorf("%v: weights in panels forward: %v, for their gradient: %v", c.shape, forward, weights)
	}
}

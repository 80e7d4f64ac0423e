package winograd_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestWinogradManyCores: drawn problems, of few and of many weights for the cache and of more than 32 images, have the same bits on 1 and on up to 9 core
// groups, for which stages take several blocks and units are smaller, and agree with the direct form. The draws meet every kernel.
func TestWinogradManyCores(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	met := map[shape.Algorithm]int{}
	for i := range 8 {
		s := convtest.Shape2D(33+r.IntN(4), 48+r.IntN(24), 50+r.IntN(24), 1, 5+r.IntN(5), 5+r.IntN(5), 3, 3, 1, r.IntN(3), 1)
		want := convtest.NewCase(s, convtest.Normal)
		var y, dx, dw, db []float32
		for _, groups := range []int{1, 2 + r.IntN(3), 5 + r.IntN(5)} {
			c, err := plan.New(smallHost(t, groups, []int{24 << 10, 256 << 10}[i%2]), s, shape.Winograd2)
			if err != nil {
				t.Fatal(err)
			}
			gotY, gotDX := want.Run(t, c)
			gotDW, gotDB := slices.Clone(want.DW), slices.Clone(want.Bias)
			if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: gotDW, DB: gotDB, Add: true}); err != nil {
				t.Fatal(err)
			}
			if y == nil {
				y, dx, dw, db = gotY, gotDX, gotDW, gotDB
				met[c.Algorithm(shape.Forward)]++
				met[c.Algorithm(shape.WeightGradient)]++
				if e := convtest.RelativeError(dw, want.WantDW, len(y)/s.Out); !(e < convtest.WinogradErrors[shape.Winograd2]) {
					t.Errorf("%v: the weight gradient's relative error is %.2g", s, e)
				}
				kerneltest.Near(t, "db", db, want.BiasGrads(s), len(want.DY)/s.Out)
			}
			if !slices.Equal(gotY, y) || !slices.Equal(gotDX, dx) || !slices.Equal(gotDW, dw) || !slices.Equal(gotDB, db) {
				t.Errorf("%v: %d core groups change bits", s, groups)
			}
		}
	}
	for _, a := range []shape.Algorithm{"winograd2-panels", "winograd2-tiles", "winograd2-sums", "winograd2-panel-sums"} {
		if met[a] == 0 {
			t.Errorf("no problem was computed by %s: %v", a, met)
		}
	}
}

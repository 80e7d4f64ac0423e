package plan_test

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestStrategiesOnCoreGroups: all numbers of core groups choose the same strategies, on every vector level, and so give the same bits. The
// first shape is a gradient with strides that had columns on few core groups, and phases on more than there are images.
func TestStrategiesOnCoreGroups(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(1, 1, 45, 1, 12, 11, 5, 3, 2, 0, 1), convtest.Shape2D(2, 16, 20, 1, 5, 5, 3, 3, 2, 1, 1), convtest.Shape2D(1, 32, 24, 1, 7, 9, 5, 5, 2, 2, 1),
		convtest.Shape2D(3, 48, 32, 1, 14, 14, 3, 3, 1, 1, 1), convtest.Shape2D(1, 12, 12, 12, 9, 9, 3, 3, 2, 1, 1),
	} {
		want := convtest.NewCase(s, kerneltest.Values)
		var first [3]shape.Strategy
		var y, dx []float32
		for _, groups := range []int{1, 2, 3, 8, 16} {
			c, err := plan.New(kerneltest.HostMachine(t, groups), s, shape.Auto)
			if err != nil {
				t.Fatal(err)
			}
			gotY, gotDX := want.Run(t, c)
			if groups == 1 {
				first, y, dx = convtest.StrategiesOf(c), gotY, gotDX
			}
			if got := convtest.StrategiesOf(c); got != first {
				t.Errorf("%v: strategies %v on %d core groups, %v on one", s, got, groups, first)
			}
			kerneltest.SameBits(t, fmt.Sprintf("%v on %d core groups: y", s, groups), gotY, y)
			kerneltest.SameBits(t, fmt.Sprintf("%v on %d core groups: dx", s, groups), gotDX, dx)
		}
	}
}

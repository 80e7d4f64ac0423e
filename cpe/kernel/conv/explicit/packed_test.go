package explicit_test

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestInt8: results are right for every kind of shape, with the same bits on any number of core groups and at every level, with weights that are kept and
// others; nothing is allocated once weights are packed.
func TestInt8(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 16<<10)}
	for _, s := range racing.Few([]shape.Conv{
		convtest.Shape2D(1, 3, 20, 1, 17, 19, 7, 7, 2, 3, 1),
		convtest.Shape2D(2, 16, 33, 1, 9, 8, 3, 3, 2, 1, 1),
		convtest.Shape2D(2, 10, 10, 10, 7, 6, 3, 3, 1, 1, 1), // depthwise
		convtest.Shape2D(1, 12, 70, 2, 7, 6, 3, 2, 1, 2, 2),
		convtest.Shape2D(1, 100, 5, 1, 5, 4, 3, 3, 3, 0, 1), // sums of more than 512 products
		{N: 3, C: 5, Out: 9, Group: 1, In: []int{40}, Kernel: []int{5}, Stride: []int{3}, Pad: []int{3}, Dilation: []int{1}},
		{N: 1, C: 2, Out: 4, Group: 1, In: []int{4, 5, 6}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Pad: []int{1, 0, 1}, Dilation: []int{1, 1, 2}},
	}) {
		t.Run(s.String(), func(t *testing.T) { testInt8(t, s, caches) })
	}
}

func testInt8(t *testing.T, s shape.Conv, caches [][]*cpe.Machine) {
	want, scales := convtest.NewCase(s, kerneltest.Stepped), kerneltest.Scales(s.Out)
	var first []float32
	for i, level := range racing.Few(isa.Levels()) {
		restore := isa.Use(level)
		for _, m := range caches[i%2] {
			c, err := plan.NewIn(m, s, op.Force{Name: "explicit-int8"}, op.Quantised, scales)
			if err == nil {
				err = c.Arrange(shape.Planes, shape.Planes, []shape.Direction{shape.Forward})
			}
			if err != nil {
				t.Fatal(err)
			}
			if name := c.Algorithm(shape.Forward); name != "explicit-int8" {
				t.Fatalf("computed by %s", name)
			}
			y := make([]float32, len(want.WantY))
			for _, fixed := range []*op.Weights{nil, new(op.Weights)} {
				a := conv.Arrays{X: want.X, W: want.W, Bias: want.Bias, Y: y, Fixed: fixed}
				if err := c.Run(shape.Forward, a); err != nil {
					t.Fatal(err)
				}
				kerneltest.Near(t, level, y, want.WantY, len(want.W)/s.Out)
				if first == nil {
					first = slices.Clone(y)
				}
				if !slices.Equal(y, first) {
					t.Errorf("%s, %d core groups: other bits than at first", level, m.Spec().CoreGroups)
				}
				if n := alloctest.PerRun(2, func() { err = c.Run(shape.Forward, a) }); fixed != nil && (n > 0 || err != nil) {
					t.Errorf("%d allocations in a run, error %v", n, err)
				}
			}
		}
		restore()
	}
}

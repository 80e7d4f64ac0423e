package depthwise_test

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/depthwise"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// pair is a 1x1 convolution of n images and the depthwise convolution of its results.
func pair(n, c, out, h, w, kernel, stride, pad int) [2]shape.Conv {
	return [2]shape.Conv{convtest.Shape2D(n, c, out, 1, h, w, 1, 1, 1, 0, 1), convtest.Shape2D(n, out, out, out, h, w, kernel, kernel, stride, pad, 1)}
}

var pairs = [][2]shape.Conv{
	pair(1, 16, 96, 112, 112, 3, 2, 1), pair(3, 32, 48, 20, 31, 3, 1, 1), pair(16, 48, 32, 7, 7, 3, 1, 1), pair(5, 1040, 80, 7, 6, 3, 1, 1), pair(2, 16, 16, 1, 1, 3, 1, 1),
	pair(2, 32, 64, 9, 8, 5, 2, 2), pair(1, 16, 32, 40, 150, 3, 1, 0), pair(2, 64, 32, 33, 33, 7, 3, 1), pair(7, 16, 48, 12, 5, 3, 1, 4),
}

// planned returns both convolutions as a net for inference plans them, with all images in blocks.
func planned(t testing.TB, m *cpe.Machine, s [2]shape.Conv) (c [2]*plan.Conv) {
	t.Helper()
	for i := range c {
		var err error
		if c[i], err = plan.NewIn(m, s[i], op.Force{}, op.Types{}, nil); err == nil {
			err = c[i].Arrange(shape.Blocks, shape.Blocks, []shape.Direction{shape.Forward})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestBehind: a 1x1 convolution and the depthwise one behind it have the bits of the two alone, with all steps, on any number of core groups.
func TestBehind(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 48<<10)}
	for _, s := range racing.Few(pairs) {
		for _, level := range racing.Few(isa.Levels()) {
			restore := isa.Use(level)
			for i, m := range append(caches[0], caches[1]...) {
				for _, fixed := range []*op.Weights{nil, new(op.Weights)} {
					t.Run(fmt.Sprintf("%v, %s, machine %d, fixed %t", s, level, i, fixed != nil), func(t *testing.T) { testBehind(t, m, s, fixed) })
				}
			}
			restore()
		}
	}
}

func testBehind(t *testing.T, m *cpe.Machine, s [2]shape.Conv, fixed *op.Weights) {
	c := planned(t, m, s)
	both := together(m, s)
	spec := m.Spec()
	large := 4*s[1].N*s[1].C*tiling.Size(s[1].In) > 2*spec.LDMBytes
	if chosen := c[0].Behind(c[1]); (chosen != nil) != large {
		t.Fatalf("%s and %s are computed together: %t, want %t", c[0].Algorithm(shape.Forward), c[1].Algorithm(shape.Forward), chosen != nil, large)
	}
	first, second := operands(s[0], 1), operands(s[1], 2)
	want := make([]float32, len(second.Y))
	first.Finish = func(y []float32, _, block int) {
		for i := range y {
			y[i] = min(y[i], 0.5) + float32(block)/8
		}
	}
	second.Floor, second.Finish = true, func(y []float32, at, block int) {
		for i := range y {
			y[i] += float32((at+i)%7) + float32(block)
		}
	}
	for i, a := range []conv.Arrays{first, second} {
		if i == 1 {
			a.X = first.Y
		}
		if err := c[i].Run(shape.Forward, a); err != nil {
			t.Fatal(err)
		}
	}
	copy(want, second.Y)
	clear(second.Y)
	second.X, first.Y, first.Fixed = nil, nil, fixed
	var err error
	run := func() { err = both.Run(first, second) }
	run()
	if err == nil {
		kerneltest.SameBits(t, "results", second.Y, want)
		if kept := both.Keeper().Keeps(fixed); kept != (fixed != nil) {
			t.Errorf("weights are kept: %t", kept)
		}
		if fixed != nil {
			first.W = nil
		}
		if n := alloctest.PerRun(1, run); n > 0 {
			t.Errorf("%d allocations in a run", n)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.SameBits(t, "results of the next run", second.Y, want)
}

// together prepares the kernel of both, however small images are.
func together(m *cpe.Machine, s [2]shape.Conv) *depthwise.Behind {
	spec := m.Spec()
	var p [2]conv.Problem
	for i := range p {
		p[i] = conv.Problem{Shape: s[i], Images: shape.Blocks, Results: shape.Blocks, Spec: &spec, Inference: true}
	}
	return depthwise.NewBehind(m, &p[0], &p[1])
}

func operands(s shape.Conv, seed uint64) conv.Arrays {
	return conv.Arrays{
		X: kerneltest.Values(s.N*s.C*tiling.Size(s.In), seed), W: kerneltest.Values(s.Out*s.Depth(), seed+10), Bias: kerneltest.Values(s.Out, seed+20),
		Y: make([]float32, s.N*s.Out*tiling.Size(s.OutSize())),
	}
}

// BenchmarkBehind times both together, and alone, of MobileNet and MobileNetV2.
func BenchmarkBehind(b *testing.B) {
	for _, s := range [][2]shape.Conv{pair(1, 16, 96, 112, 112, 3, 2, 1), pair(1, 64, 384, 14, 14, 3, 1, 1), pair(1, 160, 960, 7, 7, 3, 1, 1), pair(1, 32, 64, 112, 112, 3, 2, 1),
		pair(1, 64, 128, 56, 56, 3, 1, 1), pair(1, 512, 512, 14, 14, 3, 1, 1), pair(16, 64, 128, 56, 56, 3, 1, 1), pair(16, 512, 512, 14, 14, 3, 1, 1), pair(16, 160, 960, 7, 7, 3, 1, 1), pair(16, 16, 96, 112, 112, 3, 2, 1)} {
		for _, groups := range []int{1, 2} {
			m := kerneltest.BenchMachine(b, groups)
			c := planned(b, m, s)
			both := together(m, s)
			first, second := operands(s[0], 1), operands(s[1], 2)
			first.Fixed, second.X = new(op.Weights), first.Y
			for name, run := range map[string]func() error{
				"together": func() error { return both.Run(first, second) },
				"alone": func() error {
					if err := c[0].Run(shape.Forward, first); err != nil {
						return err
					}
					return c[1].Run(shape.Forward, second)
				},
			} {
				b.Run(fmt.Sprintf("%v/groups=%d/%s", s[0], groups, name), func(b *testing.B) {
					for b.Loop() {
						if err := run(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

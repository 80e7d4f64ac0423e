package depthwise_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
)

// depthwiseShapes are convolutions of every channel with a kernel of its own: channels that fill blocks or do not, more strides than
// kernels have offsets, kernels that reach far beyond images, dilation, several bands of an image, one axis.
var depthwiseShapes = []shape.Conv{
	convtest.Shape2D(2, 32, 32, 32, 9, 7, 3, 3, 1, 1, 1),
	convtest.Shape2D(3, 16, 16, 16, 12, 13, 3, 3, 2, 1, 1),
	convtest.Shape2D(2, 48, 48, 48, 29, 31, 5, 5, 1, 2, 1),
	convtest.Shape2D(1, 7, 7, 7, 11, 10, 3, 2, 1, 0, 1),
	convtest.Shape2D(2, 21, 21, 21, 17, 9, 3, 5, 3, 2, 1),
	convtest.Shape2D(2, 16, 16, 16, 5, 5, 3, 3, 1, 4, 2),
	convtest.Shape2D(2, 18, 18, 18, 10, 9, 2, 2, 4, 0, 1),
	convtest.Shape2D(9, 16, 16, 16, 7, 7, 7, 7, 1, 3, 1),
	convtest.Shape2D(2, 5, 5, 5, 40, 37, 4, 3, 2, 3, 3),
	{N: 2, C: 17, Out: 17, Group: 17, In: []int{11, 8}, Kernel: []int{3, 2}, Stride: []int{1, 3}, Pad: []int{2, 1}, Dilation: []int{2, 1}},
	{N: 3, C: 32, Out: 32, Group: 32, In: []int{50}, Kernel: []int{9}, Stride: []int{2}, Pad: []int{4}, Dilation: []int{1}},
	convtest.Shape2D(2, 16, 32, 16, 9, 7, 3, 3, 1, 1, 1), // several kernels a channel
	convtest.Shape2D(3, 19, 57, 19, 29, 31, 5, 3, 2, 1, 1),
	convtest.Shape2D(1, 5, 20, 5, 12, 13, 3, 3, 3, 2, 2),
	{N: 3, C: 17, Out: 34, Group: 17, In: []int{50}, Kernel: []int{5}, Stride: []int{2}, Pad: []int{1}, Dilation: []int{1}},
}

// TestDepthwise: every direction with images and results by planes and in blocks, and the bits that it has on one core group and by planes.
func TestDepthwise(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 16<<10)}
	for _, s := range depthwiseShapes {
		want := convtest.NewCase(s, kerneltest.Values)
		for _, machines := range caches {
			t.Run(fmt.Sprintf("%v, L2 of %d bytes", s, machines[0].Spec().LDMBytes), func(t *testing.T) { testDepthwise(t, machines, s, want) })
		}
	}
}

func testDepthwise(t *testing.T, machines []*cpe.Machine, s shape.Conv, want *convtest.Case) {
	var first [4][]float32
	for _, m := range machines {
		for way := range 4 {
			in, out := way&1 > 0, way&2 > 0
			if (in || out) && (s.C%shape.BlockLanes > 0 || s.Out > s.C) {
				continue
			}
			got := runDepthwise(t, m, s, in, out, want)
			if first[0] == nil {
				first = got
			}
			for j := range got {
				if !slices.Equal(got[j], first[j]) {
					t.Errorf("array %d with %d core groups, images in blocks %v, results %v, differs", j, m.Spec().CoreGroups, in, out)
				}
			}
		}
	}
}

// runDepthwise convolves in all directions and returns what is made, by planes: results, rectified ones, gradients of images and of weights.
func runDepthwise(t *testing.T, m *cpe.Machine, s shape.Conv, in, out bool, want *convtest.Case) [4][]float32 {
	t.Helper()
	c, err := plan.New(m, s, shape.Auto)
	if err != nil {
		t.Fatal(err)
	}
	for d := range shape.Direction(3) {
		if !strings.HasPrefix(string(c.Algorithm(d)), "depthwise-") {
			t.Fatalf("%v: %v by another strategy", s, d)
		}
	}
	if can, alsoOut := c.Blocks(); can != (s.C%shape.BlockLanes == 0 && s.Out == s.C) || alsoOut != can {
		t.Fatalf("in blocks may lie images: %v, results: %v", can, alsoOut)
	}
	if err := c.SetLayouts(shape.InBlocks(in), shape.InBlocks(out)); err != nil {
		t.Fatal(err)
	}
	images, results := s.N*s.C, s.N*s.Out
	x, dy := kerneltest.Lie(want.X, images, in, false), kerneltest.Lie(want.DY, results, out, false)
	y, floored, dx, dw := make([]float32, len(dy)), make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(want.DW))
	for range 2 { // the second run meets used buffers
		copy(dw, want.DW)
		for _, list := range [][]float32{y, floored, dx} {
			for i := range list {
				list[i] = float32(math.NaN())
			}
		}
		for _, err := range []error{
			c.Run(shape.Forward, conv.Arrays{X: x, W: want.W, Bias: want.Bias, Y: y}), c.Run(shape.Forward, conv.Arrays{X: x, W: want.W, Bias: want.Bias, Y: floored, Floor: true}), c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: want.W, DX: dx}), c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: dy, DW: dw, Add: true}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	y, floored, dx = kerneltest.Lie(y, results, out, true), kerneltest.Lie(floored, results, out, true), kerneltest.Lie(dx, images, in, true)
	taps := tiling.Size(s.Kernel)
	kerneltest.Near(t, "y", y, want.WantY, taps)
	kerneltest.Near(t, "dx", dx, want.WantDX, taps)
	kerneltest.Near(t, "dw", dw, want.WantDW, len(y)/s.Out)
	for i, v := range y {
		if floored[i] != max(v, 0) {
			t.Fatalf("rectified result %d is %g, of %g", i, floored[i], v)
		}
	}
	set := make([]float32, len(dw))
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: dy, DW: set}); err != nil {
		t.Fatal(err)
	}
	for i, v := range set {
		if v+want.DW[i] != dw[i] {
			t.Fatalf("weight %d: gradient %g, added to %g: %g", i, v, want.DW[i], dw[i])
		}
	}
	return [4][]float32{y, floored, dx, dw}
}

// TestDepthwiseFallsBack: groups of several channels, pointwise kernels and three axes have other kernels.
func TestDepthwiseFallsBack(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 8, 8, 4, 9, 9, 3, 3, 1, 1, 1), convtest.Shape2D(2, 8, 16, 4, 9, 9, 3, 3, 1, 1, 1), convtest.Shape2D(2, 8, 8, 8, 9, 9, 1, 1, 2, 0, 1),
		convtest.Shape2D(2, 1, 1, 1, 9, 9, 3, 3, 1, 1, 1), {N: 1, C: 4, Out: 4, Group: 4, In: []int{4, 5, 6}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Pad: []int{1, 0, 1}, Dilation: []int{1, 1, 2}},
	} {
		if conv.IsDepthwise(&s) {
			t.Errorf("%v is depthwise", s)
		}
	}
}

// TestDepthwiseAllocates: nothing, once it is prepared.
func TestDepthwiseAllocates(t *testing.T) {
	s := convtest.Shape2D(2, 32, 32, 32, 19, 18, 3, 3, 2, 1, 1)
	for _, blocked := range []bool{false, true} {
		c, err := plan.New(kerneltest.HostMachine(t, 2), s, shape.Auto)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetLayouts(shape.InBlocks(blocked), shape.InBlocks(blocked)); err != nil {
			t.Fatal(err)
		}
		v := convtest.NewCase(s, kerneltest.Values)
		allocs := alloctest.PerRun(3, func() {
			for _, err := range []error{c.Run(shape.Forward, conv.Arrays{X: v.X, W: v.W, Bias: v.Bias, Y: v.DY}), c.Run(shape.WeightGradient, conv.Arrays{X: v.X, DY: v.DY, DW: v.W, Add: true}), c.Run(shape.InputGradient, conv.Arrays{DY: v.DY, W: v.W, DX: v.X})} {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if allocs != 0 {
			t.Errorf("in blocks %v: %d allocations a run", blocked, allocs)
		}
	}
}

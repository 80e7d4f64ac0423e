package offsets_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/offsets"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
)

// fewShapes are convolutions of images of few channels: outputs that fill blocks and panels or do not, rows that fill no tiles, kernels
// whose lines are longer than a tile, and more shifts than are multiplied at once; and convolutions of more channels to few pixels.
var fewShapes = []shape.Conv{
	convtest.Shape2D(1, 1, 16, 1, 5, 5, 3, 3, 1, 1, 1),
	convtest.Shape2D(3, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1),
	convtest.Shape2D(2, 3, 32, 1, 32, 32, 5, 5, 1, 2, 1),
	convtest.Shape2D(1, 3, 64, 1, 23, 45, 3, 3, 1, 1, 1),
	convtest.Shape2D(2, 3, 64, 1, 32, 29, 7, 7, 2, 3, 1),
	convtest.Shape2D(2, 3, 96, 1, 43, 39, 11, 11, 4, 0, 1),
	convtest.Shape2D(2, 4, 40, 1, 19, 17, 3, 3, 3, 2, 1),
	convtest.Shape2D(1, 5, 48, 1, 9, 14, 2, 1, 2, 0, 1),
	convtest.Shape2D(9, 2, 33, 1, 7, 6, 3, 5, 1, 4, 1),
	convtest.Shape2D(1, 2, 16, 1, 6, 40, 3, 17, 1, 3, 1),
	convtest.Shape2D(2, 1, 80, 1, 20, 37, 6, 31, 3, 2, 1),
	convtest.Shape2D(1, 15, 16, 1, 12, 11, 5, 4, 2, 1, 1),
	convtest.Shape2D(2, 3, 9, 1, 9, 9, 4, 4, 4, 0, 1),
	convtest.Shape2D(3, 1, 20, 1, 23, 22, 3, 3, 1, 0, 1),
	convtest.Shape2D(2, 2, 37, 1, 30, 17, 5, 4, 1, 2, 1),
	convtest.Shape2D(1, 20, 50, 1, 12, 12, 5, 5, 1, 0, 1),
	convtest.Shape2D(2, 32, 32, 1, 9, 7, 3, 3, 1, 1, 1),
	convtest.Shape2D(3, 17, 24, 1, 6, 5, 3, 2, 1, 2, 1),
	convtest.Shape2D(2, 18, 9, 1, 11, 10, 4, 3, 2, 1, 1),
	convtest.Shape2D(2, 1, 20, 1, 40, 30, 3, 30, 1, 0, 1),
	convtest.Shape2D(2, 2, 16, 1, 33, 6, 4, 8, 2, 1, 1),
	{N: 2, C: 20, Out: 16, Group: 1, In: []int{40}, Kernel: []int{5}, Stride: []int{1}, Pad: []int{2}, Dilation: []int{1}},
	{N: 2, C: 3, Out: 16, Group: 1, In: []int{11, 8}, Kernel: []int{3, 2}, Stride: []int{1, 3}, Pad: []int{2, 1}, Dilation: []int{1, 1}},
	{N: 3, C: 2, Out: 32, Group: 1, In: []int{50}, Kernel: []int{9}, Stride: []int{2}, Pad: []int{4}, Dilation: []int{1}},
}

// TestBFloat16: kernels of even and odd numbers of columns, with padding and without, rows that fill no tiles, several bands and passes.
func TestBFloat16(t *testing.T) {
	convtest.Packed(t, "offsets-bf16", op.RoundedFactors, []shape.Conv{
		convtest.Shape2D(2, 3, 64, 1, 32, 29, 7, 7, 2, 3, 1),
		convtest.Shape2D(1, 3, 96, 1, 43, 39, 11, 11, 4, 0, 1),
		convtest.Shape2D(3, 1, 16, 1, 9, 8, 3, 3, 2, 1, 1),
		convtest.Shape2D(1, 15, 33, 1, 12, 11, 5, 4, 2, 1, 1),
		convtest.Shape2D(2, 2, 16, 1, 33, 6, 4, 8, 2, 1, 1),
		convtest.Shape2D(1, 5, 48, 1, 9, 14, 2, 1, 2, 0, 1),
		convtest.Shape2D(1, 3, 32, 1, 70, 50, 5, 6, 2, 2, 1),
		{N: 2, C: 3, Out: 16, Group: 1, In: []int{11, 8}, Kernel: []int{3, 2}, Stride: []int{1, 4}, Pad: []int{2, 1}, Dilation: []int{1, 1}},
		{N: 1, C: 2, Out: 20, Group: 1, In: []int{40, 3}, Kernel: []int{5, 3}, Stride: []int{3, 2}, Pad: []int{2, 0}, Dilation: []int{1, 1}},
	})
}

// TestFewChannels: every direction with results by planes and in blocks, and the bits that it has on one core group.
func TestFewChannels(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 16<<10)}
	for _, s := range fewShapes {
		if !conv.FewChannels(&s) {
			t.Fatalf("%v is not computed with offsets", s)
		}
		want := convtest.NewCase(s, kerneltest.Values)
		for _, machines := range caches {
			for _, out := range []bool{false, true} {
				if out && s.Out%shape.BlockLanes > 0 {
					continue
				}
				name := fmt.Sprintf("%v, in blocks %v, L2 of %d bytes", s, out, machines[0].Spec().LDMBytes)
				t.Run(name, func(t *testing.T) { testFewChannels(t, machines, s, out, want) })
			}
		}
	}
}

func testFewChannels(t *testing.T, machines []*cpe.Machine, s shape.Conv, out bool, want *convtest.Case) {
	var first [4][]float32
	for i, m := range machines {
		got := runFewChannels(t, m, s, out, want)
		if i == 0 {
			first = got
		}
		for j := range got {
			if !slices.Equal(got[j], first[j]) {
				t.Errorf("array %d with %d core groups differs", j, m.Spec().CoreGroups)
			}
		}
	}
}

// runFewChannels convolves in all directions and returns what is made: results, gradients of images, of weights and of biases.
func runFewChannels(t *testing.T, m *cpe.Machine, s shape.Conv, out bool, want *convtest.Case) [4][]float32 {
	t.Helper()
	c, err := plan.New(m, s, shape.Implicit)
	if err != nil {
		t.Fatal(err)
	}
	if can, alsoOut := c.Blocks(); can || alsoOut != (s.Out%shape.BlockLanes == 0) {
		t.Fatalf("in blocks may lie images: %v, results: %v", can, alsoOut)
	}
	if err := c.SetLayouts(shape.Planes, shape.InBlocks(out)); err != nil {
		t.Fatal(err)
	}
	dy, dw := kerneltest.Lie(want.DY, s.N*s.Out, out, false), make([]float32, len(want.DW))
	y, dx, db := make([]float32, len(want.WantY)), make([]float32, len(want.X)), make([]float32, s.Out)
	for range 2 { // the second run meets used buffers
		copy(dw, want.DW)
		for _, list := range [][]float32{y, dx} {
			for i := range list {
				list[i] = float32(math.NaN())
			}
		}
		for _, err := range []error{c.Run(shape.Forward, conv.Arrays{X: want.X, W: want.W, Bias: want.Bias, Y: y}), c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: want.W, DX: dx}), c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: dy, DW: dw, Add: true})} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	y = kerneltest.Lie(y, s.N*s.Out, out, true)
	kerneltest.Near(t, "y", y, want.WantY, s.Depth())
	kerneltest.Near(t, "dx", dx, want.WantDX, s.Out*tiling.Size(s.Kernel))
	kerneltest.Near(t, "dw", dw, want.WantDW, len(y)/s.Out)
	copy(dw, want.DW)
	copy(db, want.Bias)
	if !c.Does(shape.WeightGradient, op.SumBiases) {
		t.Fatal("biases have no gradient")
	}
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: dy, DW: dw, DB: db, Add: true}); err != nil {
		t.Fatal(err)
	}
	kerneltest.Near(t, "dw with db", dw, want.WantDW, len(y)/s.Out)
	kerneltest.Near(t, "db", db, want.BiasGrads(s), len(y)/s.Out)
	return [4][]float32{y, dx, dw, db}
}

// TestStrides: forward passes of inference, of many channels with strides, and the bits that they have on one core group.
func TestStrides(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 16<<10)}
	for _, s := range []shape.Conv{
		convtest.Shape2D(3, 16, 32, 1, 32, 30, 3, 3, 2, 1, 1),
		convtest.Shape2D(5, 33, 9, 1, 13, 29, 3, 2, 2, 1, 1),
		convtest.Shape2D(2, 18, 48, 1, 21, 50, 4, 5, 3, 2, 1),
		convtest.Shape2D(9, 64, 64, 1, 17, 19, 3, 3, 2, 0, 1),
		convtest.Shape2D(1, 160, 128, 1, 7, 9, 3, 3, 2, 1, 1),
		convtest.Shape2D(1, 48, 48, 1, 9, 16, 1, 4, 1, 1, 1), // few results
		convtest.Shape2D(3, 32, 20, 1, 11, 1, 4, 1, 3, 0, 1),
		{N: 12, C: 20, Out: 16, Group: 1, In: []int{90}, Kernel: []int{7}, Stride: []int{3}, Pad: []int{2}, Dilation: []int{1}},
		{N: 3, C: 17, Out: 40, Group: 1, In: []int{24, 31}, Kernel: []int{3, 3}, Stride: []int{1, 2}, Pad: []int{1, 0}, Dilation: []int{1, 1}},
	} {
		want := convtest.NewCase(s, kerneltest.Values)
		for i, machines := range caches {
			for _, in := range []bool{false, true} {
				for _, out := range []bool{false, true} {
					if in && s.C%shape.BlockLanes > 0 || out && s.Out%shape.BlockLanes > 0 {
						continue
					}
					t.Run(fmt.Sprintf("%v, cache %d, in blocks %v, %v", s, i, in, out), func(t *testing.T) { testStrides(t, machines, s, in, out, want) })
				}
			}
		}
	}
}

func testStrides(t *testing.T, machines []*cpe.Machine, s shape.Conv, in, out bool, want *convtest.Case) {
	var first []float32
	x := kerneltest.Lie(want.X, s.N*s.C, in, false)
	for _, m := range machines {
		c, err := plan.New(m, s, shape.Implicit)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.Algorithm(shape.Forward)); got == offsets.Forward.Name && !conv.FewChannels(&s) {
			t.Fatalf("computed by %s in training", got)
		}
		if err := c.Arrange(shape.InBlocks(in), shape.InBlocks(out), []shape.Direction{shape.Forward}); err != nil {
			t.Fatal(err)
		}
		if got := string(c.Algorithm(shape.Forward)); got != offsets.Forward.Name {
			t.Fatalf("computed by %s", got)
		}
		y := make([]float32, len(want.WantY))
		for range 2 { // the second run meets used buffers
			for i := range y {
				y[i] = float32(math.NaN())
			}
			if err := c.Run(shape.Forward, conv.Arrays{X: x, W: want.W, Bias: want.Bias, Y: y}); err != nil {
				t.Fatal(err)
			}
		}
		y = kerneltest.Lie(y, s.N*s.Out, out, true)
		if first == nil {
			first = y
			kerneltest.Near(t, "y", y, want.WantY, s.Depth())
		}
		if !slices.Equal(y, first) {
			t.Errorf("the result with %d core groups differs", m.Spec().CoreGroups)
		}
	}
}

// TestFewChannelsFallBack: dilated kernels, groups, pointwise kernels, few outputs and more channels or weights have other kernels.
func TestFewChannelsFallBack(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 3, 16, 1, 9, 9, 3, 3, 1, 1, 2), convtest.Shape2D(2, 4, 32, 2, 9, 9, 3, 3, 1, 1, 1), convtest.Shape2D(2, 3, 16, 1, 9, 9, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 3, 16, 1, 9, 9, 1, 1, 2, 0, 1), convtest.Shape2D(2, 3, 4, 1, 9, 9, 3, 3, 1, 1, 1), convtest.Shape2D(8, 16, 16, 1, 9, 9, 3, 3, 1, 1, 1),
		convtest.Shape2D(1, 64, 64, 1, 9, 9, 3, 3, 1, 1, 1),
	} {
		if conv.FewChannels(&s) {
			t.Errorf("%v is computed with offsets", s)
		}
	}
}

// TestByPlanes: lanes are pixels where channels would leave more of them empty, and pixels are neighbours.
func TestByPlanes(t *testing.T) {
	for _, tt := range []struct {
		s    shape.Conv
		want bool
	}{
		{convtest.Shape2D(64, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), true},
		{convtest.Shape2D(64, 3, 32, 1, 32, 32, 5, 5, 1, 2, 1), false},
		{convtest.Shape2D(64, 1, 20, 1, 28, 28, 5, 5, 2, 0, 1), false},
		{convtest.Shape2D(64, 1, 20, 1, 5, 5, 5, 5, 1, 0, 1), false},
	} {
		if got := offsets.SuitsPlanes(&tt.s); got != tt.want {
			t.Errorf("%v by planes: %v", tt.s, got)
		}
	}
}

// TestPlanesBands: with an L2 of 512 KB the copies of 128 channels leave room for single result rows only, whose kernel rows would be copied three times;
// those of 20 channels, and all with 4 MB, have room for the image.
func TestPlanesBands(t *testing.T) {
	few, many := convtest.Shape2D(1, 20, 28, 1, 12, 12, 3, 3, 1, 1, 1), convtest.Shape2D(1, 128, 28, 1, 12, 12, 3, 3, 1, 1, 1)
	for _, tt := range []struct {
		s     shape.Conv
		bytes int
		want  string
	}{{few, 512 << 10, ""}, {many, 512 << 10, "bands of 1 result rows"}, {many, 4 << 20, ""}} {
		spec := kerneltest.HostSpec(t)
		spec.LDMBytes = tt.bytes
		p := conv.Problem{Shape: tt.s, Direction: shape.Forward, Spec: &spec}
		err := offsets.Planes.Supports(&p)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v with %d bytes of L2: %v, want %q", tt.s, tt.bytes, err, tt.want)
		}
	}
}

// TestFewChannelsAllocate: nothing, once it is prepared.
func TestFewChannelsAllocate(t *testing.T) {
	for _, s := range []shape.Conv{convtest.Shape2D(2, 3, 48, 1, 19, 18, 5, 5, 2, 1, 1), convtest.Shape2D(2, 20, 20, 1, 11, 12, 5, 5, 1, 0, 1)} {
		testFewAllocate(t, s)
	}
}

func testFewAllocate(t *testing.T, s shape.Conv) {
	for _, out := range []bool{false, s.Out%shape.BlockLanes == 0} {
		c, err := plan.New(kerneltest.HostMachine(t, 2), s, shape.Implicit)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetLayouts(shape.Planes, shape.InBlocks(out)); err != nil {
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
			t.Errorf("in blocks %v: %d allocations a run", out, allocs)
		}
	}
}

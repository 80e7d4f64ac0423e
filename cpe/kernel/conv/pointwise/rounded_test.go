package pointwise_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// roundedProblem is a pointwise convolution with images or results in rounded blocks, and steps.
type roundedProblem struct {
	shape.Conv
	images, results shape.Layout
	groups, l1, l2  int
	bias, floor     bool
	fixed           bool // kept weights
	adds            bool // Finish adds an array by place, and the number of the block
	widens          bool // that array is in rounded blocks
	beside          bool // the kernel may fetch it
}

func drawRounded(r *rand.Rand) roundedProblem {
	some := func(list ...int) int { return list[r.IntN(len(list))] }
	p := roundedProblem{groups: some(1, 2, 3, 5, 16), l1: some(4<<10, 32<<10), l2: some(16<<10, 64<<10, 1<<20), bias: r.IntN(2) == 0, floor: r.IntN(2) == 0,
		fixed: r.IntN(2) == 0, adds: r.IntN(3) > 0, widens: r.IntN(2) == 0, beside: r.IntN(2) == 0}
	lie := [][2]shape.Layout{{shape.RoundedBlocks, shape.RoundedBlocks}, {shape.Blocks, shape.RoundedBlocks}, {shape.Planes, shape.RoundedBlocks}, {shape.FrontBlocks, shape.RoundedBlocks},
		{shape.RoundedBlocks, shape.Blocks}, {shape.RoundedBlocks, shape.Planes}}[r.IntN(6)]
	p.images, p.results = lie[0], lie[1]
	c, out, size := 32*(1+r.IntN(6)), 32*(1+r.IntN(5)), 1+r.IntN(16)
	if r.IntN(3) == 0 {
		c, out, size = 32*(17+r.IntN(18)), 32*some(1, 2, 3, 18), 1+r.IntN(4)
	}
	if p.images == shape.Planes {
		c -= r.IntN(20)
	}
	if p.results == shape.Planes {
		out -= r.IntN(20)
	}
	p.Conv = convtest.Shape2D(1+r.IntN(3), c, out, 1, size, 1+r.IntN(size), 1, 1, 1+r.IntN(2), 0, 1)
	p.adds = p.adds && p.results != shape.Planes
	p.widens = p.widens && p.adds
	return p
}

// TestRoundedBlocks: images and results in rounded blocks give the bits of the same algorithm in blocks, rounded, at every level.
func TestRoundedBlocks(t *testing.T) {
	r := simdtest.Seeded(5)
	for range 60 {
		p := drawRounded(r)
		if racing.Detector && p.groups == 1 {
			continue
		}
		name := fmt.Sprintf("%v, %v to %v, %d core groups, L1 of %d, L2 of %d, bias %t, floor %t, fixed %t, adds %t, widens %t, beside %t",
			p.Conv, p.images, p.results, p.groups, p.l1, p.l2, p.bias, p.floor, p.fixed, p.adds, p.widens, p.beside)
		t.Run(name, func(t *testing.T) {
			spec := kerneltest.HostSpec(t).RoundingFactors()
			spec.L1Bytes, spec.LDMBytes = p.l1, p.l2
			m := kerneltest.NativeMachine(t, spec, p.groups)
			var first []float32
			for _, level := range isa.Levels() {
				restore := isa.Use(level)
				got := p.check(t, m)
				restore()
				if first == nil {
					first = got
				}
				sameWords(t, level+": against the first level", got, first)
			}
		})
	}
}

// check compares the problem's results with those in blocks, and returns them in float32.
func (p *roundedProblem) check(t *testing.T, m *cpe.Machine) []float32 {
	pixels, made := tiling.Size(p.In), tiling.Size(p.OutSize())
	x, w, bias := kerneltest.Values(p.N*p.C*pixels, 1), kerneltest.Values(p.Out*p.C, 2), kerneltest.Values(p.Out, 3)
	other := kerneltest.Values(p.N*p.Out*made, 4)
	a := conv.Arrays{X: x, W: w, Floor: p.floor}
	if p.bias {
		a.Bias = bias
	}
	if p.widens {
		other = stored(other, p.N, p.Out, made)
	}
	if p.adds {
		a.Finish = func(y []float32, at, block int) {
			for i := range y {
				y[i] += float32(block)
			}
			if p.widens {
				factors.AddRounded(y, other, at, made)
				return
			}
			for i := range y {
				y[i] += other[at+i]
			}
		}
	}
	plain := p.results
	if plain == shape.RoundedBlocks {
		plain = shape.Blocks
	}
	want := a
	if p.images != shape.RoundedBlocks {
		want.Y = p.run(t, m, p.images, plain, want)
	} else {
		want.Y = p.run(t, m, shape.Blocks, plain, want)
		a.X = stored(x, p.N, p.C, pixels)
	}
	if p.beside {
		a.Beside = other
	}
	got := p.run(t, m, p.images, p.results, a)
	if p.results != shape.RoundedBlocks {
		sameWords(t, "results", got, want.Y)
		return got
	}
	sameWords(t, "results", got, stored(want.Y, p.N, p.Out, made))
	values := slices.Repeat([]float32{float32(math.Copysign(0, -1))}, len(got))
	for at := 0; at < len(got); at += made * shape.BlockLanes {
		factors.AddRounded(values[at:at+made*shape.BlockLanes], got, at, made)
	}
	return values
}

// run returns the results. It runs twice, so that the second run meets used buffers.
func (p *roundedProblem) run(t *testing.T, m *cpe.Machine, images, results shape.Layout, a conv.Arrays) []float32 {
	t.Helper()
	c, err := plan.NewIn(m, p.Conv, op.Force{Name: "pointwise-blocked-bf16"}, op.RoundedFactors, nil)
	if err == nil {
		err = c.Arrange(images, results, []shape.Direction{shape.Forward})
	}
	if err != nil {
		t.Fatal(err)
	}
	if name := c.Algorithm(shape.Forward); name != "pointwise-blocked-bf16" {
		t.Fatalf("computed by %s", name)
	}
	if a.Finish != nil && !c.Does(shape.Forward, op.Post) {
		t.Fatal("does not finish its results")
	}
	if p.fixed {
		a.Fixed = new(op.Weights)
	}
	a.Y = unset(make([]float32, p.N*p.Out*tiling.Size(p.OutSize())))
	run := func() {
		if err := c.Run(shape.Forward, a); err != nil {
			t.Fatal(err)
		}
	}
	if allocs := alloctest.PerRun(1, run); allocs != 0 {
		t.Errorf("%d allocations a run", allocs)
	}
	return a.Y
}

// stored returns images in blocks as rounded blocks. Places that they do not use are those of unset.
func stored(x []float32, images, channels, pixels int) []float32 {
	y, blocks := unset(make([]float32, len(x))), channels/shape.BlockLanes
	for i := range images {
		at := i * channels * pixels
		factors.Round(y, x[at:], at, pixels*shape.BlockLanes, blocks, pixels, pixels)
	}
	return y
}

func unset(x []float32) []float32 {
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}

// sameWords compares places, which need not be numbers.
func sameWords(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, v := range want {
		if math.Float32bits(got[i]) != math.Float32bits(v) {
			t.Fatalf("%s: place %d of %d is %x (%g), want %x (%g)", what, i, len(want), math.Float32bits(got[i]), got[i], math.Float32bits(v), v)
		}
	}
}

// TestRoundedBlocksRefused: one algorithm reads and writes rounded blocks, in Forward alone, and only whole ones.
func TestRoundedBlocksRefused(t *testing.T) {
	spec := kerneltest.HostSpec(t)
	for _, name := range plan.Algorithms() {
		a, err := plan.FindAlgorithm(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []shape.Direction{shape.Forward, shape.InputGradient, shape.WeightGradient, shape.BothGradients} {
			for _, lie := range [][2]shape.Layout{{shape.RoundedBlocks, shape.Blocks}, {shape.Blocks, shape.RoundedBlocks}, {shape.RoundedBlocks, shape.RoundedBlocks}, {shape.RoundedBlocks, shape.Planes}} {
				for _, kernel := range []int{1, 3} {
					p := conv.Problem{Shape: convtest.Shape2D(1, 32, 64, 1, 8, 8, kernel, kernel, 1, 0, 1), Direction: d, Images: lie[0], Results: lie[1], Types: a.Types, Spec: &spec, Inference: true}
					can := name == "pointwise-blocked-bf16" && d == shape.Forward && kernel == 1
					if err := a.Refuses(&p); (err == nil) != can {
						t.Errorf("%s: %v of %d x %d kernels, images in %v, results in %v: error %v", name, d, kernel, kernel, lie[0], lie[1], err)
					}
				}
			}
		}
	}
	a, err := plan.FindAlgorithm("pointwise-blocked-bf16")
	if err != nil {
		t.Fatal(err)
	}
	for _, channels := range [][2]int{{48, 64}, {64, 48}} {
		p := conv.Problem{Shape: convtest.Shape2D(1, channels[0], channels[1], 1, 8, 8, 1, 1, 1, 0, 1), Images: shape.RoundedBlocks, Results: shape.RoundedBlocks, Types: a.Types, Spec: &spec, Inference: true}
		const want = "48 channels are not a multiple of the 32 of a block"
		if err := a.Refuses(&p); err == nil || err.Error() != want {
			t.Errorf("%d to %d channels: error %v, want %s", channels[0], channels[1], err, want)
		}
	}
}

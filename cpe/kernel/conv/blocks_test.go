package conv

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestTurns: what is brought from planes to blocks of channels, or back, is counted where a kernel does that, in all three directions.
func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		shape shape.Conv
		st    shape.Strategy
		want  int
	}{
		"images and results of Winograd's": {conv2(2, 16, 32, 1, 9, 9, 3, 3, 1, 1, 1), shape.Winograd4, 6},
		"results of few channels":          {conv2(2, 3, 32, 1, 9, 9, 5, 5, 1, 2, 1), shape.Implicit, 2},
		"vectors of pixels forward":        {conv2(2, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), shape.Implicit, 1},
		"columns":                          {conv2(2, 64, 32, 1, 9, 9, 5, 5, 2, 2, 1), shape.Implicit, 0},
	} {
		conv, err := New(kerneltest.HostMachine(t, 2), c.shape, c.st)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := conv.Turns(); got != c.want {
			t.Errorf("%s: %d turns, want %d", name, got, c.want)
		}
	}
}

// inBlocks returns images brought to blocks of channels.
func inBlocks(x []float32, planes int) []float32 {
	blocked := make([]float32, len(x))
	shape.ToBlocks(blocked, x, planes, len(x)/planes)
	return blocked
}

// TestConvBlocks holds convolutions of images and to results in blocks of channels against those of the same images by planes, bit by
// bit.
func TestConvBlocks(t *testing.T) {
	for _, s := range []shape.Conv{
		conv2(2, 16, 32, 1, 12, 12, 3, 3, 1, 1, 1),
		conv2(1, 48, 16, 1, 7, 9, 3, 3, 1, 0, 1),
		conv2(1, 16, 16, 1, 5, 131, 3, 3, 1, 2, 1),
		conv2(3, 32, 64, 2, 7, 7, 3, 3, 1, 1, 1),
		conv2(1, 416, 400, 1, 4, 5, 3, 3, 1, 1, 1),
		conv2(2, 16, 48, 1, 14, 14, 5, 5, 1, 2, 1),
		conv2(2, 32, 32, 2, 6, 11, 5, 5, 1, 0, 1),
		conv2(2, 32, 48, 1, 14, 13, 3, 3, 1, 2, 2),
		conv2(1, 16, 16, 1, 60, 57, 3, 3, 1, 4, 4),
		conv2(2, 32, 64, 2, 9, 9, 3, 3, 1, 6, 6),
		{N: 1, C: 16, Out: 32, Group: 1, In: []int{30, 41}, Kernel: []int{5, 5}, Stride: []int{1, 1}, Pad: []int{4, 2}, Dilation: []int{2, 1}},
	} {
		want := newConvCase(s, normal)
		eachWinograd(s, func(st shape.Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) { testConvBlocks(t, kerneltest.HostMachine(t, 2), s, st, want) })
		})
	}
}

func testConvBlocks(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy, plain *convCase) {
	c, err := New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	y, dx := plain.run(t, c)
	dw := slices.Clone(plain.dw)
	if err := c.Run(shape.WeightGradient, Arrays{X: plain.x, DY: plain.dy, DW: dw, Add: true}); err != nil {
		t.Fatal(err)
	}
	for _, in := range []bool{false, true} {
		for _, out := range []bool{false, true} {
			blocked := *plain
			wantY, wantDX := y, dx
			if in {
				blocked.x, wantDX = inBlocks(plain.x, s.N*s.C), inBlocks(dx, s.N*s.C)
			}
			if out {
				blocked.dy, wantY = inBlocks(plain.dy, s.N*s.Out), inBlocks(y, s.N*s.Out)
			}
			if canIn, canOut := c.Blocks(); !canIn || !canOut {
				t.Fatal("cannot do with blocks")
			}
			if err := c.SetLayouts(InBlocks(in), InBlocks(out)); err != nil {
				t.Fatal(err)
			}
			gotY, gotDX := blocked.run(t, c)
			got := slices.Clone(plain.dw)
			if err := c.Run(shape.WeightGradient, Arrays{X: blocked.x, DY: blocked.dy, DW: got, Add: true}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(gotY, wantY) || !slices.Equal(gotDX, wantDX) || !slices.Equal(got, dw) {
				t.Errorf("images in blocks: %v, results: %v: y %v, dx %v, dw %v", in, out,
					slices.Equal(gotY, wantY), slices.Equal(gotDX, wantDX), slices.Equal(got, dw))
			}
		}
	}
}

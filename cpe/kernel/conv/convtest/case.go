package convtest

import (
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// line is the multiplications of a weight with the inputs of a row of n outputs: the places of the weight, and of the first input and output,
// in their planes. Inputs of neighbouring outputs are step apart.
type line struct{ x, w, y, n, step int }

// lines lists the multiplications of one channel of an image. Those with padding are left out.
func lines(s shape.Conv) []line {
	var list []line
	out := s.OutSize()
	last := len(out) - 1
	width, step := out[last], s.Stride[last]
	for row := range Volume(out[:last]) {
		for k := range Volume(s.Kernel) {
			in, inside, scale := 0, true, s.In[last]
			for i, rp, rk := last-1, row, k/s.Kernel[last]; i >= 0; i-- {
				at := rp%out[i]*s.Stride[i] - s.Pad[i] + rk%s.Kernel[i]*s.Dilation[i]
				inside = inside && at >= 0 && at < s.In[i]
				in += at * scale
				scale *= s.In[i]
				rp, rk = rp/out[i], rk/s.Kernel[i]
			}
			first := k%s.Kernel[last]*s.Dilation[last] - s.Pad[last]
			from := 0
			for from < width && first+from*step < 0 {
				from++
			}
			to := from
			for to < width && first+to*step < s.In[last] {
				to++
			}
			if inside && from < to {
				list = append(list, line{in + first + from*step, k, row*width + from, to - from, step})
			}
		}
	}
	return list
}

func Volume(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func Shape2D(n, c, out, group, h, w, kh, kw, s, p, d int) shape.Conv {
	return shape.Conv{N: n, C: c, Out: out, Group: group, In: []int{h, w}, Kernel: []int{kh, kw}, Stride: []int{s, s}, Pad: []int{p, p}, Dilation: []int{d, d}}
}

var Shapes = []shape.Conv{
	Shape2D(2, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1),
	Shape2D(3, 1, 20, 1, 12, 12, 5, 5, 1, 0, 1),
	Shape2D(2, 4, 6, 2, 7, 9, 3, 2, 2, 1, 1),
	Shape2D(2, 8, 5, 1, 5, 5, 1, 1, 1, 0, 1),
	Shape2D(3, 50, 53, 1, 7, 9, 3, 3, 1, 1, 1),
	Shape2D(2, 98, 100, 2, 9, 7, 3, 2, 1, 1, 2),
	Shape2D(3, 2, 49, 1, 11, 13, 5, 3, 3, 2, 1),
	Shape2D(1, 4, 4, 4, 8, 8, 3, 3, 1, 2, 2),
	Shape2D(2, 3, 4, 1, 5, 5, 1, 1, 2, 0, 1),
	Shape2D(1, 2, 3, 1, 3, 3, 3, 3, 1, 4, 1),
	Shape2D(3, 4, 6, 2, 4, 3, 1, 1, 1, 0, 1),
	Shape2D(3, 6, 40, 1, 7, 7, 3, 3, 1, 1, 1),
	Shape2D(5, 2, 70, 1, 3, 3, 3, 3, 1, 0, 1),
	Shape2D(4, 2, 3, 1, 40, 31, 2, 2, 1, 1, 1),
	Shape2D(5, 3, 13, 1, 8, 8, 5, 5, 1, 2, 1),
	Shape2D(7, 4, 8, 2, 30, 12, 3, 5, 2, 2, 1),
	Shape2D(3, 2, 7, 1, 28, 28, 5, 5, 1, 0, 1),
	Shape2D(2, 60, 12, 1, 14, 14, 3, 3, 1, 1, 1),
	Shape2D(9, 20, 33, 1, 4, 5, 4, 5, 1, 0, 1),
	Shape2D(2, 3, 40, 1, 3, 3, 3, 3, 2, 0, 1),
	{N: 3, C: 2, Out: 5, Group: 1, In: []int{2, 3, 2}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Pad: []int{0, 0, 0}, Dilation: []int{1, 1, 1}},
	{N: 3, C: 7, Out: 20, Group: 1, In: []int{9}, Kernel: []int{9}, Stride: []int{1}, Pad: []int{0}, Dilation: []int{1}},
	Shape2D(9, 7, 100, 1, 7, 7, 1, 1, 1, 0, 1),
	Shape2D(9, 3, 5, 1, 24, 23, 3, 3, 1, 1, 1),
	{N: 2, C: 2, Out: 3, Group: 1, In: []int{9}, Kernel: []int{3}, Stride: []int{2}, Pad: []int{1}, Dilation: []int{1}},
	{N: 1, C: 2, Out: 3, Group: 1, In: []int{4, 5, 6}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Pad: []int{1, 0, 1}, Dilation: []int{1, 1, 2}},
}

// FewShapes is a short list for kernels that are slow to simulate.
var FewShapes = []shape.Conv{
	Shape2D(2, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1), Shape2D(2, 4, 6, 2, 7, 9, 3, 2, 2, 1, 1), Shape2D(1, 4, 4, 4, 4, 4, 3, 3, 1, 2, 2),
	Shape2D(9, 7, 70, 1, 4, 3, 1, 1, 1, 0, 1), Shape2D(6, 64, 40, 1, 4, 7, 3, 3, 1, 1, 1),
}

// runner runs the directions of a convolution.
type runner interface {
	Run(shape.Direction, conv.Arrays) error
}

// Case is a convolution of random values with its results in float64.
type Case struct {
	X, W, Bias, DY, DW    []float32
	WantY, WantDX, WantDW []float64
}

func NewCase(s shape.Conv, random func(n int, seed uint64) []float32) *Case {
	xs, ws, ys := Volume(s.In), Volume(s.Kernel), Volume(s.OutSize())
	ci, co := s.C/s.Group, s.Out/s.Group
	in, weights, out := s.N*s.C*xs, s.Out*ci*ws, s.N*s.Out*ys
	c := &Case{X: random(in, 1), W: random(weights, 2), Bias: random(s.Out, 3), DY: random(out, 4), DW: random(weights, 5)}
	c.WantY, c.WantDX, c.WantDW = make([]float64, out), make([]float64, in), make([]float64, weights)
	for i := range c.WantY {
		c.WantY[i] = float64(c.Bias[i/ys%s.Out])
	}
	for i := range c.WantDW {
		c.WantDW[i] = float64(c.DW[i])
	}
	met := lines(s)
	for n := range s.N {
		for o := range s.Out {
			for i := range ci {
				c.multiply(met, (n*s.C+o/co*ci+i)*xs, (o*ci+i)*ws, (n*s.Out+o)*ys)
			}
		}
	}
	return c
}

// multiply adds the products of the planes that begin at x, w and y to all three results. It is not instrumented for the race detector, which
// would make it slow; only one goroutine calls it. Nor does it range over values, whose addresses a program with the detector checks.
//
//go:norace
func (c *Case) multiply(met []line, x, w, y int) {
	for i := range met {
		m := &met[i]
		xs, dxs := c.X[x+m.x:], c.WantDX[x+m.x:]
		dys, ys := c.DY[y+m.y:][:m.n], c.WantY[y+m.y:][:m.n]
		weight, sum := float64(c.W[w+m.w]), c.WantDW[w+m.w]
		for p, at := 0, 0; p < m.n; p, at = p+1, at+m.step {
			x, dy := float64(xs[at]), float64(dys[p])
			ys[p] += x * weight
			dxs[at] += dy * weight
			sum += dy * x
		}
		c.WantDW[w+m.w] = sum
	}
}

// BiasGrads returns the sums of dy over images and positions, added to the biases.
func (c *Case) BiasGrads(s shape.Conv) []float64 {
	db, plane := make([]float64, s.Out), Volume(s.OutSize())
	for i, v := range c.Bias {
		db[i] = float64(v)
	}
	for i, v := range c.DY {
		db[i/plane%s.Out] += float64(v)
	}
	return db
}

// Run computes the forward direction and the input gradient, into arrays of NaN.
func (c *Case) Run(t *testing.T, layer runner) (y, dx []float32) {
	t.Helper()
	y, dx = make([]float32, len(c.WantY)), make([]float32, len(c.WantDX))
	for _, list := range [][]float32{y, dx} {
		for i := range list {
			list[i] = float32(math.NaN())
		}
	}
	if err := layer.Run(shape.Forward, conv.Arrays{X: c.X, W: c.W, Bias: c.Bias, Y: y}); err != nil {
		t.Fatal(err)
	}
	if err := layer.Run(shape.InputGradient, conv.Arrays{DY: c.DY, W: c.W, DX: dx}); err != nil {
		t.Fatal(err)
	}
	return y, dx
}

func Compare(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy, want *Case) {
	c, err := plan.New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second run finds used buffers
		y, dx := want.Run(t, c)
		kerneltest.Near(t, "y", y, want.WantY, len(want.W)/s.Out)
		kerneltest.Near(t, "dx", dx, want.WantDX, len(want.W)/s.C)
	}
	dw := slices.Clone(want.DW)
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: dw, Add: true}); err != nil {
		t.Fatal(err)
	}
	kerneltest.Near(t, "dw", dw, want.WantDW, len(want.WantY)/s.Out)
}

// LaidOut returns the case with images, results or both in blocks of channels.
func (c *Case) LaidOut(s shape.Conv, blocked [2]bool) *Case {
	l := *c
	if blocked[0] {
		l.X = inBlocks(c.X, s.N*s.C)
	}
	if blocked[1] {
		l.DY = inBlocks(c.DY, s.N*s.Out)
	}
	return &l
}

// inBlocks returns images converted to blocks of channels.
func inBlocks(x []float32, planes int) []float32 {
	blocked := make([]float32, len(x))
	shape.ToBlocks(blocked, x, planes, len(x)/planes)
	return blocked
}

func CompareBlocks(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy, plain *Case) {
	c, err := plan.New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	y, dx := plain.Run(t, c)
	dw := slices.Clone(plain.DW)
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: plain.X, DY: plain.DY, DW: dw, Add: true}); err != nil {
		t.Fatal(err)
	}
	for _, in := range []bool{false, true} {
		for _, out := range []bool{false, true} {
			blocked := *plain
			wantY, wantDX := y, dx
			if in {
				blocked.X, wantDX = inBlocks(plain.X, s.N*s.C), inBlocks(dx, s.N*s.C)
			}
			if out {
				blocked.DY, wantY = inBlocks(plain.DY, s.N*s.Out), inBlocks(y, s.N*s.Out)
			}
			if canIn, canOut := c.Blocks(); !canIn || !canOut {
				t.Fatal("cannot do with blocks")
			}
			if err := c.SetLayouts(shape.InBlocks(in), shape.InBlocks(out)); err != nil {
				t.Fatal(err)
			}
			gotY, gotDX := blocked.Run(t, c)
			got := slices.Clone(plain.DW)
			if err := c.Run(shape.WeightGradient, conv.Arrays{X: blocked.X, DY: blocked.DY, DW: got, Add: true}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(gotY, wantY) || !slices.Equal(gotDX, wantDX) || !slices.Equal(got, dw) {
				t.Errorf("images in blocks: %v, results: %v: y %v, dx %v, dw %v", in, out,
					slices.Equal(gotY, wantY), slices.Equal(gotDX, wantDX), slices.Equal(got, dw))
			}
		}
	}
}

// EachLayout calls f for the possible layouts of a shape's images and results, except planes for both.
func EachLayout(s shape.Conv, f func(in, out bool)) {
	for _, l := range [][2]bool{{true, true}, {true, false}, {false, true}} {
		if !(l[0] && s.C%shape.BlockLanes > 0) && !(l[1] && s.Out%shape.BlockLanes > 0) {
			f(l[0], l[1])
		}
	}
}

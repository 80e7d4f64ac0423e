package conv

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// pair is a multiplication within one plane of an input, a filter and an output: the places of its values and of the result.
type pair struct{ x, w, y int }

// pairs are those of all outputs with the inputs that they see.
func pairs(s shape.Conv) []pair {
	var list []pair
	out := s.OutSize()
	for p := range volume(out) {
		for k := range volume(s.Kernel) {
			in, inside, scale := 0, true, 1
			for i, rp, rk := len(out)-1, p, k; i >= 0; i-- {
				at := rp%out[i]*s.Stride[i] - s.Pad[i] + rk%s.Kernel[i]*s.Dilation[i]
				inside = inside && at >= 0 && at < s.In[i]
				in += at * scale
				scale *= s.In[i]
				rp, rk = rp/out[i], rk/s.Kernel[i]
			}
			if inside {
				list = append(list, pair{in, k, p})
			}
		}
	}
	return list
}

func volume(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func conv2(n, c, out, group, h, w, kh, kw, s, p, d int) shape.Conv {
	return shape.Conv{N: n, C: c, Out: out, Group: group, In: []int{h, w}, Kernel: []int{kh, kw}, Stride: []int{s, s}, Pad: []int{p, p}, Dilation: []int{d, d}}
}

var convShapes = []shape.Conv{
	conv2(2, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1),
	conv2(3, 1, 20, 1, 12, 12, 5, 5, 1, 0, 1),
	conv2(2, 4, 6, 2, 7, 9, 3, 2, 2, 1, 1),
	conv2(2, 8, 5, 1, 5, 5, 1, 1, 1, 0, 1),
	conv2(3, 50, 53, 1, 7, 9, 3, 3, 1, 1, 1),
	conv2(2, 98, 100, 2, 9, 7, 3, 2, 1, 1, 2),
	conv2(3, 2, 49, 1, 11, 13, 5, 3, 3, 2, 1),
	conv2(1, 4, 4, 4, 8, 8, 3, 3, 1, 2, 2),
	conv2(2, 3, 4, 1, 5, 5, 1, 1, 2, 0, 1),
	conv2(1, 2, 3, 1, 3, 3, 3, 3, 1, 4, 1),
	conv2(3, 4, 6, 2, 4, 3, 1, 1, 1, 0, 1),
	conv2(3, 6, 40, 1, 7, 7, 3, 3, 1, 1, 1),
	conv2(5, 2, 70, 1, 3, 3, 3, 3, 1, 0, 1),
	conv2(4, 2, 3, 1, 40, 31, 2, 2, 1, 1, 1),
	conv2(5, 3, 13, 1, 8, 8, 5, 5, 1, 2, 1),
	conv2(7, 4, 8, 2, 30, 12, 3, 5, 2, 2, 1),
	conv2(3, 2, 7, 1, 28, 28, 5, 5, 1, 0, 1),
	conv2(2, 60, 12, 1, 14, 14, 3, 3, 1, 1, 1),
	conv2(9, 20, 33, 1, 4, 5, 4, 5, 1, 0, 1),
	conv2(2, 3, 40, 1, 3, 3, 3, 3, 2, 0, 1),
	{N: 3, C: 2, Out: 5, Group: 1, In: []int{2, 3, 2}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Pad: []int{0, 0, 0}, Dilation: []int{1, 1, 1}},
	{N: 3, C: 7, Out: 20, Group: 1, In: []int{9}, Kernel: []int{9}, Stride: []int{1}, Pad: []int{0}, Dilation: []int{1}},
	conv2(9, 7, 100, 1, 7, 7, 1, 1, 1, 0, 1),
	conv2(9, 3, 5, 1, 24, 23, 3, 3, 1, 1, 1),
	{N: 2, C: 2, Out: 3, Group: 1, In: []int{9}, Kernel: []int{3}, Stride: []int{2}, Pad: []int{1}, Dilation: []int{1}},
	{N: 1, C: 2, Out: 3, Group: 1, In: []int{4, 5, 6}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Pad: []int{1, 0, 1}, Dilation: []int{1, 1, 2}},
}

// fewConvShapes are for kernels that take long to simulate.
var fewConvShapes = []shape.Conv{
	conv2(2, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1), conv2(2, 4, 6, 2, 7, 9, 3, 2, 2, 1, 1), conv2(1, 4, 4, 4, 4, 4, 3, 3, 1, 2, 2),
	conv2(9, 7, 70, 1, 4, 3, 1, 1, 1, 0, 1), conv2(6, 64, 40, 1, 4, 7, 3, 3, 1, 1, 1),
}

func TestConv(t *testing.T) {
	for _, s := range convShapes {
		want := newConvCase(s, kerneltest.Values)
		kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
			for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit} {
				t.Run(st.String()+" "+s.String(), func(t *testing.T) { testConv(t, m, s, st, want) })
			}
		})
	}
}

// convCase is a convolution of random values with its results in float64.
type convCase struct {
	x, w, bias, dy, dw    []float32
	wantY, wantDX, wantDW []float64
}

func newConvCase(s shape.Conv, random func(n int, seed uint64) []float32) *convCase {
	xs, ws, ys := volume(s.In), volume(s.Kernel), volume(s.OutSize())
	ci, co := s.C/s.Group, s.Out/s.Group
	in, weights, out := s.N*s.C*xs, s.Out*ci*ws, s.N*s.Out*ys
	c := &convCase{x: random(in, 1), w: random(weights, 2), bias: random(s.Out, 3), dy: random(out, 4), dw: random(weights, 5)}
	c.wantY, c.wantDX, c.wantDW = make([]float64, out), make([]float64, in), make([]float64, weights)
	for i := range c.wantY {
		c.wantY[i] = float64(c.bias[i/ys%s.Out])
	}
	for i := range c.wantDW {
		c.wantDW[i] = float64(c.dw[i])
	}
	met := pairs(s)
	for n := range s.N {
		for o := range s.Out {
			for i := range ci {
				c.multiply(met, pair{(n*s.C + o/co*ci + i) * xs, (o*ci + i) * ws, (n*s.Out + o) * ys})
			}
		}
	}
	return c
}

// multiply adds the products of the planes at some place to all three results. It runs alone, and the race detector would make it slow.
//
//go:norace
func (c *convCase) multiply(met []pair, at pair) {
	xs, ws, dys := c.x[at.x:], c.w[at.w:], c.dy[at.y:]
	wantY, wantDX, wantDW := c.wantY[at.y:], c.wantDX[at.x:], c.wantDW[at.w:]
	for _, m := range met {
		x, w, dy := float64(xs[m.x]), float64(ws[m.w]), float64(dys[m.y])
		wantY[m.y] += x * w
		wantDX[m.x] += dy * w
		wantDW[m.w] += dy * x
	}
}

// biasGrads are the sums of dy over images and positions, added to the biases.
func (c *convCase) biasGrads(s shape.Conv) []float64 {
	db, plane := make([]float64, s.Out), volume(s.OutSize())
	for i, v := range c.bias {
		db[i] = float64(v)
	}
	for i, v := range c.dy {
		db[i/plane%s.Out] += float64(v)
	}
	return db
}

// run convolves in all directions, the first two of which overwrite NaN.
func (c *convCase) run(t *testing.T, conv *Conv) (y, dx []float32) {
	t.Helper()
	y, dx = make([]float32, len(c.wantY)), make([]float32, len(c.wantDX))
	for _, list := range [][]float32{y, dx} {
		for i := range list {
			list[i] = float32(math.NaN())
		}
	}
	if err := conv.Run(shape.Forward, Arrays{X: c.x, W: c.w, Bias: c.bias, Y: y}); err != nil {
		t.Fatal(err)
	}
	if err := conv.Run(shape.InputGradient, Arrays{DY: c.dy, W: c.w, DX: dx}); err != nil {
		t.Fatal(err)
	}
	return y, dx
}

// TestPublishedConv: the kernels of the original, of both years, compute the same, on small meshes and on one of 8 x 8 CPEs.
func TestPublishedConv(t *testing.T) {
	for mesh, shapes := range map[[2]int][]shape.Conv{{1, 1}: convShapes, {2, 1}: fewConvShapes, {8, 8}: fewConvShapes} {
		for _, software := range []string{"swcaffe-2018", "swcaffe-2019"} {
			spec := kerneltest.Published(t, software)
			spec.Rows, spec.Cols, spec.CoreGroups = mesh[0], mesh[1], 2
			m, err := cpe.New(spec, cpe.Functional)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			for _, s := range shapes {
				want := newConvCase(s, kerneltest.Values)
				for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit} {
					t.Run(fmt.Sprintf("%s %v %v %v", software, mesh, st, s), func(t *testing.T) { testConv(t, m, s, st, want) })
				}
			}
		}
	}
}

// TestSharedRows: the implicit convolution of 2019 has core groups share rows where the training program would not have taken it, and
// there is a row for each; of its own software the machine shares images.
func TestSharedRows(t *testing.T) {
	spec := kerneltest.Published(t, "swcaffe-2019")
	for _, c := range []struct {
		s    shape.Conv
		want [3]bool
	}{
		{conv2(128, 64, 64, 1, 14, 14, 3, 3, 1, 1, 1), [3]bool{true, true, true}},
		{conv2(256, 128, 64, 1, 14, 14, 3, 3, 1, 1, 1), [3]bool{shape.Forward: true}},
		{conv2(512, 128, 64, 1, 14, 14, 3, 3, 1, 1, 1), [3]bool{}},
		{conv2(8, 64, 64, 1, 4, 4, 3, 3, 1, 0, 1), [3]bool{shape.InputGradient: true}},
		{shape.Conv{N: 8, C: 64, Out: 64, Group: 1, In: []int{40}, Kernel: []int{3}, Stride: []int{1}, Pad: []int{1}, Dilation: []int{1}}, [3]bool{}},
	} {
		for d, want := range c.want {
			if got := sharesRows(c.s, &spec, shape.Direction(d)); got != want {
				t.Errorf("%v %v: %v, want %v", c.s, shape.Direction(d), got, want)
			}
			for _, other := range []cpe.Spec{kerneltest.Published(t, "swcaffe"), kerneltest.Published(t, "swcaffe-2018")} {
				if sharesRows(c.s, &other, shape.Direction(d)) {
					t.Errorf("%v %v: core groups share rows in %s", c.s, shape.Direction(d), other.Software.Name)
				}
			}
		}
	}
}

func testConv(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy, want *convCase) {
	c, err := New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second run meets used buffers
		y, dx := want.run(t, c)
		kerneltest.Near(t, "y", y, want.wantY, len(want.w)/s.Out)
		kerneltest.Near(t, "dx", dx, want.wantDX, len(want.w)/s.C)
	}
	dw := slices.Clone(want.dw)
	if err := c.Run(shape.WeightGradient, Arrays{X: want.x, DY: want.dy, DW: dw, Add: true}); err != nil {
		t.Fatal(err)
	}
	kerneltest.Near(t, "dw", dw, want.wantDW, len(want.wantY)/s.Out)
}

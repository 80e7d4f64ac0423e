package kernel

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// eachConv calls visit for every multiplication of a convolution: indices into x, w and y.
func eachConv(s ConvShape, visit func(x, w, y int)) {
	out := s.OutSize()
	size := func(dims []int) int {
		n := 1
		for _, d := range dims {
			n *= d
		}
		return n
	}
	ci, co := s.C/s.Group, s.Out/s.Group
	for n := range s.N {
		for o := range s.Out {
			for c := range ci {
				for p := range size(out) {
					for k := range size(s.Kernel) {
						in, inside, scale := 0, true, 1
						for i, rp, rk := len(out)-1, p, k; i >= 0; i-- {
							at := rp%out[i]*s.Stride[i] - s.Pad[i] + rk%s.Kernel[i]*s.Dilation[i]
							inside = inside && at >= 0 && at < s.In[i]
							in += at * scale
							scale *= s.In[i]
							rp, rk = rp/out[i], rk/s.Kernel[i]
						}
						if inside {
							visit((n*s.C+o/co*ci+c)*size(s.In)+in, (o*ci+c)*size(s.Kernel)+k, (n*s.Out+o)*size(out)+p)
						}
					}
				}
			}
		}
	}
}

func conv2(n, c, out, group, h, w, kh, kw, s, p, d int) ConvShape {
	return ConvShape{n, c, out, group, []int{h, w}, []int{kh, kw}, []int{s, s}, []int{p, p}, []int{d, d}}
}

var convShapes = []ConvShape{
	conv2(2, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1),
	conv2(3, 1, 20, 1, 12, 12, 5, 5, 1, 0, 1),
	conv2(2, 4, 6, 2, 7, 9, 3, 2, 2, 1, 1),
	conv2(2, 8, 5, 1, 5, 5, 1, 1, 1, 0, 1),
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
	conv2(9, 7, 100, 1, 7, 7, 1, 1, 1, 0, 1),
	{2, 2, 3, 1, []int{9}, []int{3}, []int{2}, []int{1}, []int{1}},
	{1, 2, 3, 1, []int{4, 5, 6}, []int{2, 3, 2}, []int{1, 2, 1}, []int{1, 0, 1}, []int{1, 1, 2}},
}

func TestConv(t *testing.T) {
	onMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range convShapes {
			for _, st := range []Strategy{Explicit, Implicit} {
				t.Run(st.String()+" "+s.String(), func(t *testing.T) { testConv(t, m, s, st) })
			}
		}
	})
}

func testConv(t *testing.T, m *cpe.Machine, s ConvShape, st Strategy) {
	in, weights, out := s.N*s.C, s.Out*s.C/s.Group, s.N*s.Out
	for i, o := range s.OutSize() {
		in, weights, out = in*s.In[i], weights*s.Kernel[i], out*o
	}
	x, w, bias, dy := values(in, 1), values(weights, 2), values(s.Out, 3), values(out, 4)
	y, dx, dw := make([]float32, out), make([]float32, in), values(weights, 5)
	wantY, wantDX, wantDW := make([]float64, out), make([]float64, in), make([]float64, weights)
	for i := range wantY {
		wantY[i] = float64(bias[i/(out/s.N/s.Out)%s.Out])
	}
	for i := range wantDW {
		wantDW[i] = float64(dw[i])
	}
	eachConv(s, func(ix, iw, iy int) {
		wantY[iy] += float64(x[ix]) * float64(w[iw])
		wantDX[ix] += float64(dy[iy]) * float64(w[iw])
		wantDW[iw] += float64(dy[iy]) * float64(x[ix])
	})
	c, err := NewConv(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second run meets used buffers
		for i := range dx {
			dx[i] = float32(math.NaN())
		}
		if err := c.Forward(x, w, bias, y); err != nil {
			t.Fatal(err)
		}
		if err := c.InputGrad(dy, w, dx); err != nil {
			t.Fatal(err)
		}
		near(t, "y", y, wantY, weights/s.Out)
		near(t, "dx", dx, wantDX, weights/s.C)
	}
	if err := c.WeightGrad(x, dy, dw); err != nil {
		t.Fatal(err)
	}
	near(t, "dw", dw, wantDW, out/s.Out)
}

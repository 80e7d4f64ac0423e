package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// onMachines runs a test on the host and functionally on the SW26010.
func onMachines(t *testing.T, test func(t *testing.T, m *cpe.Machine)) {
	for _, name := range []string{"host", "sw26010"} {
		t.Run(name, func(t *testing.T) { test(t, machine(t, name, false)) })
	}
}

func machine(t testing.TB, name string, costOnly bool) *cpe.Machine {
	t.Helper()
	spec, err := cpe.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	mode := cpe.DefaultMode(spec)
	if costOnly {
		mode = cpe.CostOnly
	}
	m, err := cpe.New(spec, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// values are n seeded values in [-1, 1).
func values(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}

// near fails where got and want differ by more than the rounding of a sum of terms float32 products of size 1.
func near(t *testing.T, what string, got, want []float32, terms int) {
	t.Helper()
	tolerance := 1e-6 + 2e-7*math.Sqrt(float64(terms))*8
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= tolerance*(1+math.Abs(float64(want[i])))) {
			t.Fatalf("%s[%d] = %g, want %g", what, i, got[i], want[i])
		}
	}
}

// multiply is the definition of a GemmShape.
func multiply(s GemmShape, a, b, c []float32) []float32 {
	out := make([]float32, s.M*s.N)
	for i := range s.M {
		for j := range s.N {
			var sum float64
			for k := range s.K {
				x, y := i*s.K+k, k*s.N+j
				if s.TransA {
					x = k*s.M + i
				}
				if s.TransB {
					y = j*s.K + k
				}
				sum += float64(a[x]) * float64(b[y])
			}
			if s.Accumulate {
				sum += float64(c[i*s.N+j])
			}
			out[i*s.N+j] = float32(sum)
		}
	}
	return out
}

func TestGemm(t *testing.T) {
	onMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, size := range [][3]int{{1, 1, 1}, {1, 1, 0}, {3, 5, 7}, {8, 8, 8}, {1, 40, 70}, {64, 10, 500}, {33, 65, 129}, {100, 130, 600}} {
			for flags := range 8 {
				s := GemmShape{size[0], size[1], size[2], flags&1 != 0, flags&2 != 0, flags&4 != 0}
				a, b, c := values(s.M*s.K, 1), values(s.K*s.N, 2), values(s.M*s.N, 3)
				want := multiply(s, a, b, c)
				g, err := NewGemm(m, s)
				if err != nil {
					t.Fatal(err)
				}
				if !s.Accumulate {
					for i := range c {
						c[i] = float32(math.NaN()) // must be overwritten, not multiplied by zero
					}
				}
				if err := g.Run(a, b, nil, c); err != nil {
					t.Fatal(err)
				}
				near(t, s.String(), c, want, s.K)
			}
		}
	})
}

func TestGemmBias(t *testing.T) {
	onMachines(t, func(t *testing.T, m *cpe.Machine) {
		s := GemmShape{M: 9, N: 50, K: 700, TransB: true}
		a, b, bias, c := values(s.M*s.K, 1), values(s.K*s.N, 2), values(s.N, 4), make([]float32, s.M*s.N)
		want := multiply(s, a, b, c)
		for i := range want {
			want[i] += bias[i%s.N]
		}
		g, err := NewGemm(m, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Run(a, b, bias, c); err != nil {
			t.Fatal(err)
		}
		near(t, "c", c, want, s.K)
	})
}

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
	{2, 2, 3, 1, []int{9}, []int{3}, []int{2}, []int{1}, []int{1}},
	{1, 2, 3, 1, []int{4, 5, 6}, []int{2, 3, 2}, []int{1, 2, 1}, []int{1, 0, 1}, []int{1, 1, 2}},
}

func TestConv(t *testing.T) {
	onMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range convShapes {
			t.Run(s.String(), func(t *testing.T) { testConv(t, m, s) })
		}
	})
}

func testConv(t *testing.T, m *cpe.Machine, s ConvShape) {
	in, weights, out := s.N*s.C, s.Out*s.C/s.Group, s.N*s.Out
	for i, o := range s.OutSize() {
		in, weights, out = in*s.In[i], weights*s.Kernel[i], out*o
	}
	x, w, bias, dy := values(in, 1), values(weights, 2), values(s.Out, 3), values(out, 4)
	y, dx, dw := make([]float32, out), make([]float32, in), values(weights, 5)
	wantY, wantDX, wantDW := make([]float32, out), make([]float32, in), append([]float32(nil), dw...)
	for i := range wantY {
		wantY[i] = bias[i/(out/s.N/s.Out)%s.Out]
	}
	eachConv(s, func(ix, iw, iy int) {
		wantY[iy] += x[ix] * w[iw]
		wantDX[ix] += dy[iy] * w[iw]
		wantDW[iw] += dy[iy] * x[ix]
	})
	c, err := NewConv(m, s, Auto)
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

// TestCostOnlyChargesTheSame: a machine that moves no values writes the same ledger as one that does.
func TestCostOnlyChargesTheSame(t *testing.T) {
	full, cost := machine(t, "sw26010", false), machine(t, "sw26010", true)
	both := func(name string, run func(m *cpe.Machine) error) {
		t.Helper()
		var ledgers [2]cpe.Ledger
		for i, m := range []*cpe.Machine{full, cost} {
			m.ResetLedger()
			if err := run(m); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			ledgers[i] = m.Ledger()
		}
		if ledgers[0] != ledgers[1] {
			t.Errorf("%s: functional %+v, cost only %+v", name, ledgers[0], ledgers[1])
		}
		if ledgers[0].Time <= 0 || ledgers[0].GetBytes <= 0 {
			t.Errorf("%s: nothing was charged: %+v", name, ledgers[0])
		}
	}
	array := func(m *cpe.Machine, n int) []float32 {
		if !m.Values() {
			return nil
		}
		return values(n, 7)
	}
	for _, s := range []GemmShape{{M: 100, N: 130, K: 70}, {M: 20, N: 500, K: 1200, TransB: true, Accumulate: true}, {M: 3, N: 3, K: 3, TransA: true}} {
		both(s.String(), func(m *cpe.Machine) error {
			g, err := NewGemm(m, s)
			if err != nil {
				return err
			}
			return g.Run(array(m, s.M*s.K), array(m, s.K*s.N), nil, array(m, s.M*s.N))
		})
	}
	for _, s := range convShapes[:3] {
		both(s.String(), func(m *cpe.Machine) error {
			c, err := NewConv(m, s, Auto)
			if err != nil {
				return err
			}
			x, w, y := array(m, 2000), array(m, 2000), array(m, 6000)
			if err := c.Forward(x, w, nil, y); err != nil {
				return err
			}
			if err := c.WeightGrad(x, y, w); err != nil {
				return err
			}
			return c.InputGrad(y, w, x)
		})
	}
	both("stream", func(m *cpe.Machine) error {
		k, err := NewStream(m, Stream{Name: "scale", Dims: [3]int{4, 100, 700}, Ins: []Array{Full, Row}, Outs: []Array{Full}, Cost: Work{2, 1}, Op: func(*Tile) {}})
		if err != nil {
			return err
		}
		x := array(m, 280000)
		return k.Run([][]float32{x, array(m, 100)}, [][]float32{x})
	})
	both("pool", func(m *cpe.Machine) error {
		s := PoolShape{N: 2, C: 3, H: 13, W: 17, KH: 3, KW: 3, SH: 2, SW: 2, OH: 6, OW: 8}
		p, err := NewPool(m, s)
		if err != nil {
			return err
		}
		x, y := array(m, 6*13*17), array(m, 6*48)
		var mask []int32
		if m.Values() {
			mask = make([]int32, 6*48)
		}
		if err := p.Forward(x, y, mask, 0); err != nil {
			return err
		}
		return p.Backward(y, mask, x)
	})
}

func TestNothingIsAllocatedOnTheHost(t *testing.T) {
	m := machine(t, "host", false)
	s := convShapes[1]
	c, err := NewConv(m, s, Auto)
	if err != nil {
		t.Fatal(err)
	}
	x, w, y := values(3*144, 1), values(20*25, 2), values(3*20*64, 3)
	k, err := NewStream(m, Stream{Name: "x", Dims: [3]int{1, 1, len(y)}, Ins: []Array{Full}, Outs: []Array{Full}, Sums: 1, Op: func(t *Tile) { t.Sum[0]++ }})
	if err != nil {
		t.Fatal(err)
	}
	ins, outs := [][]float32{y}, [][]float32{y}
	allocs := testing.AllocsPerRun(10, func() {
		if c.Forward(x, w, nil, y) != nil || c.WeightGrad(x, y, w) != nil || c.InputGrad(y, w, x) != nil || k.Run(ins, outs) != nil {
			t.Error("a kernel failed")
		}
	})
	if allocs != 0 {
		t.Errorf("%g allocations a run", allocs)
	}
}

func TestLDMErrorNamesBytes(t *testing.T) {
	m := machine(t, "sw26010", false)
	_, err := NewStream(m, Stream{Name: "softmax", Dims: [3]int{1, 100000, 1}, WholeMid: true, Ins: []Array{Full}, Outs: []Array{Full}})
	if !cpe.IsLDM(err) {
		t.Fatalf("error %v, want an LDM error", err)
	}
	if want := fmt.Sprintf("softmax needs %d bytes of LDM on a CPE, there are 65536", 2*4*100000); err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

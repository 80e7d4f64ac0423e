package pool

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

var poolShapes = []Shape{
	{N: 2, C: 3, H: 8, W: 8, KH: 2, KW: 2, SH: 2, SW: 2, OH: 4, OW: 4},
	{N: 1, C: 2, H: 7, W: 9, KH: 3, KW: 2, SH: 2, SW: 3, PH: 1, PW: 1, OH: 4, OW: 4},
	{N: 2, C: 3, H: 30, W: 37, KH: 5, KW: 5, SH: 1, SW: 1, PH: 2, PW: 2, OH: 30, OW: 37},
	{N: 2, C: 2, H: 19, W: 40, KH: 4, KW: 7, SH: 3, SW: 5, PH: 1, PW: 3, OH: 7, OW: 9},
	{N: 1, C: 3, H: 11, W: 45, KH: 5, KW: 1, SH: 2, SW: 2, OH: 4, OW: 23},
	{N: 2, C: 1, H: 9, W: 20, KH: 2, KW: 2, SH: 4, SW: 3, OH: 3, OW: 7}, // inputs that no window meets
	{N: 2, C: 1, H: 6, W: 5, KH: 6, KW: 5, SH: 1, SW: 1, OH: 1, OW: 1},
	{N: 1, C: 1, H: 5, W: 5, KH: 3, KW: 3, SH: 2, SW: 2, OH: 3, OW: 3}, // the last windows are clipped
	{N: 1, C: 1, H: 4, W: 4, KH: 2, KW: 2, SH: 1, SW: 1, PH: 1, PW: 1, OH: 5, OW: 5},
	{N: 2, C: 2, H: 7, W: 9, KH: 7, KW: 12, SH: 2, SW: 2, OH: 1, OW: 1}, // a window larger than the plane
	{N: 3, C: 2, H: 7, W: 7, KH: 3, KW: 3, SH: 1, SW: 1, PH: 1, PW: 1, OH: 7, OW: 7},
	{N: 2, C: 2, H: 28, W: 34, KH: 3, KW: 3, SH: 1, SW: 1, PH: 2, PW: 0, OH: 30, OW: 32},
	{N: 1, C: 3, H: 14, W: 35, KH: 3, KW: 3, SH: 2, SW: 2, PH: 1, PW: 1, OH: 8, OW: 18},
	{N: 1, C: 3, H: 1, W: 1, KH: 3, KW: 3, SH: 2, SW: 2, PH: 1, PW: 1, OH: 1, OW: 1},
	{N: 1, C: 2, H: 8, W: 5, KH: 2, KW: 2, SH: 2, SW: 2, OH: 4, OW: 3},
	{N: 1, C: 2, H: 300, W: 90, KH: 3, KW: 3, SH: 2, SW: 2, OH: 150, OW: 45}, // several bands on a small LDM
	{N: 1, C: 1, H: 9, W: 9000, KH: 3, KW: 3, SH: 2, SW: 2, OH: 4, OW: 4500}, // strips: three rows exceed LDM
	// In pieces on the SW26010: a window, parts of rows of windows, and backward the outputs that an input is in.
	{N: 1, C: 3, H: 154, W: 154, KH: 154, KW: 154, SH: 1, SW: 1, OH: 1, OW: 1},
	{N: 1, C: 2, H: 1, W: 40000, KH: 1, KW: 20000, SH: 1, SW: 10000, OH: 1, OW: 3},
	{N: 1, C: 1, H: 126, W: 127, KH: 64, KW: 65, SH: 1, SW: 1, PH: 1, PW: 1, OH: 65, OW: 65},
}

// poolReference pools by the definition: every window is visited value by value. It is not instrumented for the race detector, which would make it
// slow; only one goroutine calls it.
//
//go:norace
func poolReference(s Shape, x []float32, key uint64) (y []float64, mask []int32) {
	y, mask = make([]float64, s.N*s.C*s.OH*s.OW), make([]int32, s.N*s.C*s.OH*s.OW)
	for o := range y {
		plane, oy, ox := x[o/(s.OH*s.OW)*s.H*s.W:][:s.H*s.W], o/s.OW%s.OH, o%s.OW
		top, left := oy*s.SH-s.PH, ox*s.SW-s.PW
		var sum, squares float64
		best, at := math.Inf(-1), -1
		for iy := max(top, 0); iy < min(top+s.KH, s.H); iy++ {
			for ix := max(left, 0); ix < min(left+s.KW, s.W); ix++ {
				v := float64(plane[iy*s.W+ix])
				sum, squares = sum+v, squares+v*v
				if v > best {
					best, at = v, iy*s.W+ix
				}
			}
		}
		switch {
		case s.Method == Max:
			y[o], mask[o] = best, int32(at)
		case s.Method == Ave:
			size := 0
			for iy := top; iy < min(top+s.KH, s.H+s.PH); iy++ {
				for ix := left; ix < min(left+s.KW, s.W+s.PW); ix++ {
					size++
				}
			}
			y[o] = sum / float64(size)
		case s.Train:
			y[o], mask[o] = drawnPlace(s, plane, top, left, sum*float64(stream.Uniform(key, uint64(o))))
		default:
			y[o] = squares / sum
		}
	}
	return y, mask
}

// drawnPlace returns the first value at which the sum of a window's values reaches a threshold, and its place; zeros if none does.
//
//go:norace
func drawnPlace(s Shape, plane []float32, top, left int, threshold float64) (float64, int32) {
	running := 0.0
	for iy := max(top, 0); iy < min(top+s.KH, s.H); iy++ {
		for ix := max(left, 0); ix < min(left+s.KW, s.W); ix++ {
			v := float64(plane[iy*s.W+ix])
			if running += v; running >= threshold {
				return v, int32(iy*s.W + ix)
			}
		}
	}
	return 0, 0
}

func TestPool(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, s := range racing.Few(poolShapes) {
			for _, way := range []struct {
				method Method
				train  bool
			}{{Max, true}, {Ave, true}, {Stochastic, true}, {Stochastic, false}} {
				s.Method, s.Train = way.method, way.train
				t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) { testPool(t, m, s) })
			}
		}
	})
}

func testPool(t *testing.T, m *cpe.Machine, s Shape) {
	in, out := s.N*s.C*s.H*s.W, s.N*s.C*s.OH*s.OW
	x, dy := kerneltest.Values(in, 1), kerneltest.Values(out, 2)
	for i := range x { // stochastic pooling is for activations >= 0; coarse steps make ties and exact sums
		x[i] = float32(math.Trunc(float64(x[i]+1)*16)) / 16
	}
	wantY, wantMask := poolReference(s, x, 9)
	p, err := New(m, s)
	if err != nil {
		t.Fatal(err)
	}
	y, mask, dx := make([]float32, out), make([]int32, out), make([]float32, in)
	if err := p.Forward(x, y, mask, 9); err != nil {
		t.Fatal(err)
	}
	kerneltest.Near(t, "y", y, wantY, s.KH*s.KW)
	if s.Masked() {
		for i := range mask {
			if mask[i] != wantMask[i] {
				t.Fatalf("mask[%d] = %d, want %d", i, mask[i], wantMask[i])
			}
		}
	} else if s.Method == Stochastic {
		return
	}
	for i := range dx {
		dx[i] = float32(math.NaN())
	}
	if err := p.Backward(dy, mask, dx); err != nil {
		t.Fatal(err)
	}
	kerneltest.Near(t, "dx", dx, poolBackwardReference(s, dy, wantMask), s.KH*s.KW)
}

// poolBackwardReference sums, for every input, the outputs that took it or whose mean it is in. Like poolReference it is not instrumented.
//
//go:norace
func poolBackwardReference(s Shape, dy []float32, mask []int32) []float64 {
	dx := make([]float64, s.N*s.C*s.H*s.W)
	for o := range dy {
		g := dy[o]
		plane, oy, ox := o/(s.OH*s.OW), o/s.OW%s.OH, o%s.OW
		if s.Method != Ave {
			dx[plane*s.H*s.W+int(mask[o])] += float64(g)
			continue
		}
		y0, x0 := oy*s.SH-s.PH, ox*s.SW-s.PW
		y1, x1 := min(y0+s.KH, s.H+s.PH), min(x0+s.KW, s.W+s.PW)
		for y := max(0, y0); y < min(s.H, y1); y++ {
			for x := max(0, x0); x < min(s.W, x1); x++ {
				dx[plane*s.H*s.W+y*s.W+x] += float64(g) / float64((y1-y0)*(x1-x0))
			}
		}
	}
	return dx
}

// TestMaxPoolingOrders: a NaN of either sign wins, zeros of both signs are equal and the first one is taken, and negative
// values and infinities order as they should.
func TestMaxPoolingOrders(t *testing.T) {
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1))
	cases := []struct {
		x    []float32
		want int32
	}{
		{[]float32{1, nan, 3, 2}, 1},
		{[]float32{1, 3, -nan, inf}, 2},
		{[]float32{zero, 0, 0, zero}, 0},
		{[]float32{-1, 0, zero, -1}, 1},
		{[]float32{-3, -2, -2.5, -4}, 1},
		{[]float32{-inf, -math.MaxFloat32, -inf, -inf}, 1},
		{[]float32{-inf, 5, inf, 7}, 2},
		{[]float32{1e-45, 0, -1e-45, 1e-45}, 0},
	}
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for i, c := range append(cases, cases...) {
			stride := 2 + 2*(i/len(cases)) // the host has kernels for strides of 2
			p, err := New(m, Shape{N: 1, C: 1, H: 2, W: 2, KH: 2, KW: 2, SH: stride, SW: stride, OH: 1, OW: 1})
			if err != nil {
				t.Fatal(err)
			}
			y, mask := make([]float32, 1), make([]int32, 1)
			if err := p.Forward(c.x, y, mask, 0); err != nil {
				t.Fatal(err)
			}
			want := c.x[c.want]
			if mask[0] != c.want || y[0] != want && want == want || y[0] == y[0] && want != want {
				t.Errorf("the largest of %v is %g at %d, want that at %d", c.x, y[0], mask[0], c.want)
			}
		}
	})
}

// TestMaxPoolingOfNothing: windows that begin behind the image, as with strides larger than windows, take nothing; a ReLU layer before
// the pooling, whose values they do not see, does not change what they give.
func TestMaxPoolingOfNothing(t *testing.T) {
	const nothing = -math.MaxFloat32
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		for _, relu := range []bool{false, true} {
			p, err := New(m, Shape{N: 1, C: 2, H: 2, W: 2, KH: 1, KW: 1, SH: 2, SW: 2, OH: 2, OW: 2, ReLU: relu})
			if err != nil {
				t.Fatal(err)
			}
			y, mask, dx := make([]float32, 8), make([]int32, 8), make([]float32, 8)
			if err := p.Forward([]float32{5, 1, 2, 3, -1, 4, 4, 4}, y, mask, 0); err != nil {
				t.Fatal(err)
			}
			wantY, wantMask, wantDx := []float32{5, nothing, nothing, nothing, -1, nothing, nothing, nothing}, []int32{0, -1, -1, -1, 0, -1, -1, -1}, []float32{1, 0, 0, 0, 5, 0, 0, 0}
			if relu {
				wantY[4], wantMask[4], wantDx[4] = 0, -1, 0
			}
			if err := p.Backward([]float32{1, 2, 3, 4, 5, 6, 7, 8}, mask, dx); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(y, wantY) || !slices.Equal(mask, wantMask) || !slices.Equal(dx, wantDx) {
				t.Errorf("ReLU %v: values %v, places %v, gradient %v; want %v, %v and %v", relu, y, mask, dx, wantY, wantMask, wantDx)
			}
		}
	})
}

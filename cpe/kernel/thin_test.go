package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/alloctest"
)

// leftBy lists where in a plane the pixels stand that strides meet.
func leftBy(h, w, strideH, strideW int) (at []int) {
	for y := 0; y < h; y += strideH {
		for x := 0; x < w; x += strideW {
			at = append(at, y*w+x)
		}
	}
	return at
}

// atFront returns images in blocks with some pixels of each plane at its front, and NaN behind them.
func atFront(images []float32, plane int, at []int) []float32 {
	thin := slices.Repeat([]float32{float32(math.NaN())}, len(images))
	for from := 0; from < len(images); from += plane * BlockLanes {
		for i, p := range at {
			copy(thin[from+i*BlockLanes:][:BlockLanes], images[from+p*BlockLanes:])
		}
	}
	return thin
}

// TestThinPlanes: any run of pixels is gathered, and spread between zeros as far as the next pixel that is left.
func TestThinPlanes(t *testing.T) {
	for _, p := range []Thin{{7, 9, 2, 2}, {8, 8, 2, 2}, {5, 7, 3, 1}, {1, 10, 1, 3}, {4, 4, 5, 7}} {
		at, size := leftBy(p.H, p.W, p.StrideH, p.StrideW), p.H*p.W
		if p.Pixels() != len(at) {
			t.Fatalf("%+v: %d pixels, want %d", p, p.Pixels(), len(at))
		}
		plane := values(size*BlockLanes, 3)
		for first := range at {
			for last := first + 1; last <= len(at); last++ {
				run := make([]float32, (last-first)*BlockLanes)
				p.Gather(run, plane, first, last)
				spread, end := slices.Clone(plane), size
				if last < len(at) {
					end = at[last]
				}
				want := slices.Clone(plane)
				clear(want[at[first]*BlockLanes : end*BlockLanes])
				for i, place := range at[first:last] {
					if !slices.Equal(run[i*BlockLanes:(i+1)*BlockLanes], plane[place*BlockLanes:(place+1)*BlockLanes]) {
						t.Fatalf("%+v: pixel %d is gathered wrong", p, first+i)
					}
					copy(want[place*BlockLanes:(place+1)*BlockLanes], plane[place*BlockLanes:])
				}
				if p.Spread(spread, run, first, last); !slices.Equal(spread, want) {
					t.Fatalf("%+v: pixels %d to %d are spread wrong", p, first, last)
				}
			}
		}
	}
}

// TestThinConvolution: a convolution of thin images computes, in all directions, the bits that it computes of whole ones, up to rounding
// where it adds to a gradient; it reads and writes nothing behind the pixels, and allocates nothing.
func TestThinConvolution(t *testing.T) {
	for _, s := range []ConvShape{
		conv2(2, 32, 48, 1, 9, 8, 1, 1, 2, 0, 1), conv2(3, 64, 16, 1, 14, 14, 1, 1, 2, 0, 1), conv2(2, 16, 37, 1, 31, 30, 1, 1, 3, 0, 1),
		conv2(1, 512, 320, 1, 8, 8, 1, 1, 2, 0, 1), conv2(9, 32, 32, 1, 2, 2, 1, 1, 2, 0, 1),
	} {
		t.Run(fmt.Sprint(s), func(t *testing.T) { testThinConvolution(t, s) })
	}
}

func testThinConvolution(t *testing.T, s ConvShape) {
	at, plane := leftBy(s.In[0], s.In[1], s.Stride[0], s.Stride[1]), size(s.In)
	v := newConvCase(s, values)
	x := lie(v.x, s.N*s.C, true, false)
	var made [2][4][]float32
	for i, thin := range []bool{false, true} {
		c, err := NewConv(hostMachine(t, 2), s, Implicit)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetBlocks(true, s.Out%BlockLanes == 0); err != nil {
			t.Fatal(err)
		}
		if h, w := c.Strides(); h != s.Stride[0] || w != s.Stride[1] {
			t.Fatalf("strides are %d and %d", h, w)
		}
		x, dx, sum, y, dw := x, slices.Clone(x), slices.Clone(x), slices.Clone(v.dy), slices.Clone(v.dw)
		if thin {
			x, dx, sum = atFront(x, plane, at), atFront(dx, plane, at), atFront(sum, plane, at)
			if err := c.SetThin(true); err != nil {
				t.Fatal(err)
			}
		}
		run := func() {
			for _, err := range []error{
				c.Forward(x, v.w, v.bias, y), c.WeightGradTo(x, v.dy, dw, nil, false), c.InputGrad(v.dy, v.w, dx), c.AddInputGrad(v.dy, v.w, sum),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		run()
		if !thin {
			dx, sum = atFront(dx, plane, at), atFront(sum, plane, at)
		}
		made[i] = [4][]float32{slices.Clone(y), slices.Clone(dw), slices.Clone(dx), slices.Clone(sum)}
		if allocs := alloctest.PerRun(2, run); allocs != 0 {
			t.Errorf("%d allocations a run", allocs)
		}
	}
	for i, name := range []string{"results", "weights' gradient", "images' gradient", "sum of gradients"} {
		var tolerance float64
		if i == 3 {
			tolerance = 1e-6 * float64(s.Out)
		}
		for k, w := range made[0][i] {
			got, want := float64(made[1][i][k]), float64(w)
			if !(math.Abs(got-want) <= tolerance) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: value %d of thin images is %g, %g of whole ones", name, k, got, want)
				break
			}
		}
	}
}

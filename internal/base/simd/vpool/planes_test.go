package vpool

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// planeShapes are the windows that have kernels over planes of all widths around those of vectors, with and without padding, and
// with last windows that reach past the plane.
func planeShapes() []Shape {
	var shapes []Shape
	for _, q := range [][2]int{{3, 1}, {3, 2}, {2, 2}} {
		k, s := q[0], q[1]
		for _, w := range []int{1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 18, 28, 31, 32, 33, 34, 35, 55, 67} {
			for _, h := range []int{1, 3, 6, 150} {
				for pad := range k {
					oh, ow := planeOutputs(h, k, s, pad), planeOutputs(w, k, s, pad)
					if (h < 10 || w == 55) && oh > 0 && ow > 0 {
						shapes = append(shapes, Shape{h, w, oh, ow, k, s, pad, pad})
					}
				}
			}
		}
	}
	return append(shapes, Shape{6, 20, 3, 21, 3, 1, 0, 2}, Shape{7, 7, 4, 3, 2, 2, 1, 0})
}

// planeOutputs rounds up, and drops a last window that begins behind the plane.
func planeOutputs(size, k, s, pad int) int {
	n := (size+2*pad-k+s-1)/s + 1
	for n > 0 && (n-1)*s >= size+pad {
		n--
	}
	return n
}

// eachTap visits the inputs of an output's window and returns the window's size.
func eachTap(s Shape, o int, visit func(at int)) (size int) {
	y0, x0 := o/s.OW*s.S-s.Top, o%s.OW*s.S-s.Left
	for y := y0; y < y0+s.K; y++ {
		for x := x0; x < x0+s.K; x++ {
			if y < s.H+s.Top && x < s.W+s.Left {
				size++
			}
			if y >= 0 && y < s.H && x >= 0 && x < s.W {
				visit(y*s.W + x)
			}
		}
	}
	return size
}

// coarse are n values of few steps, so that many are equal and sums are exact, and if odd is set with some NaN and infinities.
func coarse(n int, odd bool) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i*i%7) - 3
		if odd {
			switch i * i % 23 {
			case 4:
				v[i] = float32(math.NaN())
			case 9, 13:
				v[i] = float32(math.Inf(-1))
			}
		}
	}
	return v
}

// guarded is a slice of n values before which and behind which nothing may be written.
func guarded[T float32 | int32](n int) (inner []T, whole func() bool) {
	all := make([]T, n+40)
	for i := range all {
		all[i] = -77
	}
	return all[20 : 20+n : 20+n], func() bool {
		for i, v := range all {
			if (i < 20 || i >= 20+n) && v != -77 {
				return false
			}
		}
		return true
	}
}

func TestPlanes(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, s := range planeShapes() {
			p := NewPlanes(s)
			if p == nil {
				if level := isa.Name(); level == "avx512" || level == "avx2" {
					t.Fatalf("%+v: no kernel", s)
				}
				continue
			}
			t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
				checkMaxPlane(t, p, s)
				checkAveragePlane(t, p, s)
			})
		}
	})
}

func checkMaxPlane(t *testing.T, p *Planes, s Shape) {
	n, m := s.H*s.W, s.OH*s.OW
	for _, odd := range []bool{false, true} {
		x := coarse(n, odd)
		y, wholeY := guarded[float32](m)
		mask, wholeMask := guarded[int32](m)
		p.Max(y, mask, x)
		if !wholeY() || !wholeMask() {
			t.Fatal("Max writes around its outputs")
		}
		for o := range m {
			best := -1
			eachTap(s, o, func(at int) {
				if best < 0 || x[best] == x[best] && !(x[at] <= x[best]) {
					best = at
				}
			})
			if int(mask[o]) != best || math.Float32bits(y[o]) != math.Float32bits(x[best]) {
				t.Fatalf("maximum %d is %g at %d, want %g at %d", o, y[o], mask[o], x[best], best)
			}
		}
		dy, want := coarse(m, false), make([]float32, n)
		for o, at := range mask {
			want[at] += dy[o]
		}
		dx, whole := guarded[float32](n)
		p.MaxGrad(dx, dy, mask)
		comparePlane(t, "MaxGrad", dx, want, whole)
	}
}

func checkAveragePlane(t *testing.T, p *Planes, s Shape) {
	n, m := s.H*s.W, s.OH*s.OW
	x, dy := coarse(n, false), coarse(m, false)
	y, wholeY := guarded[float32](m)
	dx, wholeX := guarded[float32](n)
	wantY, wantX := make([]float32, m), make([]float32, n)
	for o := range m {
		var sum float32
		size := float32(eachTap(s, o, func(at int) { sum += x[at] }))
		wantY[o] = sum / size
		eachTap(s, o, func(at int) { wantX[at] += dy[o] / size })
	}
	p.Average(y, x)
	comparePlane(t, "Average", y, wantY, wholeY)
	p.AverageGrad(dx, dy, make([]float32, m))
	comparePlane(t, "AverageGrad", dx, wantX, wholeX)
}

// comparePlane demands the bits of the plain loops, which add in the order of the outputs.
func comparePlane(t *testing.T, what string, got, want []float32, whole func() bool) {
	t.Helper()
	if !whole() {
		t.Fatalf("%s writes around its values", what)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: value %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

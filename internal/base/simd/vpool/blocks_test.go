package vpool

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// blockShapes are windows of many forms over planes that they fill, exceed and leave parts of, with and without padding.
func blockShapes() []BlocksShape {
	var shapes []BlocksShape
	for _, k := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {2, 3}, {5, 2}, {7, 7}, {15, 15}} {
		for _, step := range [][2]int{{1, 1}, {2, 2}, {3, 1}, {2, 5}} {
			for _, size := range [][2]int{{1, 1}, {2, 5}, {7, 7}, {9, 16}} {
				for pad := range min(k[0], k[1], 3) {
					s := BlocksShape{H: size[0], W: size[1], KH: k[0], KW: k[1], SH: step[0], SW: step[1], Top: pad, Left: pad / 2}
					s.OH, s.OW = blockOutputs(s.H, s.KH, s.SH, s.Top), blockOutputs(s.W, s.KW, s.SW, s.Left)
					if s.OH > 0 && s.OW > 0 {
						shapes = append(shapes, s)
						s.OH, s.OW = (s.OH+1)/2, (s.OW+1)/2 // inputs that no window meets
						shapes = append(shapes, s)
					}
				}
			}
		}
	}
	return shapes
}

// blockOutputs rounds up, and drops a last window that begins behind the plane.
func blockOutputs(size, k, step, pad int) int {
	n := (size+2*pad-k+step-1)/step + 1
	for n > 0 && (n-1)*step >= size+pad {
		n--
	}
	return n
}

// eachPlace visits the inputs of an output's window, with their place in the window, and returns the window's size.
func eachPlace(s *BlocksShape, o int, visit func(at, place int)) (size int) {
	for place := range s.KH * s.KW {
		y, x := o/s.OW*s.SH-s.Top+place/s.KW, o%s.OW*s.SW-s.Left+place%s.KW
		if y < s.H+s.Top && x < s.W+s.Left {
			size++
		}
		if y >= 0 && y < s.H && x >= 0 && x < s.W {
			visit(y*s.W+x, place)
		}
	}
	return size
}

func TestBlockPool(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, s := range blockShapes() {
			t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
				checkMaxBlocks(t, s, false, true)
				checkMaxBlocks(t, s, true, s.H%2 == 0)
				checkAverageBlocks(t, s)
			})
		}
	})
}

// checkMaxBlocks compares with what each lane has by the definition.
func checkMaxBlocks(t *testing.T, s BlocksShape, odd, relu bool) {
	n, m := s.H*s.W, s.OH*s.OW
	x, dy := coarse(n*isa.BlockLanes, odd), coarse(m*isa.BlockLanes, false)
	for i := range x {
		if x[i] > 0 && i%5 < 4 {
			x[i] = float32(math.Copysign(0, float64(i%2)-1)) // equal to each other, and not above 0
		}
	}
	y, wholeY := guarded[float32](m * isa.BlockLanes)
	dx, wholeX := guarded[float32](n * isa.BlockLanes)
	taken, want := make([]uint8, m*isa.BlockLanes+9), make([]float32, n*isa.BlockLanes)
	p := NewBlocks(s)
	p.Max(y, taken[:m*isa.BlockLanes], x, Rows{0, s.OH}, relu)
	for i := range y {
		best, code := -1, noPlace
		eachPlace(&s, i/isa.BlockLanes, func(at, place int) {
			at = at*isa.BlockLanes + i%isa.BlockLanes
			if best < 0 || x[best] == x[best] && !(x[at] <= x[best]) {
				best, code = at, place
			}
		})
		value := x[best]
		if relu && value <= 0 {
			value, code = 0, noPlace
		} else {
			want[best] += dy[i]
		}
		if int(taken[i]) != code || math.Float32bits(y[i]) != math.Float32bits(value) {
			t.Fatalf("maximum %d is %g from place %d, want %g from %d", i, y[i], taken[i], value, code)
		}
	}
	for _, v := range taken[m*isa.BlockLanes:] {
		if v != 0 || !wholeY() {
			t.Fatal("Max writes behind its outputs")
		}
	}
	p.MaxGrad(dx, dy, taken, Rows{0, s.H})
	comparePlane(t, "MaxGrad", dx, want, wholeX)
}

func checkAverageBlocks(t *testing.T, s BlocksShape) {
	s.Means = true
	n, m := s.H*s.W, s.OH*s.OW
	x, dy := coarse(n*isa.BlockLanes, false), coarse(m*isa.BlockLanes, false)
	y, wholeY := guarded[float32](m * isa.BlockLanes)
	dx, wholeX := guarded[float32](n * isa.BlockLanes)
	wantY, wantX := make([]float32, m*isa.BlockLanes), make([]float32, n*isa.BlockLanes)
	for i := range y {
		var sum float32
		visit := func(use func(at int)) (size int) {
			return eachPlace(&s, i/isa.BlockLanes, func(at, _ int) { use(at*isa.BlockLanes + i%isa.BlockLanes) })
		}
		size := float32(visit(func(at int) { sum += x[at] }))
		wantY[i] = sum / size
		visit(func(at int) { wantX[at] += dy[i] / size })
	}
	p := NewBlocks(s)
	p.Average(y, x, Rows{0, s.OH})
	comparePlane(t, "Average", y, wantY, wholeY)
	p.AverageGrad(dx, dy, make([]float32, m*isa.BlockLanes), Rows{0, s.H})
	comparePlane(t, "AverageGrad", dx, wantX, wholeX)
	p.AverageGrad(dx, dy, dy, Rows{0, s.H})
	comparePlane(t, "AverageGrad in place", dx, wantX, wholeX)
}

// TestBlockPoolBands: rows of outputs, and of inputs, have the same values whichever rows are worked on together.
func TestBlockPoolBands(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for _, s := range []BlocksShape{
			{H: 9, W: 5, OH: 5, OW: 3, KH: 3, KW: 3, SH: 2, SW: 2, Top: 1, Left: 1},
			{H: 9, W: 6, OH: 9, OW: 6, KH: 3, KW: 3, SH: 1, SW: 1, Top: 1, Left: 1},
			{H: 11, W: 4, OH: 3, OW: 2, KH: 2, KW: 2, SH: 4, SW: 3}, // rows and columns that no window meets
		} {
			for rows := 1; rows <= 4; rows++ {
				t.Run(fmt.Sprintf("%+v, %d rows", s, rows), func(t *testing.T) { checkBands(t, s, rows) })
			}
		}
	})
}

// checkBands gives each band only the rows that it meets, and compares with a single band.
func checkBands(t *testing.T, s BlocksShape, rows int) {
	n, m := s.H*s.W*isa.BlockLanes, s.OH*s.OW*isa.BlockLanes
	x, dy, taken := coarse(n, true), coarse(m, false), make([]uint8, m)
	var y, dx [2][]float32
	for _, means := range []bool{false, true} {
		s.Means = means
		p := NewBlocks(s)
		for k, band := range []int{max(s.H, s.OH), rows} {
			y[k], dx[k] = make([]float32, m), coarse(n, true)
			for lo := 0; lo < s.OH; lo += band {
				r := Rows{lo, min(lo+band, s.OH)}
				from, to := part(x, p.Inputs(r), s.W), part(y[k], r, s.OW)
				if means {
					p.Average(to, from, r)
				} else {
					p.Max(to, part(taken, r, s.OW), from, r, false)
				}
			}
			for lo := 0; lo < s.H; lo += band {
				r := Rows{lo, min(lo+band, s.H)}
				from, to := part(dy, p.Outputs(r), s.OW), part(dx[k], r, s.W)
				if means {
					p.AverageGrad(to, from, make([]float32, len(from)), r)
				} else {
					p.MaxGrad(to, from, part(taken, p.Outputs(r), s.OW), r)
				}
			}
		}
		for i := range y[0] {
			if math.Float32bits(y[0][i]) != math.Float32bits(y[1][i]) {
				t.Fatalf("means %t: output %d is %g, of all rows together %g", means, i, y[1][i], y[0][i])
			}
		}
		comparePlane(t, "a gradient", dx[1], dx[0], func() bool { return true })
	}
}

// part is some rows of a plane of rows of w pixels.
func part[T any](plane []T, r Rows, w int) []T {
	return plane[r.From*w*isa.BlockLanes : r.To*w*isa.BlockLanes : r.To*w*isa.BlockLanes]
}

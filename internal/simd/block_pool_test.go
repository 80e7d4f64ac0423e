package simd

import (
	"fmt"
	"math"
	"testing"
)

// blockShapes are windows of many forms over planes that they fill, exceed and leave parts of, with and without padding.
func blockShapes() []BlockPoolShape {
	var shapes []BlockPoolShape
	for _, k := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {2, 3}, {5, 2}, {7, 7}, {15, 15}} {
		for _, step := range [][2]int{{1, 1}, {2, 2}, {3, 1}, {2, 5}} {
			for _, size := range [][2]int{{1, 1}, {2, 5}, {7, 7}, {9, 16}} {
				for pad := range min(k[0], k[1], 3) {
					s := BlockPoolShape{H: size[0], W: size[1], KH: k[0], KW: k[1], SH: step[0], SW: step[1], Top: pad, Left: pad / 2}
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
func eachPlace(s *BlockPoolShape, o int, visit func(at, place int)) (size int) {
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
	each(t, func(t *testing.T) {
		for _, s := range blockShapes() {
			t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
				for _, odd := range []bool{false, true} {
					for _, relu := range []bool{false, true} {
						checkMaxBlocks(t, s, odd, relu)
					}
				}
				checkAverageBlocks(t, s)
			})
		}
	})
}

// checkMaxBlocks compares with what each lane has by the definition.
func checkMaxBlocks(t *testing.T, s BlockPoolShape, odd, relu bool) {
	n, m := s.H*s.W, s.OH*s.OW
	x, dy := coarse(n*BlockLanes, odd), coarse(m*BlockLanes, false)
	y, wholeY := guarded[float32](m * BlockLanes)
	dx, wholeX := guarded[float32](n * BlockLanes)
	taken, want := make([]uint8, m*BlockLanes+9), make([]float32, n*BlockLanes)
	p := NewBlockPool(s)
	p.Max(y, taken[:m*BlockLanes], x, Rows{0, s.OH}, relu)
	for i := range y {
		best, code := -1, noPlace
		eachPlace(&s, i/BlockLanes, func(at, place int) {
			at = at*BlockLanes + i%BlockLanes
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
	for _, v := range taken[m*BlockLanes:] {
		if v != 0 || !wholeY() {
			t.Fatal("Max writes behind its outputs")
		}
	}
	p.MaxGrad(dx, dy, taken, Rows{0, s.H})
	comparePlane(t, "MaxGrad", dx, want, wholeX)
}

func checkAverageBlocks(t *testing.T, s BlockPoolShape) {
	s.Means = true
	n, m := s.H*s.W, s.OH*s.OW
	x, dy := coarse(n*BlockLanes, false), coarse(m*BlockLanes, false)
	y, wholeY := guarded[float32](m * BlockLanes)
	dx, wholeX := guarded[float32](n * BlockLanes)
	wantY, wantX := make([]float32, m*BlockLanes), make([]float32, n*BlockLanes)
	for i := range y {
		var sum float32
		visit := func(use func(at int)) (size int) {
			return eachPlace(&s, i/BlockLanes, func(at, _ int) { use(at*BlockLanes + i%BlockLanes) })
		}
		size := float32(visit(func(at int) { sum += x[at] }))
		wantY[i] = sum / size
		visit(func(at int) { wantX[at] += dy[i] / size })
	}
	p := NewBlockPool(s)
	p.Average(y, x, Rows{0, s.OH})
	comparePlane(t, "Average", y, wantY, wholeY)
	p.AverageGrad(dx, dy, make([]float32, m*BlockLanes), Rows{0, s.H})
	comparePlane(t, "AverageGrad", dx, wantX, wholeX)
	p.AverageGrad(dx, dy, dy, Rows{0, s.H})
	comparePlane(t, "AverageGrad in place", dx, wantX, wholeX)
}

package vconv

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// tapOffsets is the largest number of offsets in a call of tapSums.
const tapOffsets = 5

// TapPixels are the pixels that TapKernel convolves: rows of N. Inputs of neighbouring pixels are Step values apart, rows of inputs NextX; results are To
// apart, rows of results NextC.
type TapPixels struct{ Rows, N, Step, NextX, To, NextC int }

// TapKernel is the micro-kernel of depthwise convolutions of images in blocks of channels, for rows r, pixels i and the 16 channels j of a block:
//
//	c[r*NextC+i*To+j] = start[j] + Σk x[offs[k]+r*NextX+i*Step+j] * w[k*16+j]
//
// With floor, values below 0 become 0; NaN stays.
func TapKernel(r *TapPixels, offs []int, x, w, start, c []float32, floor bool) {
	const lanes = isa.BlockLanes
	if len(offs) > 0 {
		_ = w[len(offs)*lanes-1]
	}
	_, _ = start[lanes-1], c[(r.Rows-1)*r.NextC+(r.N-1)*r.To+lanes-1]
	each, less, more := even(r.N, have.TapPixels)
	small, large := have.Taps[each], have.Taps[min(each+1, have.TapPixels)]
	if small == none || large == none || len(offs) == 0 {
		for at := range r.Rows * r.N {
			row, i := at/r.N, at%r.N
			tapGo(offs, x[row*r.NextX+i*r.Step:], w, start, c[row*r.NextC+i*r.To:], floor)
		}
		return
	}
	run := func(kernel taps, first, tiles, pixels int) {
		n := tiles * pixels
		kernel.run(r.Rows, tiles, len(offs), &x[first*r.Step], r.Step, r.NextX-n*r.Step, &offs[0], &w[0], &start[0], &c[first*r.To], r.To, r.NextC-n*r.To, floor)
	}
	if more > 0 {
		run(large, 0, more, each+1)
	}
	run(small, more*(each+1), less, each)
}

// tapGo computes a pixel.
func tapGo(offs []int, x, w, start, c []float32, floor bool) {
	sums := [isa.BlockLanes]float32(start)
	for k, at := range offs {
		for j, v := range x[at:][:isa.BlockLanes] {
			sums[j] += v * w[k*isa.BlockLanes+j]
		}
	}
	for j, v := range sums {
		if floor && v < 0 {
			v = 0
		}
		c[j] = v
	}
}

// TapRows are the pixels that TapSums adds up: rows of N pixels. Inputs of neighbouring pixels are Step apart, rows of inputs NextX. Gradients lie
// side by side; rows of gradients are NextY apart.
type TapRows struct{ Rows, N, Step, NextX, NextY int }

// TapSums is the micro-kernel of the weight gradient of depthwise convolutions:
//
//	c[k*16+j] (+)= Σ x[offs[k]+p*Step+j] * y[p*16+j] over the pixels p of all rows
//
// where x and y begin with the first row's. C is not read unless accumulate is set.
func TapSums(r *TapRows, offs []int, x, y, c []float32, accumulate bool) {
	const lanes = isa.BlockLanes
	_, _ = y[(r.Rows-1)*r.NextY+r.N*lanes-1], c[len(offs)*lanes-1]
	for k := 0; k < len(offs); k += tapOffsets {
		some := offs[k:min(k+tapOffsets, len(offs))]
		kernel := have.TapSums[len(some)]
		if kernel == none {
			for i, at := range some {
				tapSumsGo(r, x[at:], y, c[(k+i)*lanes:], accumulate)
			}
			continue
		}
		for lane := 0; lane < lanes; lane += isa.Lanes() {
			kernel.run(r.Rows, r.N, &x[lane], &some[0], r.Step, r.NextX-r.N*r.Step, &y[lane], r.NextY-r.N*lanes, &c[k*lanes+lane], accumulate)
		}
	}
}

// tapSumsGo computes an offset.
func tapSumsGo(r *TapRows, x, y, c []float32, accumulate bool) {
	var sums [isa.BlockLanes]float32
	if accumulate {
		sums = [isa.BlockLanes]float32(c)
	}
	for row := range r.Rows {
		for p := range r.N {
			for j, v := range y[row*r.NextY+p*isa.BlockLanes:][:isa.BlockLanes] {
				sums[j] += v * x[row*r.NextX+p*r.Step+j]
			}
		}
	}
	copy(c, sums[:])
}

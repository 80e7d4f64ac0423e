package simd

// tapPixels is the number of pixels of TapKernel's tiles at most, tapOffsets that of offsets which are summed over pixels at once.
const tapPixels, tapOffsets = 12, 5

// TapPixels are those that TapKernel convolves: N of them, whose input at an offset lies Step behind that of the pixel before, and
// whose results To behind.
type TapPixels struct{ N, Step, To int }

// TapKernel is the micro kernel of depthwise convolutions of images in blocks of channels, for pixels i and the 16 channels j of a block:
//
//	c[i*To+j] = start[j] + Σk x[offs[k]+i*Step+j] * w[k*16+j]
//
// or 0 where that would be below, if floor is set; NaN stays.
func TapKernel(r *TapPixels, offs []int, x, w, start, c []float32, floor bool) {
	const lanes = BlockLanes
	if len(offs) > 0 {
		_ = w[len(offs)*lanes-1]
	}
	_, _ = start[lanes-1], c[(r.N-1)*r.To+lanes-1]
	if active.width == 0 || len(offs) == 0 {
		for i := range r.N {
			tapGo(offs, x[i*r.Step:], w, start, c[i*r.To:], floor)
		}
		return
	}
	// Tiles are as many pixels as others, or one less.
	tiles := quotient(r.N+tapPixels-1, tapPixels)
	each := quotient(r.N, tiles)
	more := r.N - tiles*each
	done := more * (each + 1)
	for lane := 0; lane < lanes; lane += active.width {
		from, to := x[lane:], c[lane:]
		if more > 0 {
			active.taps(each+1, more, offs, &from[0], r.Step, &w[lane], &start[lane], &to[0], r.To, floor)
		}
		active.taps(each, tiles-more, offs, &from[done*r.Step], r.Step, &w[lane], &start[lane], &to[done*r.To], r.To, floor)
	}
}

// tapGo does a pixel.
func tapGo(offs []int, x, w, start, c []float32, floor bool) {
	sums := [BlockLanes]float32(start)
	for k, at := range offs {
		for j, v := range x[at:][:BlockLanes] {
			sums[j] += v * w[k*BlockLanes+j]
		}
	}
	for j, v := range sums {
		if floor {
			v = max(v, 0)
		}
		c[j] = v
	}
}

// TapRows are the pixels that TapSums adds up: rows of N, whose inputs at an offset lie Step apart, rows NextX, and rows of gradients, which
// lie pixel behind pixel, NextY.
type TapRows struct{ Rows, N, Step, NextX, NextY int }

// TapSums is the micro kernel of the weight gradient of such convolutions:
//
//	c[k*16+j] (+)= Σ x[offs[k]+p*Step+j] * y[p*16+j] over the pixels p of all rows
//
// where x and y begin with the first row's. C is not read unless accumulate is set.
func TapSums(r *TapRows, offs []int, x, y, c []float32, accumulate bool) {
	const lanes = BlockLanes
	_, _ = y[(r.Rows-1)*r.NextY+r.N*lanes-1], c[len(offs)*lanes-1]
	if active.width == 0 {
		for k, at := range offs {
			tapSumsGo(r, x[at:], y, c[k*lanes:], accumulate)
		}
		return
	}
	for k := 0; k < len(offs); k += tapOffsets {
		some := offs[k:min(k+tapOffsets, len(offs))]
		for lane := 0; lane < lanes; lane += active.width {
			active.tapSums(r, some, &x[lane], &y[lane], &c[k*lanes+lane], accumulate)
		}
	}
}

// tapSumsGo does an offset.
func tapSumsGo(r *TapRows, x, y, c []float32, accumulate bool) {
	var sums [BlockLanes]float32
	if accumulate {
		sums = [BlockLanes]float32(c)
	}
	for row := range r.Rows {
		for p := range r.N {
			for j, v := range y[row*r.NextY+p*BlockLanes:][:BlockLanes] {
				sums[j] += v * x[row*r.NextX+p*r.Step+j]
			}
		}
	}
	copy(c, sums[:])
}

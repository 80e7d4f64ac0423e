package onnxtest

import (
	"math"
	"slices"
)

// resize has the modes nearest and linear, by scales or sizes.
func resize(c *call) {
	x := c.in[0]
	dims := slices.Clone(x.Dims)
	scales := make([]float64, len(dims))
	for i := range dims {
		if s := c.input(3); s != nil && len(s.Data) > 0 {
			dims[i] = int(s.Data[i])
			scales[i] = float64(dims[i]) / float64(x.Dims[i])
			continue
		}
		scales[i] = c.in[2].Data[i]
		dims[i] = int(math.Floor(float64(x.Dims[i]) * scales[i]))
	}
	weights := make([][]map[int]float64, len(dims)) // of the inputs, by axis and output
	for axis := range dims {
		for o := range dims[axis] {
			weights[axis] = append(weights[axis], c.taps(source(c.text("coordinate_transformation_mode", "half_pixel"), o, x.Dims[axis], dims[axis], scales[axis]), x.Dims[axis]))
		}
	}
	y := New(dims...)
	each(dims, func(n int, index []int) { y.Data[n] = interpolated(x, weights, index, 0, 0) })
	c.out[0] = y
}

func (c *call) text(name, missing string) string {
	if a := c.attr(name); a != nil {
		return string(a.GetS())
	}
	return missing
}

// source returns the place in the input that output o of an axis reads.
func source(mode string, o, in, out int, scale float64) float64 {
	at := float64(o)
	switch mode {
	case "half_pixel":
		return (at+0.5)/scale - 0.5
	case "pytorch_half_pixel":
		if out == 1 {
			return 0
		}
		return (at+0.5)/scale - 0.5
	case "align_corners":
		if out == 1 {
			return 0
		}
		return at * float64(in-1) / float64(out-1)
	case "asymmetric":
		return at / scale
	}
	panic("coordinate_transformation_mode " + mode)
}

// taps returns the weights of the inputs around a place.
func (c *call) taps(at float64, n int) map[int]float64 {
	within := func(v float64) int { return max(0, min(int(v), n-1)) }
	if c.text("mode", "nearest") == "linear" {
		first, next := math.Floor(at), at-math.Floor(at)
		taps := map[int]float64{within(first): 1 - next}
		taps[within(first+1)] += next
		return taps
	}
	switch c.text("nearest_mode", "round_prefer_floor") {
	case "floor":
		at = math.Floor(at)
	case "ceil":
		at = math.Ceil(at)
	case "round_prefer_floor":
		at = math.Ceil(at - 0.5)
	default:
		at = math.Floor(at + 0.5)
	}
	return map[int]float64{within(at): 1}
}

// interpolated sums the inputs of an output, axis by axis.
func interpolated(x *Tensor, weights [][]map[int]float64, index []int, axis, at int) (sum float64) {
	if axis == len(index) {
		return x.Data[at]
	}
	taps := weights[axis][index[axis]]
	for k := range x.Dims[axis] {
		if w := taps[k]; w != 0 {
			sum += w * interpolated(x, weights, index, axis+1, at*x.Dims[axis]+k)
		}
	}
	return sum
}

// scatterElements writes values in order, so that the last of equal places wins.
func scatterElements(c *call) {
	y := New(c.in[0].Dims...)
	copy(y.Data, c.in[0].Data)
	axis := axisOf(c.int("axis", 0), len(y.Dims))
	each(c.in[1].Dims, func(n int, index []int) {
		at := 0
		for i, k := range index {
			if i == axis {
				k = int(c.in[1].Data[n])
			}
			at = at*y.Dims[i] + k
		}
		y.Data[at] = c.in[2].Data[n]
	})
	c.out[0] = y
}

// bins visits the bins of all regions and channels: the plane that they read, the region, and their indices.
func bins(x *Tensor, regions, h, w int, image func(r int) int, f func(plane []float64, r, row, col int) float64) *Tensor {
	y, size := New(regions, x.Dims[1], h, w), x.Dims[2]*x.Dims[3]
	each(y.Dims, func(n int, index []int) {
		first := (image(index[0])*x.Dims[1] + index[1]) * size
		y.Data[n] = f(x.Data[first:first+size], index[0], index[2], index[3])
	})
	return y
}

func maxRoiPool(c *call) {
	x, rois, shape, scale := c.in[0], c.in[1], c.list("pooled_shape", nil), c.float("spatial_scale", 1)
	span := func(r, axis, k int) (int, int) { // axis 0 is y
		first, last := math.Round(rois.Data[r*5+2-axis]*scale), math.Round(rois.Data[r*5+4-axis]*scale)
		bin := math.Max(last-first+1, 1) / float64(shape[axis])
		limit := func(v float64) int { return int(math.Max(0, math.Min(v, float64(x.Dims[2+axis])))) }
		return limit(math.Floor(float64(k)*bin) + first), limit(math.Ceil(float64(k+1)*bin) + first)
	}
	c.out[0] = bins(x, rois.Dims[0], shape[0], shape[1], func(r int) int { return int(rois.Data[r*5]) }, func(plane []float64, r, row, col int) float64 {
		top, bottom := span(r, 0, row)
		left, right := span(r, 1, col)
		best := math.Inf(-1)
		for i := top; i < bottom; i++ {
			for j := left; j < right; j++ {
				best = math.Max(best, plane[i*x.Dims[3]+j])
			}
		}
		if math.IsInf(best, -1) {
			return 0
		}
		return best
	})
}

// roiAlign takes averages, without a shift of half a pixel.
func roiAlign(c *call) {
	x, rois, scale := c.in[0], c.in[1], c.float("spatial_scale", 1)
	h, w, ratio := c.int("output_height", 1), c.int("output_width", 1), c.int("sampling_ratio", 0)
	if c.runner.opset >= 16 && c.text("coordinate_transformation_mode", "half_pixel") != "output_half_pixel" {
		panic("RoiAlign: coordinate_transformation_mode")
	}
	// places returns where the samples of bin k are along an axis.
	places := func(r, axis, k, count int) (at []float64) {
		first := rois.Data[r*4+1-axis] * scale
		bin := math.Max(rois.Data[r*4+3-axis]*scale-first, 1) / float64(count)
		n := ratio
		if n == 0 {
			n = int(math.Ceil(bin))
		}
		for i := range n {
			at = append(at, first+float64(k)*bin+(float64(i)+0.5)*bin/float64(n))
		}
		return at
	}
	c.out[0] = bins(x, rois.Dims[0], h, w, func(r int) int { return int(c.in[2].Data[r]) }, func(plane []float64, r, row, col int) (sum float64) {
		ys, xs := places(r, 0, row, h), places(r, 1, col, w)
		for _, v := range ys {
			for _, u := range xs {
				sum += bilinear(plane, x.Dims[2], x.Dims[3], v, u)
			}
		}
		return sum / float64(max(1, len(ys)*len(xs)))
	})
}

// bilinear returns a plane's value at a place, 0 more than a pixel outside.
func bilinear(plane []float64, h, w int, y, x float64) (sum float64) {
	if y < -1 || y > float64(h) || x < -1 || x > float64(w) {
		return 0
	}
	y, x = math.Min(math.Max(y, 0), float64(h-1)), math.Min(math.Max(x, 0), float64(w-1))
	for i := range h {
		for j := range w {
			sum += math.Max(0, 1-math.Abs(y-float64(i))) * math.Max(0, 1-math.Abs(x-float64(j))) * plane[i*w+j]
		}
	}
	return sum
}

package intake

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// coordinate is the place in an axis of in values that output o of out reads, by coordinate_transformation_mode.
func coordinate(mode string, o, in, out int, scale float64) (float64, error) {
	switch at := float64(o); mode {
	case "half_pixel":
		return (at+0.5)/scale - 0.5, nil
	case "pytorch_half_pixel":
		if out == 1 {
			return 0, nil
		}
		return (at+0.5)/scale - 0.5, nil
	case "align_corners":
		return at * float64(in-1) / float64(max(1, out-1)), nil
	case "asymmetric":
		return at / scale, nil
	}
	return 0, fmt.Errorf("coordinate_transformation_mode %q has no form in Caffe", mode)
}

// interpolation has a row of weights for each output of an axis: the two values around its place, the first and last value beyond the ends.
func interpolation(mode string, in, out int, scale float64) (*onnx.Tensor, error) {
	if float64(in)*float64(out) > maxFolded {
		return nil, fmt.Errorf("a matrix of %d x %d for one axis", out, in)
	}
	t := floats(make([]float32, out*in), out, in)
	for o := range out {
		at, err := coordinate(mode, o, in, out, scale)
		if err != nil {
			return nil, err
		}
		at = max(0, min(at, float64(in-1)))
		low := int(math.Floor(at))
		high := min(low+1, in-1)
		t.Floats[o*in+high] += float32(at - float64(low))
		t.Floats[o*in+low] += float32(1 - (at - float64(low)))
	}
	return t, nil
}

// interpolated resizes axes 2 and 3 linearly. Each is a product with a matrix, an InnerProduct layer over the last axis.
func (c chain) interpolated(v *value, out []int, scales []float64, mode string) *value {
	for _, axis := range []int{3, 2} {
		in := v.shape[axis]
		t := must(interpolation(mode, in, out[axis], scales[axis]))
		if in == out[axis] && scales[axis] == 1 {
			continue
		}
		if axis == 3 {
			v = c.matrix(v, t)
		} else {
			v = c.swapped(c.matrix(c.swapped(v), t))
		}
	}
	return v
}

// inSingle is coordinate as ONNX Runtime computes it, in single precision.
func inSingle(mode string, o, in, out int, scale float64) float64 {
	at, s := float32(o), float32(scale)
	switch {
	case mode == "asymmetric":
		return float64(at / s)
	case mode == "align_corners":
		return float64(float32(at*float32(in-1)) / float32(max(1, out-1)))
	case mode == "pytorch_half_pixel" && out == 1:
		return 0
	}
	return float64(float32((at+0.5)/s) - 0.5)
}

// nearest has the value that each output of an axis repeats. A place next to where the rounding jumps, but not on it, is refused: programs compute it
// with other precisions. On the jump, ONNX Runtime's rounding errors decide: place 7 of 14 values may become 6.9999995.
func nearest(mode, rounding string, in, out int, scale float64) ([]int, error) {
	round, ok := roundings[rounding]
	if !ok {
		return nil, fmt.Errorf("nearest_mode %q is unknown", rounding)
	}
	list := make([]int, out)
	for o := range list {
		at, err := coordinate(mode, o, in, out, scale)
		if err != nil {
			return nil, err
		}
		jump := at
		if rounding == "round_prefer_floor" || rounding == "round_prefer_ceil" {
			jump += 0.5
		}
		if d := math.Abs(jump - math.Round(jump)); d < 1e-4 {
			if d > 1e-9 {
				return nil, fmt.Errorf("output %d of an axis reads place %g, where nearest_mode %q depends on the precision of scales", o, at, rounding)
			}
			at = inSingle(mode, o, in, out, scale)
		}
		list[o] = max(0, min(int(round(at)), in-1))
	}
	return list, nil
}

// repeats reports whether outputs times*i to times*(i+1)-1 read value i.
func repeats(list []int, times int) bool {
	for o, i := range list {
		if times < 1 || i != o/times {
			return false
		}
	}
	return true
}

// nearestOf resizes axes 2 and 3 by lists of values: an Upsample layer if each pixel is repeated equally often along both, else BatchReindex.
func (c chain) nearestOf(v *value, out []int, scales []float64, mode, rounding string) *value {
	rows := must(nearest(mode, rounding, v.shape[2], out[2], scales[2]))
	columns := must(nearest(mode, rounding, v.shape[3], out[3], scales[3]))
	if times := out[2] / v.shape[2]; out[2] == times*v.shape[2] && out[3] == times*v.shape[3] && repeats(rows, times) && repeats(columns, times) {
		return c.layer("Upsample", &caffepb.LayerParameter{UpsampleParam: &caffepb.UpsampleParameter{Scale: proto.Uint32(uint32(times))}}, v)
	}
	for k, list := range [][]int{rows, columns} {
		if len(list) == v.shape[2+k] && repeats(list, 1) {
			continue
		}
		t := floats(make([]float32, len(list)), len(list))
		for o, i := range list {
			t.Floats[o] = float32(i)
		}
		v = c.gathered(v, 2+k, must(c.held(t, c.GetOutput()[0]+"_pixels")))
	}
	return v
}

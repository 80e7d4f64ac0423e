package intake

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// resize is Resize, and Upsample of old opsets. Two kinds have a layer in forks of Caffe: linear with corners on corners is Interp, and nearest
// is Upsample if it repeats each pixel equally often along both axes. Others are products with matrices, and lists of pixels (matrices.go).
func resize(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	out, scales, err := n.resized(v.shape)
	if err != nil {
		return err
	}
	if len(v.shape) < 3 || len(v.shape) > 4 || !slices.Equal(out[:2], v.shape[:2]) {
		return fmt.Errorf("it makes shape %v of %v; Caffe's layers resize the last two of four axes", out, v.shape)
	}
	if len(v.shape) == 4 {
		return n.resizeImage(v, out, scales)
	}
	line := out
	if v, err = n.reshape(v, slices.Insert(slices.Clone(v.shape), 2, 1)); err != nil {
		return err
	}
	if err := n.resizeImage(v, slices.Insert(slices.Clone(out), 2, 1), slices.Insert(scales, 2, 1)); err != nil {
		return err
	}
	return composed(func(c chain) *value { return c.shaped(c.values[c.GetOutput()[0]], line...) })(n)
}

// resizeImage resizes the last two of four axes.
func (n *node) resizeImage(v *value, out []int, scales []float64) error {
	mode := n.text("mode", "nearest")
	coordinates := n.text("coordinate_transformation_mode", "half_pixel")
	if n.opset < 11 { // Upsample, and Resize of opset 10
		coordinates = "asymmetric"
	}
	rounding := n.text("nearest_mode", "round_prefer_floor")
	if n.opset < 11 {
		rounding = "floor"
	}
	if coordinates == "tf_crop_and_resize" {
		return fmt.Errorf("coordinate_transformation_mode %q, which cuts out a region, has no form in Caffe", coordinates)
	}
	if slices.Equal(out, v.shape) && scales[2] == 1 && scales[3] == 1 {
		n.set(0, v)
		return nil
	}
	switch {
	case mode == "nearest":
		return composed(func(c chain) *value { return c.nearestOf(v, out, scales, coordinates, rounding) })(n)
	case mode != "linear" && mode != "bilinear":
		return fmt.Errorf("mode %q has no form in Caffe", mode)
	case coordinates == "align_corners" || out[2] == v.shape[2] && out[3] == v.shape[3]:
		for axis := 2; axis < 4; axis++ {
			if size := scales[axis] * float64(v.shape[axis]); math.Abs(size-math.Round(size)) > 1e-4 {
				return fmt.Errorf("scale %g of an axis of %d gives %g values: with align_corners programs differ in which of them is the last", scales[axis], v.shape[axis], size)
			}
		}
		return n.one("Interp", &caffepb.LayerParameter{
			InterpParam: &caffepb.InterpParameter{Height: proto.Int32(int32(out[2])), Width: proto.Int32(int32(out[3]))},
		}, []*value{v})
	}
	return composed(func(c chain) *value { return c.interpolated(v, out, scales, coordinates) })(n)
}

// resized returns the shape of a Resize's output and the factors that coordinates are computed with.
func (n *node) resized(shape []int) (out []int, scales []float64, err error) {
	factors, sizes, err := n.resizeInputs()
	if err != nil {
		return nil, nil, err
	}
	if axes := n.ints("axes", nil); axes != nil { // the others keep their sizes
		if factors, err = onAxes(factors, axes, len(shape), func(int) float32 { return 1 }); err != nil {
			return nil, nil, err
		}
		if sizes, err = onAxes(sizes, axes, len(shape), func(axis int) int { return shape[axis] }); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case len(factors) == len(shape):
		for i, f := range factors {
			size := math.Floor(float64(float32(shape[i]) * f))
			if !(f > 0) || size < 1 || size > math.MaxInt32 {
				return nil, nil, fmt.Errorf("scales %v for a value of shape %v", factors, shape)
			}
			out, scales = append(out, int(size)), append(scales, float64(f))
		}
	case len(sizes) == len(shape):
		for i, size := range sizes {
			if size < 1 || shape[i] < 1 {
				return nil, nil, fmt.Errorf("sizes %v for a value of shape %v", sizes, shape)
			}
			out, scales = append(out, size), append(scales, float64(size)/float64(shape[i]))
		}
	default:
		return nil, nil, fmt.Errorf("scales %v and sizes %v for a value of shape %v", factors, sizes, shape)
	}
	return out, scales, nil
}

// onAxes places values given for some axes, and rest for the other ones. No values stay none.
func onAxes[T any](values []T, axes []int, n int, rest func(axis int) T) ([]T, error) {
	if len(values) == 0 {
		return nil, nil
	}
	if len(values) != len(axes) {
		return nil, fmt.Errorf("%v for the axes %v", values, axes)
	}
	all := make([]T, n)
	for axis := range all {
		all[axis] = rest(axis)
	}
	for k, axis := range axes {
		axis, err := axisOf(axis, n)
		if err != nil {
			return nil, err
		}
		all[axis] = values[k]
	}
	return all, nil
}

// resizeInputs returns the scales or the sizes. Opset 18 added a policy for keeping the aspect ratio.
func (n *node) resizeInputs() (factors []float32, sizes []int, err error) {
	if n.text("keep_aspect_ratio_policy", "stretch") != "stretch" || n.int("antialias", 0) != 0 {
		return nil, nil, fmt.Errorf("keep_aspect_ratio_policy and antialias are not translated")
	}
	if a := n.attr("scales"); a != nil { // Upsample-7
		return a.GetFloats(), nil, nil
	}
	at := 1
	if n.GetOpType() == "Resize" && n.opset >= 11 {
		at = 2 // behind the region of interest, which only tf_crop_and_resize reads
		sizes, err = n.list("", 3)
		if err != nil {
			return nil, nil, err
		}
	}
	var t *onnx.Tensor
	if t, err = n.optional(at); err != nil || t == nil {
		return nil, sizes, err
	}
	return t.Floats, sizes, nil
}

var roundings = map[string]func(float64) float64{
	"floor": math.Floor, "ceil": math.Ceil,
	"round_prefer_floor": func(v float64) float64 { return math.Ceil(v - 0.5) },
	"round_prefer_ceil":  func(v float64) float64 { return math.Floor(v + 0.5) },
}

// maxRoiPool is the ROIPooling layer of Fast R-CNN.
func maxRoiPool(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	rois, err := n.plain(1)
	if err != nil {
		return err
	}
	shape := n.ints("pooled_shape", nil)
	if len(shape) != 2 || shape[0] < 1 || shape[1] < 1 {
		return fmt.Errorf("pooled_shape %v; ROIPooling has two positive numbers", shape)
	}
	return n.one("ROIPooling", &caffepb.LayerParameter{RoiPoolingParam: &caffepb.ROIPoolingParameter{
		PooledH: proto.Uint32(uint32(shape[0])), PooledW: proto.Uint32(uint32(shape[1])), SpatialScale: proto.Float32(n.float("spatial_scale", 1)),
	}}, []*value{v, rois})
}

package export

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// The rules in this file are for layers that pool regions of interest: rows of image, x1, y1, x2 and y2.

// regions gives the second bottom two axes.
func (l *layer) regions() string {
	ds := l.dims(l.bottom[1])
	return l.reshape(l.in[1], ds, []dim{ds[0], {n: 5}})
}

func roiPooling(l *layer) error {
	p := l.p.GetRoiPoolingParam()
	l.set(0, l.node("MaxRoiPool", []string{l.in[0], l.regions()},
		attr{"pooled_shape", []int{int(p.GetPooledH()), int(p.GetPooledW())}}, attr{"spatial_scale", p.GetSpatialScale()}))
	return nil
}

// roiAlign splits the regions, because RoiAlign takes the images and the corners apart. From opset 16 on RoiAlign shifts regions by half a pixel
// unless told not to.
func roiAlign(l *layer) error {
	p, rois := l.p.GetRoiAlignParam(), l.regions()
	image := l.node("Gather", []string{rois, l.integer("image", 0)}, attr{"axis", 1})
	image = l.node("Cast", []string{image}, attr{"to", int(onnxpb.TensorProto_INT64)})
	corners := l.node("Slice", []string{rois, l.ints("first", 1), l.ints("end", 5), l.ints("axis", 1)})
	mode := attr{name: "coordinate_transformation_mode"}
	if l.opt.Opset >= 16 {
		mode.value = "output_half_pixel"
	}
	l.set(0, l.node("RoiAlign", []string{l.in[0], corners, image}, attr{"output_height", int(p.GetPooledH())}, attr{"output_width", int(p.GetPooledW())},
		attr{"sampling_ratio", max(0, int(p.GetSamplingRatio()))}, attr{"spatial_scale", p.GetSpatialScale()}, mode))
	return nil
}

// priorBox is a constant: boxes depend on the sizes of the bottoms and on no value.
func priorBox(l *layer) error {
	if err := l.net.Layer(l.index).Forward(l.bottom, l.top); err != nil {
		return err
	}
	l.constants(l.array("boxes", slices.Clone(l.top[0].Data()), slices.Clone(l.top[0].Shape())...))
	return nil
}

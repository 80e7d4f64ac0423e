package proto

import (
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// transformFields were once fields of each data layer's parameters. transform_param has them under the same names.
var transformFields = []protoreflect.Name{"scale", "mean_file", "crop_size", "mirror"}

// moveTransforms moves the transformation fields of V1 data layers to transform_param. It reports whether there were any.
func (u *upgrader) moveTransforms() bool {
	moved := false
	for _, l := range u.net.Layers {
		var from protoreflect.Message
		switch l.GetType() {
		case caffepb.V1LayerParameter_DATA:
			from = l.DataParam.ProtoReflect()
		case caffepb.V1LayerParameter_IMAGE_DATA:
			from = l.ImageDataParam.ProtoReflect()
		case caffepb.V1LayerParameter_WINDOW_DATA:
			from = l.WindowDataParam.ProtoReflect()
		default:
			continue
		}
		for _, name := range heldTransforms(from) {
			if l.TransformParam == nil {
				l.TransformParam = &caffepb.TransformationParameter{}
			}
			old := from.Descriptor().Fields().ByName(name)
			to := l.TransformParam.ProtoReflect()
			to.Set(to.Descriptor().Fields().ByName(name), from.Get(old))
			from.Clear(old)
			moved = true
		}
	}
	return moved
}

// heldTransforms returns the transformation fields set in the parameters of a data layer.
func heldTransforms(m protoreflect.Message) []protoreflect.Name {
	var held []protoreflect.Name
	for _, name := range transformFields {
		if m.Has(m.Descriptor().Fields().ByName(name)) {
			held = append(held, name)
		}
	}
	return held
}

// warnIgnoredTransforms warns of transformation fields at their old place in a layer of the current form. Caffe ignores them
// silently, except for the scale of WindowData.
func (u *upgrader) warnIgnoredTransforms() {
	for i, l := range u.net.Layer {
		var m protoreflect.Message
		switch l.GetType() {
		case "Data":
			m = l.DataParam.ProtoReflect()
		case "ImageData":
			m = l.ImageDataParam.ProtoReflect()
		case "WindowData":
			m = l.WindowDataParam.ProtoReflect()
			if l.GetTransformParam() != nil && l.TransformParam.Scale != nil {
				u.warn("%s: layer %q: scale is ignored in transform_param, where an old net's goes; WindowData takes it from window_data_param",
					u.where(u.origin[i]), l.GetName())
			}
		default:
			continue
		}
		for _, name := range heldTransforms(m) {
			if l.GetType() == "WindowData" && name == "scale" {
				continue
			}
			u.warn("%s: layer %q: %s is ignored in the layer's own parameters; it belongs in transform_param",
				u.where(u.origin[i]), l.GetName(), name)
		}
	}
}

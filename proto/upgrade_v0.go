package proto

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// v0Types maps V0's type names to V1 types.
var v0Types = map[string]caffepb.V1LayerParameter_LayerType{
	"accuracy":                  caffepb.V1LayerParameter_ACCURACY,
	"bnll":                      caffepb.V1LayerParameter_BNLL,
	"concat":                    caffepb.V1LayerParameter_CONCAT,
	"conv":                      caffepb.V1LayerParameter_CONVOLUTION,
	"data":                      caffepb.V1LayerParameter_DATA,
	"dropout":                   caffepb.V1LayerParameter_DROPOUT,
	"euclidean_loss":            caffepb.V1LayerParameter_EUCLIDEAN_LOSS,
	"flatten":                   caffepb.V1LayerParameter_FLATTEN,
	"hdf5_data":                 caffepb.V1LayerParameter_HDF5_DATA,
	"hdf5_output":               caffepb.V1LayerParameter_HDF5_OUTPUT,
	"im2col":                    caffepb.V1LayerParameter_IM2COL,
	"images":                    caffepb.V1LayerParameter_IMAGE_DATA,
	"infogain_loss":             caffepb.V1LayerParameter_INFOGAIN_LOSS,
	"innerproduct":              caffepb.V1LayerParameter_INNER_PRODUCT,
	"lrn":                       caffepb.V1LayerParameter_LRN,
	"multinomial_logistic_loss": caffepb.V1LayerParameter_MULTINOMIAL_LOGISTIC_LOSS,
	"pool":                      caffepb.V1LayerParameter_POOLING,
	"relu":                      caffepb.V1LayerParameter_RELU,
	"sigmoid":                   caffepb.V1LayerParameter_SIGMOID,
	"softmax":                   caffepb.V1LayerParameter_SOFTMAX,
	"softmax_loss":              caffepb.V1LayerParameter_SOFTMAX_LOSS,
	"split":                     caffepb.V1LayerParameter_SPLIT,
	"tanh":                      caffepb.V1LayerParameter_TANH,
	"window_data":               caffepb.V1LayerParameter_WINDOW_DATA,
}

// v0Fields maps every field of a V0 layer to a field of the V1 layer, by the layer's V0 type; "*" means any type.
var v0Fields = map[string]map[string]string{
	"num_output":        {"conv": "convolution_param.num_output", "innerproduct": "inner_product_param.num_output"},
	"biasterm":          {"conv": "convolution_param.bias_term", "innerproduct": "inner_product_param.bias_term"},
	"weight_filler":     {"conv": "convolution_param.weight_filler", "innerproduct": "inner_product_param.weight_filler"},
	"bias_filler":       {"conv": "convolution_param.bias_filler", "innerproduct": "inner_product_param.bias_filler"},
	"pad":               {"conv": "convolution_param.pad", "pool": "pooling_param.pad"},
	"kernelsize":        {"conv": "convolution_param.kernel_size", "pool": "pooling_param.kernel_size"},
	"group":             {"conv": "convolution_param.group"},
	"stride":            {"conv": "convolution_param.stride", "pool": "pooling_param.stride"},
	"pool":              {"pool": "pooling_param.pool"},
	"dropout_ratio":     {"dropout": "dropout_param.dropout_ratio"},
	"local_size":        {"lrn": "lrn_param.local_size"},
	"alpha":             {"lrn": "lrn_param.alpha"},
	"beta":              {"lrn": "lrn_param.beta"},
	"k":                 {"lrn": "lrn_param.k"},
	"source":            {"data": "data_param.source", "hdf5_data": "hdf5_data_param.source", "images": "image_data_param.source", "window_data": "window_data_param.source", "infogain_loss": "infogain_loss_param.source"},
	"batchsize":         {"data": "data_param.batch_size", "hdf5_data": "hdf5_data_param.batch_size", "images": "image_data_param.batch_size", "window_data": "window_data_param.batch_size"},
	"rand_skip":         {"data": "data_param.rand_skip", "images": "image_data_param.rand_skip"},
	"scale":             {"*": "transform_param.scale"},
	"meanfile":          {"*": "transform_param.mean_file"},
	"cropsize":          {"*": "transform_param.crop_size"},
	"mirror":            {"*": "transform_param.mirror"},
	"new_height":        {"images": "image_data_param.new_height"},
	"new_width":         {"images": "image_data_param.new_width"},
	"shuffle_images":    {"images": "image_data_param.shuffle"},
	"det_fg_threshold":  {"window_data": "window_data_param.fg_threshold"},
	"det_bg_threshold":  {"window_data": "window_data_param.bg_threshold"},
	"det_fg_fraction":   {"window_data": "window_data_param.fg_fraction"},
	"det_context_pad":   {"window_data": "window_data_param.context_pad"},
	"det_crop_mode":     {"window_data": "window_data_param.crop_mode"},
	"concat_dim":        {"concat": "concat_param.concat_dim"},
	"name":              {"*": "name"},
	"blobs":             {"*": "blobs"},
	"blobs_lr":          {"*": "blobs_lr"},
	"weight_decay":      {"*": "weight_decay"},
	"hdf5_output_param": {"hdf5_output": "hdf5_output_param"},
}

func isV0(p *caffepb.NetParameter) bool {
	for _, l := range p.Layers {
		if l.Layer != nil {
			return true
		}
	}
	return false
}

// fromV0 turns V0 layers into V1 layers. V0 nets pad by separate padding layers; their padding moves into the layer that reads
// them.
func (u *upgrader) fromV0() error {
	if err := u.foldPadding(); err != nil {
		return err
	}
	var errs []error
	for i, l := range u.net.Layers {
		if l.Layer == nil {
			continue
		}
		upgraded, err := u.layerFromV0(l)
		if err != nil {
			errs = append(errs, u.layerError(i, l.Layer.GetName(), err))
		}
		u.net.Layers[i] = upgraded
	}
	return errors.Join(errs...)
}

// layerFromV0 makes a V1 layer. It drops fields without a meaning for the layer's type with a warning, as Caffe does.
func (u *upgrader) layerFromV0(old *caffepb.V1LayerParameter) (*caffepb.V1LayerParameter, error) {
	v0 := old.Layer
	l := &caffepb.V1LayerParameter{Bottom: old.Bottom, Top: old.Top}
	for _, fd := range setFields(v0.ProtoReflect()) {
		name := string(fd.Name())
		if name == "type" {
			t, ok := v0Types[v0.GetType()]
			if !ok {
				return nil, fmt.Errorf("unknown V0 layer type %q%s", v0.GetType(), suggest.DidYouMean(v0.GetType(), slices.Sorted(maps.Keys(v0Types))))
			}
			l.Type = t.Enum()
			continue
		}
		to, ok := v0Fields[name]["*"]
		if !ok {
			to, ok = v0Fields[name][v0.GetType()]
		}
		if !ok {
			u.warn("Unknown parameter %s for layer type %s (layer %q): it is dropped", name, v0.GetType(), v0.GetName())
			continue
		}
		if err := put(l.ProtoReflect(), to, v0.ProtoReflect().Get(fd)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return l, nil
}

// put sets a field of m, or of a message in m if path is "message.field". A repeated field gets v as its only value. An unsigned
// field accepts a non-negative signed v.
func put(m protoreflect.Message, path string, v protoreflect.Value) error {
	if message, field, nested := strings.Cut(path, "."); nested {
		m, path = m.Mutable(m.Descriptor().Fields().ByName(protoreflect.Name(message))).Message(), field
	}
	fd := m.Descriptor().Fields().ByName(protoreflect.Name(path))
	if n, signed := v.Interface().(int32); signed && fd.Kind() == protoreflect.Uint32Kind {
		if n < 0 {
			return fmt.Errorf("%d is negative", n)
		}
		v = protoreflect.ValueOfUint32(uint32(n))
	}
	if _, isList := v.Interface().(protoreflect.List); fd.IsList() && !isList {
		m.Mutable(fd).List().Append(v)
	} else {
		m.Set(fd, v)
	}
	return nil
}

// foldPadding drops V0's padding layers, and adds their padding to the convolution or pooling that reads them.
func (u *upgrader) foldPadding() error {
	source := map[string]*caffepb.V1LayerParameter{} // the layer that made each blob so far
	var kept []*caffepb.V1LayerParameter
	var origin []int
	for i, l := range u.net.Layers {
		for j, bottom := range l.Bottom {
			pad := source[bottom]
			if pad == nil || pad.Layer.GetType() != "padding" {
				continue
			}
			if err := absorbPadding(l, pad); err != nil {
				return u.layerError(i, l.Layer.GetName(), err)
			}
			l.Bottom[j] = pad.Bottom[0]
		}
		for _, top := range l.Top {
			source[top] = l
		}
		if l.Layer.GetType() != "padding" {
			kept, origin = append(kept, l), append(origin, u.origin[i])
		}
	}
	u.net.Layers, u.origin = kept, origin
	return nil
}

// absorbPadding gives layer l the padding of the padding layer it reads.
func absorbPadding(l, pad *caffepb.V1LayerParameter) error {
	if t := l.Layer.GetType(); t != "conv" && t != "pool" {
		return fmt.Errorf("reads padding layer %q, but its type is %q; only conv and pool can be padded", pad.Layer.GetName(), t)
	}
	if len(l.Bottom) != 1 || len(pad.Bottom) != 1 || len(pad.Top) != 1 {
		return fmt.Errorf("it has %d bottoms and padding layer %q has %d bottoms and %d tops; each must be 1",
			len(l.Bottom), pad.Layer.GetName(), len(pad.Bottom), len(pad.Top))
	}
	l.Layer.Pad = proto.Uint32(pad.Layer.GetPad())
	return nil
}

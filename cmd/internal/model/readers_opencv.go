package model

import (
	"math"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// opencvRule is what OpenCV 4's importer makes of a parameter of a type of layers.
type opencvRule struct {
	types   []string
	applies func(l placed) bool
	reason  string
}

// opencvRules: the importer refuses what they name, or passes over it and computes other values without a word.
var opencvRules = []opencvRule{
	{windows, func(l placed) bool { return len(l.bottoms) > 0 && len(l.bottoms[0]) != 4 }, "it takes images alone, of four axes"},
	{windows, func(l placed) bool {
		p := given(l.param.GetConvolutionParam())
		return (p.PadH == nil) != (p.PadW == nil) && max(p.GetPadH(), p.GetPadW()) > 0
	}, "it passes over one of pad_h and pad_w alone: write both"},
	{[]string{"Deconvolution"}, func(l placed) bool {
		return slices.ContainsFunc(l.param.GetConvolutionParam().GetDilation(), func(d uint32) bool { return d != 1 })
	}, "it passes over dilation"},
	{[]string{"Pooling"}, func(l placed) bool { return l.param.GetPoolingParam().GetPool() == caffepb.PoolingParameter_STOCHASTIC }, "it has no STOCHASTIC pooling"},
	{[]string{"LRN"}, func(l placed) bool { return given(l.param.GetLrnParam()).Alpha == nil }, "without alpha it takes 0.0001, Caffe 1: write alpha"},
	{[]string{"LRN"}, func(l placed) bool {
		return l.param.GetLrnParam().GetK() != 1 && l.param.GetLrnParam().GetNormRegion() == caffepb.LRNParameter_ACROSS_CHANNELS
	}, "it passes over k"},
	{[]string{"Log"}, func(l placed) bool {
		p := l.param.GetLogParam()
		return p.GetBase() != -1 || p.GetScale() != 1 || p.GetShift() != 0
	}, "it passes over base, scale and shift"},
	{[]string{"MVN"}, func(l placed) bool {
		return l.param.GetMvnParam().GetNormalizeVariance() && l.param.GetMvnParam().GetEps() > 1e-6
	}, "it adds eps to the variance, Caffe to the deviation"},
	{[]string{"InnerProduct"}, func(l placed) bool { return l.param.GetInnerProductParam().GetTranspose() }, "it passes over transpose"},
	{[]string{"Concat"}, func(l placed) bool { return l.param.GetConcatParam().GetConcatDim() != 1 }, "it passes over concat_dim and joins axis 1: write axis"},
	{[]string{"Slice"}, func(l placed) bool { return l.param.GetSliceParam().GetSliceDim() != 1 }, "it passes over slice_dim and cuts axis 1: write axis"},
	{[]string{"PReLU"}, func(l placed) bool { return l.param.GetPreluParam().GetChannelShared() }, "it refuses channel_shared"},
	{[]string{"Normalize"}, func(l placed) bool {
		return l.param.GetNormParam() != nil && l.param.GetNormParam().GetChannelShared()
	}, "it refuses channel_shared: true, which is the value of a norm_param without it"},
	{[]string{"Scale"}, func(l placed) bool { return len(l.bottoms) == 1 && l.param.GetScaleParam().GetNumAxes() == 0 }, "it refuses a single factor, num_axes: 0"},
	{[]string{"Permute"}, func(l placed) bool {
		return len(l.bottoms) > 0 && len(l.param.GetPermuteParam().GetOrder()) != len(l.bottoms[0])
	}, "it wants the order of all axes"},
	{[]string{"Input"}, func(l placed) bool { return len(l.param.GetInputParam().GetShape()) < len(l.tops) }, "it wants a shape for each top"},
	{[]string{"PriorBox"}, func(l placed) bool { return given(l.param.GetPriorBoxParam()).Clip == nil }, "without clip it clips boxes, Caffe does not: write clip"},
	{[]string{"PriorBox"}, func(l placed) bool { return len(l.param.GetPriorBoxParam().GetVariance()) == 0 }, "it wants variance"},
	{[]string{"PriorBox"}, func(l placed) bool {
		p := given(l.param.GetPriorBoxParam())
		return p.ImgSize != nil || p.ImgH != nil || p.ImgW != nil
	}, "it passes over img_size, img_h and img_w"},
	{[]string{"PriorBox"}, func(l placed) bool {
		p := l.param.GetPriorBoxParam()
		return slices.ContainsFunc(slices.Concat(p.GetMinSize(), p.GetMaxSize()), func(s float32) bool { return float64(s) != math.Trunc(float64(s)) })
	}, "it cuts min_size and max_size to whole numbers"},
	{[]string{"DetectionOutput"}, func(l placed) bool {
		p := given(l.param.GetDetectionOutputParam())
		return p.CodeType == nil || p.ShareLocation == nil || p.BackgroundLabelId == nil || given(p.GetNmsParam()).NmsThreshold == nil
	}, "it wants code_type, share_location, background_label_id and nms_threshold"},
	{[]string{"DetectionOutput"}, func(l placed) bool { return l.param.GetDetectionOutputParam().GetBackgroundLabelId() < 0 }, "it wants a background_label_id of 0 or more"},
	{[]string{"DetectionOutput"}, func(l placed) bool { return l.param.GetDetectionOutputParam().GetVarianceEncodedInTarget() }, "with variance_encoded_in_target it wants other priors"},
	{[]string{"DetectionOutput"}, func(l placed) bool { return l.param.GetDetectionOutputParam().GetNmsParam().GetEta() != 1 }, "it suppresses otherwise with eta"},
}

// windows are the types with a convolution_param.
var windows = []string{"Convolution", "Deconvolution"}

// opencvLacks has the fields of layers and their parameters that OpenCV's schema lacks: it refuses a file that has one of them.
var opencvLacks = map[string][]string{
	"LayerParameter":           {"precision", "quantization_param"},
	"BatchNormParameter":       {"engine", "scale_filler", "bias_filler"},
	"ConvolutionParameter":     {"hole", "hole_h", "hole_w"},
	"DetectionOutputParameter": {"visualize", "visualize_threshold", "save_file"},
	"InnerProductParameter":    {"normalize"},
	"PoolingParameter":         {"round_mode"},
}

func opencvSchema(l placed) string {
	var unknown []string
	look := func(m protoreflect.Message) {
		for _, name := range opencvLacks[string(m.Descriptor().Name())] {
			if m.Has(m.Descriptor().Fields().ByName(protoreflect.Name(name))) {
				unknown = append(unknown, name)
			}
		}
	}
	look(l.param.ProtoReflect())
	l.param.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Message() != nil && !f.IsList() {
			look(v.Message())
		}
		return true
	})
	if len(unknown) == 0 {
		return ""
	}
	slices.Sort(unknown)
	return "it refuses the file, because it knows no " + strings.Join(unknown, ", ")
}

// given returns a message, an empty one for nil, so that its fields can be asked for.
func given[T any](p *T) *T {
	if p == nil {
		p = new(T)
	}
	return p
}

// opencvLimits returns a limit for each rule, so that every reason against a layer is named.
func opencvLimits() (list []limit) {
	for _, r := range opencvRules {
		list = append(list, func(l placed) string {
			if slices.Contains(r.types, l.param.GetType()) && r.applies(l) {
				return r.reason
			}
			return ""
		})
	}
	return list
}

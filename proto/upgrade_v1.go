package proto

import (
	"fmt"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// v1Types are the names of V1's enum values.
var v1Types = map[caffepb.V1LayerParameter_LayerType]string{
	caffepb.V1LayerParameter_NONE:                       "",
	caffepb.V1LayerParameter_ABSVAL:                     "AbsVal",
	caffepb.V1LayerParameter_ACCURACY:                   "Accuracy",
	caffepb.V1LayerParameter_ARGMAX:                     "ArgMax",
	caffepb.V1LayerParameter_BNLL:                       "BNLL",
	caffepb.V1LayerParameter_CONCAT:                     "Concat",
	caffepb.V1LayerParameter_CONTRASTIVE_LOSS:           "ContrastiveLoss",
	caffepb.V1LayerParameter_CONVOLUTION:                "Convolution",
	caffepb.V1LayerParameter_DATA:                       "Data",
	caffepb.V1LayerParameter_DECONVOLUTION:              "Deconvolution",
	caffepb.V1LayerParameter_DROPOUT:                    "Dropout",
	caffepb.V1LayerParameter_DUMMY_DATA:                 "DummyData",
	caffepb.V1LayerParameter_EUCLIDEAN_LOSS:             "EuclideanLoss",
	caffepb.V1LayerParameter_ELTWISE:                    "Eltwise",
	caffepb.V1LayerParameter_EXP:                        "Exp",
	caffepb.V1LayerParameter_FLATTEN:                    "Flatten",
	caffepb.V1LayerParameter_HDF5_DATA:                  "HDF5Data",
	caffepb.V1LayerParameter_HDF5_OUTPUT:                "HDF5Output",
	caffepb.V1LayerParameter_HINGE_LOSS:                 "HingeLoss",
	caffepb.V1LayerParameter_IM2COL:                     "Im2col",
	caffepb.V1LayerParameter_IMAGE_DATA:                 "ImageData",
	caffepb.V1LayerParameter_INFOGAIN_LOSS:              "InfogainLoss",
	caffepb.V1LayerParameter_INNER_PRODUCT:              "InnerProduct",
	caffepb.V1LayerParameter_LRN:                        "LRN",
	caffepb.V1LayerParameter_MEMORY_DATA:                "MemoryData",
	caffepb.V1LayerParameter_MULTINOMIAL_LOGISTIC_LOSS:  "MultinomialLogisticLoss",
	caffepb.V1LayerParameter_MVN:                        "MVN",
	caffepb.V1LayerParameter_POOLING:                    "Pooling",
	caffepb.V1LayerParameter_POWER:                      "Power",
	caffepb.V1LayerParameter_RELU:                       "ReLU",
	caffepb.V1LayerParameter_SIGMOID:                    "Sigmoid",
	caffepb.V1LayerParameter_SIGMOID_CROSS_ENTROPY_LOSS: "SigmoidCrossEntropyLoss",
	caffepb.V1LayerParameter_SILENCE:                    "Silence",
	caffepb.V1LayerParameter_SOFTMAX:                    "Softmax",
	caffepb.V1LayerParameter_SOFTMAX_LOSS:               "SoftmaxWithLoss",
	caffepb.V1LayerParameter_SPLIT:                      "Split",
	caffepb.V1LayerParameter_SLICE:                      "Slice",
	caffepb.V1LayerParameter_TANH:                       "TanH",
	caffepb.V1LayerParameter_WINDOW_DATA:                "WindowData",
	caffepb.V1LayerParameter_THRESHOLD:                  "Threshold",
	caffepb.V1LayerParameter_INTERP:                     "Interp",
	caffepb.V1LayerParameter_SEG_ACCURACY:               "SegAccuracy",
	caffepb.V1LayerParameter_BN:                         "BN",
}

// fromV1 turns every V1 layer into a current one.
func (u *upgrader) fromV1() error {
	p := u.net
	if len(p.Layer) > 0 {
		return fmt.Errorf("%s: the net has layers of both forms, \"layer\" and the deprecated \"layers\"; use \"layer\"", u.pos("layers[0]"))
	}
	for i, old := range p.Layers {
		l, err := layerFromV1(old)
		if err != nil {
			return u.layerError(i, old.GetName(), err)
		}
		p.Layer = append(p.Layer, l)
	}
	p.Layers = nil
	return nil
}

func layerFromV1(old *caffepb.V1LayerParameter) (*caffepb.LayerParameter, error) {
	l := &caffepb.LayerParameter{
		Name: old.Name, Bottom: old.Bottom, Top: old.Top, Include: old.Include, Exclude: old.Exclude,
		Blobs: old.Blobs, LossWeight: old.LossWeight,
	}
	if old.Type != nil {
		name, ok := v1Types[old.GetType()]
		if !ok {
			return nil, fmt.Errorf("unknown V1 layer type %v", old.GetType())
		}
		l.Type = proto.String(name)
	}
	spec := func(i int) *caffepb.ParamSpec {
		for len(l.Param) <= i {
			l.Param = append(l.Param, &caffepb.ParamSpec{})
		}
		return l.Param[i]
	}
	for i, name := range old.Param {
		spec(i).Name = proto.String(name)
	}
	for i, mode := range old.BlobShareMode {
		spec(i).ShareMode = caffepb.ParamSpec_DimCheckMode(mode).Enum()
	}
	for i, lr := range old.BlobsLr {
		spec(i).LrMult = proto.Float32(lr)
	}
	for i, decay := range old.WeightDecay {
		spec(i).DecayMult = proto.Float32(decay)
	}
	copyTypeParams(l, old)
	return l, nil
}

// copyTypeParams moves the parameter messages of the layer types, which have the same names in both forms.
func copyTypeParams(l *caffepb.LayerParameter, old *caffepb.V1LayerParameter) {
	to := l.ProtoReflect()
	old.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if target := to.Descriptor().Fields().ByName(fd.Name()); fd.Message() != nil && !fd.IsList() && target != nil {
			to.Set(target, v)
		}
		return true
	})
}

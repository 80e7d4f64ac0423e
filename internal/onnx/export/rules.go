package export

import "github.com/swcaffe/swcaffe/internal/onnx/onnxpb"

// rule appends the nodes of a layer and sets its tops.
type rule func(l *layer) error

// rules has the layer types that ONNX's operators express.
var rules map[string]rule

// scaling has the types whose rule reads a bottom by a BatchNormalization, or by a Mul or Add with several constants. OpenCV may merge these
// with the convolution before them.
var scaling = map[string]bool{"BatchNorm": true, "BN": true, "Scale": true, "Bias": true, "Unpooling": true}

// refusals has the types that they do not, and why.
var refusals = map[string]string{
	"Filter":             "the number of items in its tops depends on values",
	"HDF5Output":         "it writes a file",
	"CTCGreedyDecoder":   "it drops blanks and repetitions, which ONNX has no operator for: export the net without it, with its bottom as output",
	"MarginInnerProduct": training,
	"DetectionEvaluate":  "it compares detections with labels: use the deploy net, or exclude the layer",
	"MultiBoxLoss":       training, "RegionLoss": training, "Yolov3": training,
	"Accuracy":        training,
	"SegAccuracy":     training,
	"ContrastiveLoss": training, "EuclideanLoss": training, "HingeLoss": training, "InfogainLoss": training,
	"MultinomialLogisticLoss": training, "SigmoidCrossEntropyLoss": training, "SoftmaxWithLoss": training,
	"SmoothL1Loss": training, "FocalLoss": training, "SoftmaxFocalLoss": training, "CenterLoss": training, "TripletLoss": training,
	"BoxAnnotatorOHEM": training, "SoftmaxWithLossOHEM": training, "SmoothL1LossOHEM": training, "CtcLoss": training, "CTCLoss": training, "WarpCTCLoss": training,
	"Data": reader, "AnnotatedData": reader, "DenseImageData": reader, "HDF5Data": reader, "ImageData": reader, "ImageSegData": reader, "MemoryData": reader, "WindowData": reader,
}

const (
	training = "it is for training: use the deploy net, or exclude the layer"
	reader   = "it reads training data: use the deploy net, with Input layers"
)

func init() {
	rules = map[string]rule{
		"Input": input, "DummyData": dummyData, "ContinuationIndicator": continuationIndicator, "Parameter": parameter, "Silence": silence, "Split": split,
		"Convolution": convolution, "ConvolutionDepthwise": convolution, "DepthwiseConvolution": convolution,
		"Deconvolution": deconvolution, "Im2col": im2col, "Pooling": pooling, "SPP": spp, "LRN": lrn, "Crop": crop,
		"InnerProduct": innerProduct, "Embed": embed, "Dropout": dropout,
		"ReLU": relu, "PReLU": prelu, "ELU": elu, "Sigmoid": same("Sigmoid"), "TanH": same("Tanh"), "AbsVal": same("Abs"), "BNLL": same("Softplus"),
		"Swish": swish, "Clip": clip, "Power": power, "Exp": exponential, "Log": logarithm, "Threshold": threshold,
		"BatchNorm": batchNorm, "Scale": scale, "Bias": shift, "MVN": mvn, "Softmax": softmax,
		"Concat": concat, "Slice": slice, "Eltwise": eltwise, "Flatten": flatten, "Reshape": view, "Reduction": reduction, "Tile": tile,
		"ArgMax": argMax, "BatchReindex": batchReindex,
		"ReLU6": relu6, "HardSigmoid": hardSigmoid, "HardSwish": hardSwish, "Mish": mish, "Noise": noise, "LabelSpecificAdd": noise,
		"BN": bn, "Normalize": normalize, "Interp": interp, "Upsample": upsample, "Unpooling": unpooling, "ROIPooling": roiPooling, "ROIAlign": roiAlign, "PSROIPooling": psroiPooling,
		"PriorBox": priorBox, "DetectionOutput": detectionOutput, "YoloDetectionOutput": yoloSecond, "Yolov3DetectionOutput": yoloThird, "Proposal": proposal, "Reorg": reorg,
		"Permute": permute, "Transpose": transposed, "Reverse": reverse, "ShuffleChannel": shuffleChannel, "Axpy": axpy,
		"LSTM": lstm, "RNN": rnn, "Lstm": packedLSTM, "LSTMUnit": lstmUnit,
	}
}

func input(l *layer) error {
	for k, name := range l.p.GetTop() {
		l.values[name] = name
		l.graph.Input = append(l.graph.Input, l.info(name, l.top[k]))
	}
	l.tops = nil
	return nil
}

// constants binds tops to initializers.
func (l *layer) constants(names ...string) {
	for k, top := range l.p.GetTop() {
		l.values[top] = names[k]
	}
	l.tops = nil
}

func parameter(l *layer) error {
	l.constants(l.weight(0))
	return nil
}

func silence(*layer) error { return nil }

func split(l *layer) error {
	for _, top := range l.p.GetTop() {
		l.values[top] = l.in[0]
	}
	l.tops = nil
	return nil
}

// same makes the rule of a layer that is one operator without attributes.
func same(op string) rule {
	return func(l *layer) error {
		l.set(0, l.node(op, l.in))
		return nil
	}
}

// float is the attribute of a Cast to Caffe's only type.
var float = attr{"to", int(onnxpb.TensorProto_FLOAT)}

// integers casts indices, which Caffe stores as floats.
func (l *layer) integers(v string) string {
	return l.node("Cast", []string{v}, attr{"to", int(onnxpb.TensorProto_INT64)})
}

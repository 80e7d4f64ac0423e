package netdraw

import (
	"image/color"
	"strings"
)

// kind is a group of layer types with the same colour.
type kind int

const (
	source kind = iota
	weighted
	pooling
	joint
	pointwise
	loss
	measure
)

// fills are light colours, for black text.
var fills = [...]color.NRGBA{
	source:    {0xd9, 0xd9, 0xd9, 255},
	weighted:  {0xa6, 0xcb, 0xf0, 255},
	pooling:   {0xfd, 0xc9, 0x8b, 255},
	joint:     {0xf3, 0xec, 0x9a, 255},
	pointwise: {0xc3, 0xe6, 0xb5, 255},
	loss:      {0xf5, 0xaf, 0xaf, 255},
	measure:   {0xdc, 0xc8, 0xee, 255},
}

// kindOf returns the group of a layer type. Types not named here are elementwise layers or normalisations.
func kindOf(layerType string) kind {
	switch layerType {
	case "Data", "AnnotatedData", "DenseImageData", "DummyData", "HDF5Data", "ImageData", "ImageSegData", "Input", "MemoryData", "Parameter", "WindowData":
		return source
	case "Convolution", "ConvolutionDepthwise", "DepthwiseConvolution", "Deconvolution", "InnerProduct", "Embed", "LSTM", "Lstm", "RNN", "LSTMUnit":
		return weighted
	case "Pooling", "SPP", "Reduction", "Im2col", "ROIPooling", "ROIAlign", "PSROIPooling":
		return pooling
	case "Concat", "Slice", "Split", "Eltwise", "Crop", "Flatten", "Reshape", "BatchReindex", "Filter", "Tile", "Permute", "ShuffleChannel", "Axpy":
		return joint
	case "Accuracy", "ArgMax", "HDF5Output", "Silence":
		return measure
	}
	if strings.HasSuffix(layerType, "Loss") {
		return loss
	}
	return pointwise
}

package model

import (
	"fmt"
	"slices"
	"strings"

	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// reader is a program of others that takes Caffe's files: a compiler for a chip, or a library.
type reader struct {
	name, title string
	source      string // of the table, with its date
	types       []string
	renamed     map[string]string // a type that it knows by another name
	limits      []limit
}

// A limit gives the reason for which a layer is refused, or "".
type limit func(l placed) string

// placed is a layer in its net.
type placed struct {
	param         *caffepb.LayerParameter
	bottoms, tops [][]int
}

// idle types compute nothing in inference. A net works without them where a list lacks them.
var idle = []string{"Dropout", "Silence", "Split"}

var readers = []reader{
	{
		name: "atc", title: "Huawei's ATC",
		source: "list of Caffe operators of CANN 8.0.0 (hiascend.com, canncommercial/800/apiref/aolapi/operatorlist_00098), its page on Deconvolution (operatorlist_00112), " +
			"and Caffe operator boundaries (support.huaweicloud.com, hilens_02_0059, 2024-09-30); read 2026-11-28",
		types: strings.Fields(`AbsVal ArgMax Atan2 BNLL BatchNorm BatchedMatMul Bias Clip Concat Convolution ConvolutionDepthwise Crop Deconvolution DepthwiseConv
			DFMBPSROIAlign ELU Eltwise Exp Flatten InnerProduct Input Interp L2Normalize LRN LSTM LeakyReLU Log MVN Normalize PReLU PSROIPooling PassThrough Permute
			Pooling Power PriorBox Proposal RNN ROIAlign ROIPooling RReLU ReLU ReLU6 Reduction Reshape Reverse SPP SReLU Scale ShuffleChannel Sigmoid Slice Softmax
			SpatialTransformer SSDDetectionOutput TanH Threshold Tile Upsample Yolo`),
		renamed: map[string]string{"DetectionOutput": "SSDDetectionOutput", "DepthwiseConvolution": "ConvolutionDepthwise", "Reorg": "PassThrough"},
		limits:  []limit{sides(4096), globalStatistics, mostBottoms(1000), wholeDepthwise, deconvolutionStride},
	},
	{
		name: "nnie", title: "HiSilicon's nnie_mapper",
		source: "public notes on HiSilicon's guide for NNIE, mapper 1.1.2 (layers of Caffe 1.0, the extended layers, limits), and OpenHarmony's Hi3516DV300 documents; " +
			"read 2026-11-28. The guide itself is not public",
		types: strings.Fields(`AbsVal BNLL BatchNorm Bias CReLU Concat Convolution Crop Custom Deconvolution DepthwiseConv ELU Eltwise Exp Flatten InnerProduct Input
			LRN LSTM Log MVN MatMul Normalize PReLU PSROIPooling PassThrough Permute Pooling Power Proposal RNN ROIPooling RReLU ReLU Reduction Reshape
			SPP Scale Sigmoid Slice Softmax TanH Threshold Tile Upsample`),
		renamed: map[string]string{"DepthwiseConvolution": "DepthwiseConv", "ConvolutionDepthwise": "DepthwiseConv", "Reorg": "PassThrough"},
		limits:  []limit{topExtents(4096), keptBatch, smallWindows(255), mostGroups(2048), powers},
	},
	{
		name: "opencv", title: "OpenCV 4",
		source: "nets of one layer each, read and run with OpenCV 4.6.0 beside Caffe's values (python/tests/test_dnn_opencv.py), 2026-11-29",
		types: strings.Fields(`AbsVal BNLL BatchNorm Concat Convolution Crop Deconvolution DetectionOutput Dropout ELU Eltwise Exp Flatten InnerProduct Input LRN Log MVN
			Normalize PReLU PSROIPooling Permute Pooling Power PriorBox ROIPooling ReLU ReLU6 Reshape Scale Sigmoid Silence Slice Softmax Split TanH`),
		limits: append([]limit{opencvSchema, globalStatistics}, opencvLimits()...),
	},
}

func readerNames() (names []string) {
	for _, c := range readers {
		names = append(names, c.name)
	}
	return names
}

func readerNamed(name string) *reader {
	for i := range readers {
		if readers[i].name == name {
			return &readers[i]
		}
	}
	return nil
}

// look returns the reasons for which a program refuses layers of a net, in their order, and advice on layers that it may refuse.
func (c *reader) look(n *swnet.Net) (faults []error, advice []string) {
	for i := range n.NumLayers() {
		p := placed{param: n.LayerParam(i)}
		for _, b := range n.Bottoms(i) {
			p.bottoms = append(p.bottoms, b.Shape())
		}
		for _, b := range n.Tops(i) {
			p.tops = append(p.tops, b.Shape())
		}
		kind := p.param.GetType()
		switch to := c.renamed[kind]; {
		case slices.Contains(idle, kind) && !slices.Contains(c.types, kind):
			if kind != "Split" {
				advice = append(advice, fmt.Sprintf("layer %q (%s) does nothing in a trained net and is not in the list of %s: leave it out", p.param.GetName(), kind, c.title))
			}
			continue
		case to != "":
			faults = append(faults, n.Fail(i, fmt.Errorf("%s knows this type by the name %s, with parameters of its own", c.title, to)))
			continue
		case !slices.Contains(c.types, kind):
			faults = append(faults, n.Fail(i, fmt.Errorf("%s has no layers of this type", c.title)))
			continue
		}
		for _, limit := range c.limits {
			if reason := limit(p); reason != "" {
				faults = append(faults, n.Fail(i, fmt.Errorf("%s: %s", c.title, reason)))
			}
		}
	}
	return faults, advice
}

package model

import (
	"fmt"
	"slices"
	"strings"

	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// compiler is a program of others that makes programs for a chip from Caffe's files.
type compiler struct {
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

// idle types compute nothing in inference and are in no list. A net works without them.
var idle = []string{"Dropout", "Silence", "Split"}

var compilers = []compiler{
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
}

func compilerNames() (names []string) {
	for _, c := range compilers {
		names = append(names, c.name)
	}
	return names
}

func compilerNamed(name string) *compiler {
	for i := range compilers {
		if compilers[i].name == name {
			return &compilers[i]
		}
	}
	return nil
}

// look returns the reasons for which a compiler refuses layers of a net, in their order, and advice on layers that it may refuse.
func (c *compiler) look(n *swnet.Net) (faults []error, advice []string) {
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
		case slices.Contains(idle, kind):
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

package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestLimits: each limit refuses what is beyond it and takes what is at it. Kernels, strides and pads have all forms that Caffe has.
func TestLimits(t *testing.T) {
	image := func(c, h, w int) [][]int { return [][]int{{1, c, h, w}} }
	for _, c := range []struct {
		reader, layer string
		bottoms, tops [][]int
		want          string // of the reason; "" if there is none
	}{
		{"atc", `type: "ReLU"`, image(3, 4096, 8), image(3, 4096, 8), ""},
		{"atc", `type: "ReLU"`, image(3, 8, 4097), image(3, 8, 4097), "images of 8x4097: a side may have 4096"},
		{"atc", `type: "BatchNorm"`, image(3, 8, 8), image(3, 8, 8), ""},
		{"atc", `type: "BatchNorm" batch_norm_param { eps: 0.1 }`, image(3, 8, 8), image(3, 8, 8), ""},
		{"atc", `type: "BatchNorm" batch_norm_param { use_global_stats: false }`, image(3, 8, 8), image(3, 8, 8), "must be true"},
		{"atc", `type: "Concat"`, slices.Repeat(image(1, 2, 2), 1001), image(1001, 2, 2), "1001 bottoms"},
		{"atc", `type: "ConvolutionDepthwise" convolution_param { num_output: 8 group: 8 kernel_size: 3 }`, image(8, 8, 8), image(8, 6, 6), ""},
		{"atc", `type: "ConvolutionDepthwise" convolution_param { num_output: 16 group: 8 kernel_size: 3 }`, image(8, 8, 8), image(16, 6, 6), "8 channels, num_output: 16"},
		{"atc", `type: "Deconvolution" convolution_param { kernel_size: 4 stride: 15 stride: 17 }`, image(8, 8, 8), image(8, 99, 99), ""},
		{"atc", `type: "Deconvolution" convolution_param { kernel_size: 4 stride_h: 16 stride_w: 16 }`, image(8, 8, 8), image(8, 99, 99), "strides 16x16"},
		{"atc", `type: "Deconvolution" convolution_param { kernel_size: 4 stride: 2 }`, image(8, 8, 2049), image(8, 16, 4100), "a side may have 4096"},
		{"atc", `type: "Deconvolution" convolution_param { kernel_size: 1 }`, image(8, 1, 8), image(8, 1, 8), "height times stride is 1"},
		{"nnie", `type: "InnerProduct"`, image(512, 7, 7), [][]int{{1, 4096}}, ""},
		{"nnie", `type: "InnerProduct"`, image(512, 7, 7), [][]int{{1, 5000}}, "shape [1 5000]"},
		{"nnie", `type: "Flatten"`, image(512, 7, 7), [][]int{{1, 25088}}, ""},
		{"nnie", `type: "Reshape"`, image(512, 7, 7), [][]int{{512, 49}}, "axis 0 is 1, a top's 512"},
		{"nnie", `type: "ROIPooling"`, image(512, 7, 7), [][]int{{300, 512, 7, 7}}, ""},
		{"nnie", `type: "Convolution" convolution_param { kernel_size: 255 pad: 255 }`, image(3, 8, 8), image(3, 8, 8), ""},
		{"nnie", `type: "Convolution" convolution_param { kernel_h: 3 kernel_w: 256 }`, image(3, 8, 8), image(3, 8, 8), "kernel 3x256"},
		{"nnie", `type: "Convolution" convolution_param { kernel_size: 3 dilation: 300 }`, image(3, 8, 8), image(3, 8, 8), "dilation 300x300"},
		{"nnie", `type: "Convolution" convolution_param { kernel_size: 3 hole_h: 2 hole_w: 300 }`, image(3, 8, 8), image(3, 8, 8), "dilation 2x300"},
		{"nnie", `type: "Pooling" pooling_param { kernel_size: 3 stride: 256 }`, image(3, 8, 8), image(3, 8, 8), "stride 256x256"},
		{"nnie", `type: "Pooling" pooling_param { global_pooling: true }`, image(3, 500, 500), image(3, 1, 1), ""},
		{"nnie", `type: "Convolution" convolution_param { kernel_size: 3 group: 2049 }`, image(3, 8, 8), image(3, 8, 8), "group: 2049"},
		{"nnie", `type: "Power" power_param { power: -0.5 }`, image(3, 8, 8), image(3, 8, 8), ""},
		{"nnie", `type: "Power" power_param { power: 1.5 }`, image(3, 8, 8), image(3, 8, 8), "power: 1.5"},
		{"opencv", `type: "LRN" lrn_param { alpha: 1 }`, image(3, 8, 8), image(3, 8, 8), ""},
		{"opencv", `type: "LRN"`, image(3, 8, 8), image(3, 8, 8), "write alpha"},
		{"opencv", `type: "LRN" lrn_param { alpha: 1 k: 2 }`, image(3, 8, 8), image(3, 8, 8), "passes over k"},
		{"opencv", `type: "Log"`, image(3, 8, 8), image(3, 8, 8), ""},
		{"opencv", `type: "Log" log_param { base: 10 }`, image(3, 8, 8), image(3, 8, 8), "base"},
		{"opencv", `type: "MVN" mvn_param { eps: 0.1 }`, image(3, 8, 8), image(3, 8, 8), "the variance"},
		{"opencv", `type: "InnerProduct" inner_product_param { transpose: true }`, image(3, 8, 8), [][]int{{1, 5}}, "transpose"},
		{"opencv", `type: "Concat" concat_param { axis: 2 }`, image(3, 8, 8), image(3, 8, 8), ""},
		{"opencv", `type: "Concat" concat_param { concat_dim: 2 }`, image(3, 8, 8), image(3, 8, 8), "concat_dim"},
		{"opencv", `type: "Slice" slice_param { slice_dim: 2 }`, image(3, 8, 8), image(3, 8, 8), "slice_dim"},
		{"opencv", `type: "Convolution" convolution_param { kernel_size: 3 pad_h: 1 pad_w: 1 }`, image(3, 8, 8), image(3, 8, 8), ""},
		{"opencv", `type: "Convolution" convolution_param { kernel_size: 3 pad_w: 1 }`, image(3, 8, 8), image(3, 8, 8), "pad_h and pad_w"},
		{"opencv", `type: "Convolution" convolution_param { kernel_size: 3 }`, [][]int{{1, 3, 8}}, [][]int{{1, 3, 6}}, "four axes"},
		{"opencv", `type: "Convolution" convolution_param { kernel_size: 3 dilation: 2 }`, image(3, 8, 8), image(3, 4, 4), ""},
		{"opencv", `type: "Deconvolution" convolution_param { kernel_size: 3 dilation: 2 }`, image(3, 8, 8), image(3, 8, 8), "dilation"},
		{"opencv", `type: "Pooling" pooling_param { round_mode: FLOOR }`, image(3, 8, 8), image(3, 8, 8), "round_mode"},
		{"opencv", `type: "Pooling" pooling_param { ceil_mode: false }`, image(3, 8, 8), image(3, 8, 8), ""},
		{"opencv", `type: "Convolution" convolution_param { hole_w: 2 hole_h: 2 }`, image(3, 8, 8), image(3, 8, 8), "knows no hole_h, hole_w"},
		{"opencv", `type: "InnerProduct" inner_product_param { normalize: true }`, image(3, 8, 8), [][]int{{1, 5}}, "knows no normalize"},
		{"opencv", `type: "ReLU" precision: BF16`, image(3, 8, 8), image(3, 8, 8), "knows no precision"},
		{"opencv", `type: "Pooling" pooling_param { pool: STOCHASTIC }`, image(3, 8, 8), image(3, 8, 8), "STOCHASTIC"},
		{"opencv", `type: "PReLU" prelu_param { channel_shared: true }`, image(3, 8, 8), image(3, 8, 8), "channel_shared"},
		{"opencv", `type: "Normalize" norm_param { across_spatial: false }`, image(3, 8, 8), image(3, 8, 8), "channel_shared"},
		{"opencv", `type: "Scale" scale_param { num_axes: 0 }`, image(3, 8, 8), image(3, 8, 8), "num_axes"},
		{"opencv", `type: "Permute" permute_param { order: 1 }`, image(3, 8, 8), image(3, 8, 8), "all axes"},
		{"opencv", `type: "BatchNorm" batch_norm_param { use_global_stats: false }`, image(3, 8, 8), image(3, 8, 8), "must be true"},
		{"opencv", `type: "Input" input_param { shape { dim: 1 } }`, nil, [][]int{{1}, {1}}, "a shape for each top"},
		{"opencv", `type: "PriorBox" prior_box_param { min_size: 10 clip: false variance: 0.1 }`, image(3, 8, 8), image(1, 2, 8), ""},
		{"opencv", `type: "PriorBox" prior_box_param { min_size: 10 variance: 0.1 }`, image(3, 8, 8), image(1, 2, 8), "write clip"},
		{"opencv", `type: "PriorBox" prior_box_param { min_size: 10 clip: false }`, image(3, 8, 8), image(1, 2, 8), "variance"},
		{"opencv", `type: "PriorBox" prior_box_param { min_size: 10 }`, image(3, 8, 8), image(1, 2, 8), "write clip; it wants variance"},
		{"opencv", `type: "PriorBox" prior_box_param { min_size: 10 clip: false variance: 0.1 img_size: 9 }`, image(3, 8, 8), image(1, 2, 8), "img_size"},
		{"opencv", `type: "PriorBox" prior_box_param { min_size: 9.5 clip: false variance: 0.1 }`, image(3, 8, 8), image(1, 2, 8), "whole numbers"},
		{"opencv", `type: "DetectionOutput" detection_output_param { code_type: CORNER share_location: true background_label_id: 0 nms_param { nms_threshold: 0.4 } }`, image(3, 8, 8), image(1, 2, 7), ""},
		{"opencv", `type: "DetectionOutput" detection_output_param { share_location: true background_label_id: 0 nms_param { nms_threshold: 0.4 } }`, image(3, 8, 8), image(1, 2, 7), "it wants code_type"},
		{"opencv", `type: "DetectionOutput" detection_output_param { code_type: CORNER share_location: true background_label_id: -1 nms_param { nms_threshold: 0.4 } }`, image(3, 8, 8), image(1, 2, 7), "0 or more"},
		{"opencv", `type: "DetectionOutput" detection_output_param { code_type: CORNER share_location: true background_label_id: 0 variance_encoded_in_target: true nms_param { nms_threshold: 0.4 } }`, image(3, 8, 8), image(1, 2, 7), "other priors"},
		{"opencv", `type: "DetectionOutput" detection_output_param { code_type: CORNER share_location: true background_label_id: 0 nms_param { nms_threshold: 0.4 eta: 0.5 } }`, image(3, 8, 8), image(1, 2, 7), "eta"},
	} {
		var p caffepb.LayerParameter
		if _, err := proto.UnmarshalText("layer", []byte(c.layer), &p); err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, limit := range readerNamed(c.reader).limits {
			if reason := limit(placed{param: &p, bottoms: c.bottoms, tops: c.tops}); reason != "" {
				found = append(found, reason)
			}
		}
		reasons := strings.Join(found, "; ")
		if !strings.Contains(reasons, c.want) || c.want == "" && reasons != "" {
			t.Errorf("%s: %s, bottoms %v: %q, want %q", c.reader, c.layer, c.bottoms, reasons, c.want)
		}
	}
}

// TestReadersTables: names are written once each, and a type of ours in other letters is a mistake in the table.
func TestReadersTables(t *testing.T) {
	ours := map[string][]string{}
	for _, kind := range layers.Types() {
		ours[strings.ToLower(kind.Name)] = append(ours[strings.ToLower(kind.Name)], kind.Name)
	}
	for _, c := range readers {
		if c.source == "" {
			t.Errorf("%s: no source", c.name)
		}
		seen := map[string]bool{}
		for _, kind := range c.types {
			if seen[strings.ToLower(kind)] {
				t.Errorf("%s has %s twice", c.name, kind)
			}
			seen[strings.ToLower(kind)] = true
			if own := ours[strings.ToLower(kind)]; len(own) > 0 && !slices.Contains(own, kind) {
				t.Errorf("%s has %s, which is %v here", c.name, kind, own)
			}
		}
		for kind, to := range c.renamed {
			if slices.Contains(c.types, kind) || !slices.Contains(c.types, to) {
				t.Errorf("%s: %s is renamed to %s: one is in the list that should not, or not in it", c.name, kind, to)
			}
		}
	}
}

package onnxtest

import (
	"fmt"
	"math/rand/v2"
)

// Case is a net as a prototxt, for tests of the export and of the import.
type Case struct {
	Name, Net string
	// Indices gives inputs whose values are whole numbers below a bound; other inputs have normally distributed values.
	Indices map[string]int
	// Positive gives inputs that must be positive.
	Positive map[string]bool
	// Regions gives inputs whose rows are regions of interest, and the number of images.
	Regions map[string]int
}

// input declares a graph input.
func input(name string, dims ...int) string {
	s := fmt.Sprintf("layer { name: %q type: \"Input\" top: %q input_param { shape { ", name, name)
	for _, d := range dims {
		s += fmt.Sprintf("dim: %d ", d)
	}
	return s + "} } }\n"
}

func layer(kind, bottoms, tops, rest string) string {
	return fmt.Sprintf("layer { name: \"%s_%s\" type: %q %s %s %s }\n", kind, tops, kind, list("bottom", bottoms), list("top", tops), rest)
}

// list writes a field once for each character of names.
func list(field, names string) (s string) {
	for _, n := range names {
		s += fmt.Sprintf("%s: %q ", field, string(n))
	}
	return s
}

// Cases returns nets with each layer type that inference meets. The numbers of windows are drawn from a generator with this seed.
func Cases(seed uint64) []Case {
	var cases []Case
	add := func(name, net string) { cases = append(cases, Case{Name: name, Net: net}) }
	x := input("x", 2, 3, 7, 6)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 12 {
		add(fmt.Sprintf("Convolution/%d", i), convolutionOf(r, "Convolution"))
		add(fmt.Sprintf("Deconvolution/%d", i), convolutionOf(r, "Deconvolution"))
		add(fmt.Sprintf("Im2col/%d", i), convolutionOf(r, "Im2col"))
		// Stochastic pooling divides by the sum, so that it needs activations that are not negative.
		cases = append(cases, Case{Name: fmt.Sprintf("Pooling/%d", i), Net: poolingOf(r, i), Positive: map[string]bool{"x": i%3 == 2}})
	}
	add("ConvolutionDepthwise", x+layer("ConvolutionDepthwise", "x", "y", "convolution_param { num_output: 3 kernel_size: 3 pad: 1 stride: 2 }"))
	add("DepthwiseConvolution", x+layer("DepthwiseConvolution", "x", "y", "convolution_param { num_output: 6 kernel_h: 2 kernel_w: 3 bias_term: false }"))
	add("Convolution/1D", input("x", 2, 3, 9)+layer("Convolution", "x", "y", `convolution_param { num_output: 4 kernel_size: 3 stride: 2 pad: 1 }`))
	add("Convolution/3D", input("x", 2, 2, 4, 5, 3)+layer("Convolution", "x", "y", `convolution_param { num_output: 2 kernel_size: 2 }`))
	add("Convolution/axis2", input("x", 2, 3, 4, 5, 6)+layer("Convolution", "x", "y", `convolution_param { num_output: 2 kernel_size: 3 axis: 2 }`))
	add("Convolution/two", x+input("z", 2, 3, 7, 6)+layer("Convolution", "xz", "yw", `convolution_param { num_output: 2 kernel_size: 3 }`))
	add("Deconvolution/one value", x+layer("Deconvolution", "x", "y", `convolution_param { num_output: 2 kernel_size: 1 pad: 1 }`))
	add("Convolution/holes", x+layer("Convolution", "x", "y", `convolution_param { num_output: 5 kernel_size: 3 hole: 2 pad: 1 }`))
	add("Deconvolution/holes", x+layer("Deconvolution", "x", "y", `convolution_param { num_output: 5 kernel_size: 3 hole_h: 2 hole_w: 3 stride: 2 }`))
	add("Im2col/holes", x+layer("Im2col", "x", "y", `convolution_param { kernel_size: 3 hole: 2 pad: 2 }`))
	add("Deconvolution/dilated groups", x+layer("Deconvolution", "x", "y", `convolution_param { num_output: 6 group: 3 kernel_h: 3 kernel_w: 2 dilation: 3 stride: 2 pad: 2 }`))
	add("Deconvolution/Scale", x+layer("Deconvolution", "x", "y", `convolution_param { num_output: 3 group: 3 kernel_size: 4 stride: 2 pad: 1 }`)+layer("Scale", "y", "z", "scale_param { bias_term: true }"))
	for _, pool := range []string{"MAX", "AVE", "STOCHASTIC"} {
		net := x + layer("Pooling", "x", "y", `pooling_param { pool: `+pool+` global_pooling: true }`)
		cases = append(cases, Case{Name: "Pooling/global/" + pool, Net: net, Positive: map[string]bool{"x": pool == "STOCHASTIC"}})
	}
	add("Pooling/places", x+layer("Pooling", "x", "yz", `pooling_param { kernel_size: 3 stride: 2 }`))
	for height := 1; height <= 3; height++ {
		for _, pool := range []string{"MAX", "AVE"} {
			add(fmt.Sprintf("SPP/%d/%s", height, pool), x+layer("SPP", "x", "y", fmt.Sprintf(`spp_param { pyramid_height: %d pool: %s }`, height, pool)))
		}
	}
	add("LRN", x+layer("LRN", "x", "y", `lrn_param { local_size: 3 alpha: 0.7 beta: 0.6 k: 2 }`))
	add("LRN/within", x+layer("LRN", "x", "y", `lrn_param { local_size: 3 alpha: 0.7 beta: 0.6 norm_region: WITHIN_CHANNEL }`))
	add("Crop", x+input("z", 2, 3, 4, 5)+layer("Crop", "xz", "y", `crop_param { offset: 2 offset: 1 }`))
	add("Crop/axis1", x+input("z", 2, 2, 4, 5)+layer("Crop", "xz", "y", `crop_param { axis: 1 offset: 1 }`))
	cases = append(cases, segmentation(x)...)
	cases = append(cases, neurons(x)...)
	cases = append(cases, norms(x)...)
	cases = append(cases, utilities(x)...)
	cases = append(cases, recurrences()...)
	return append(cases, nets(x)...)
}

// convolutionOf draws a convolution's numbers.
func convolutionOf(r *rand.Rand, kind string) string {
	group := 1 + r.IntN(2)*2
	p := fmt.Sprintf("kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d pad_h: %d pad_w: %d dilation: %d",
		1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(2), r.IntN(3), r.IntN(2), 1+r.IntN(2))
	if kind != "Im2col" {
		p += fmt.Sprintf(" num_output: %d group: %d bias_term: %v", group*(1+r.IntN(3)), group, r.IntN(2) == 0)
	}
	return input("x", 2, 6, 7+r.IntN(4), 6+r.IntN(4)) + layer(kind, "x", "y", "convolution_param { "+p+" }")
}

// poolingOf draws a pooling, whose windows often reach past the image.
func poolingOf(r *rand.Rand, i int) string {
	kh, kw := 1+r.IntN(4), 1+r.IntN(4)
	method, ph, pw := []string{"MAX", "AVE", "STOCHASTIC"}[i%3], r.IntN(kh), r.IntN(kw)
	if method == "STOCHASTIC" {
		ph, pw = 0, 0
	}
	return input("x", 2, 3, 6+r.IntN(6), 5+r.IntN(6)) + layer("Pooling", "x", "y", fmt.Sprintf(
		"pooling_param { pool: %s kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d pad_h: %d pad_w: %d round_mode: %s }",
		method, kh, kw, 1+r.IntN(kh), 1+r.IntN(kw), ph, pw, []string{"CEIL", "FLOOR"}[r.IntN(2)]))
}

// yolo2 and yolo3 are parameters of YOLO's outputs: two anchors for a bottom, three classes.
const (
	yolo2 = "yolo_detection_output_param { num_classes: 3 num_box: 2 biases: 1 biases: 2 biases: 2.5 biases: 1.5 "
	yolo3 = "yolov3_detection_output_param { num_classes: 3 num_box: 2 mask_group_num: 2 mask: 3 mask: 2 mask: 0 mask: 1 anchors_scale: 8 anchors_scale: 4 biases: 3 biases: 6 biases: 5 biases: 4 biases: 9 biases: 8 biases: 7 biases: 14 "
)

// segmentation has layers that resize images, and those that pool regions.
func segmentation(x string) (cases []Case) {
	regions := input("r", 4, 5)
	for _, n := range []struct{ name, net string }{
		{"Interp", x + layer("Interp", "x", "y", "interp_param { height: 12 width: 5 }")},
		{"Interp/zoom", x + layer("Interp", "x", "y", "interp_param { zoom_factor: 3 pad_beg: -1 pad_end: -2 }")},
		{"Interp/shrink", x + layer("Interp", "x", "y", "interp_param { shrink_factor: 2 }")},
		{"Interp/pixel", x + layer("Interp", "x", "y", "interp_param { height: 1 width: 1 }")},
		{"Upsample", x + layer("Upsample", "x", "y", "upsample_param { scale: 3 }")},
		{"Upsample/mask", x + layer("Pooling", "x", "pm", "pooling_param { kernel_size: 2 stride: 2 }") + layer("TanH", "p", "q", "") +
			layer("Upsample", "qm", "y", "upsample_param { upsample_h: 7 upsample_w: 6 }")},
		{"Unpooling/mask", x + layer("Pooling", "x", "pm", "pooling_param { kernel_size: 2 stride: 2 }") +
			layer("Unpooling", "pm", "y", "unpooling_param { kernel_size: 2 stride: 2 unpool_h: 7 unpool_w: 6 }")},
		{"Unpooling/AVE", x + layer("Unpooling", "x", "y", "unpooling_param { unpool: AVE kernel_size: 3 stride: 2 unpool_h: 9 unpool_w: 10 }")},
		{"Unpooling/TILE", x + layer("Unpooling", "x", "y", "unpooling_param { unpool: TILE kernel_h: 2 kernel_w: 3 stride: 2 unpool_h: 17 unpool_w: 18 }")},
		{"Unpooling", x + layer("Unpooling", "x", "y", "unpooling_param { kernel_size: 2 stride_h: 2 stride_w: 3 unpool_size: 14 }")},
		{"Proposal", proposals("feat_stride: 8 base_size: 8 min_size: 1 ratio: 0.5 ratio: 1 scale: 1 scale: 8 pre_nms_topn: 30 post_nms_topn: 9 nms_thresh: 0.5", "y")},
		{"ROIPooling/proposed", proposals("feat_stride: 8 base_size: 16 min_size: 0 ratio: 1 ratio: 2 scale: 1 scale: 2 pre_nms_topn: 400 post_nms_topn: 20 nms_thresh: 0.7", "yz") +
			layer("ROIPooling", "xy", "q", "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.125 }") + layer("InnerProduct", "q", "u", "inner_product_param { num_output: 5 }")},
		{"DetectionOutput", detection("num_classes: 3 code_type: CENTER_SIZE confidence_threshold: 0.3 keep_top_k: 5 nms_param { nms_threshold: 0.3 top_k: 8 }", 1, 1)},
		{"DetectionOutput/classes", detection("num_classes: 3 code_type: CORNER_SIZE share_location: false background_label_id: 2 keep_top_k: 7 nms_param { nms_threshold: 0.45 }", 3, 1)},
		{"DetectionOutput/clip", detection("num_classes: 3 code_type: CENTER_SIZE clip: true confidence_threshold: 0.3 keep_top_k: 5 nms_param { nms_threshold: 0.3 top_k: 8 }", 1, 2)},
		{"DetectionOutput/all", detection("num_classes: 3 code_type: CORNER variance_encoded_in_target: true background_label_id: -1 confidence_threshold: 0.9 nms_param { nms_threshold: 0.6 }", 1, 0.05)},
		{"DetectionOutput/none", detection("num_classes: 3 code_type: CENTER_SIZE confidence_threshold: 99 keep_top_k: 5 nms_param { nms_threshold: 0.3 top_k: 8 }", 1, 1)},
		{"YoloDetectionOutput", input("x", 2, 16, 5, 4) + layer("YoloDetectionOutput", "x", "y", yolo2+"confidence_threshold: 0.2 }")},
		{"YoloDetectionOutput/two", input("x", 2, 16, 3, 2) + input("z", 2, 16, 6, 4) + layer("YoloDetectionOutput", "xz", "y", yolo2+"confidence_threshold: 0.3 nms_threshold: 0.2 }")},
		{"YoloDetectionOutput/all", input("x", 2, 16, 3, 2) + layer("YoloDetectionOutput", "x", "y", yolo2+"confidence_threshold: 0.1 nms_threshold: 2 }")},
		{"YoloDetectionOutput/none", input("x", 2, 16, 3, 2) + layer("YoloDetectionOutput", "x", "y", yolo2+"confidence_threshold: 1 }")},
		{"Yolov3DetectionOutput", input("x", 2, 16, 3, 2) + input("z", 2, 16, 6, 4) + layer("Yolov3DetectionOutput", "xz", "y", yolo3+"confidence_threshold: 0.4 nms_threshold: 0.3 }")},
		{"Yolov3DetectionOutput/all", input("x", 2, 16, 3, 2) + input("z", 2, 16, 6, 4) + layer("Yolov3DetectionOutput", "xz", "y", yolo3+"confidence_threshold: 0.5 nms_threshold: 1.01 }")},
		{"Yolov3DetectionOutput/best", input("x", 2, 16, 3, 2) + input("z", 2, 16, 6, 4) + layer("Yolov3DetectionOutput", "xz", "y", yolo3+"confidence_threshold: 0.1 nms_threshold: 0 }")},
		{"PriorBox", input("i", 2, 3, 40, 50) + x + layer("PriorBox", "xi", "p", "prior_box_param { min_size: 10 max_size: 20 aspect_ratio: 2 variance: 0.1 clip: true }") +
			layer("Power", "p", "y", "power_param { scale: 2 }") + layer("TanH", "x", "z", "")},
		{"ROIPooling", x + regions + layer("ROIPooling", "xr", "y", "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }")},
		{"PSROIPooling", input("x", 2, 12, 7, 6) + regions + layer("PSROIPooling", "xr", "y", "psroi_pooling_param { output_dim: 3 group_size: 2 spatial_scale: 0.5 }")},
		{"PSROIPooling/whole", input("x", 2, 18, 7, 6) + regions + layer("PSROIPooling", "xr", "y", "psroi_pooling_param { output_dim: 2 group_size: 3 spatial_scale: 1 }")},
		{"ROIAlign", x + regions + layer("ROIAlign", "xr", "y", "roi_align_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }")},
		{"ROIAlign/samples", x + regions + layer("ROIAlign", "xr", "y", "roi_align_param { pooled_h: 3 pooled_w: 2 sampling_ratio: 2 }")},
	} {
		cases = append(cases, Case{Name: n.name, Net: n.net, Regions: map[string]int{"r": 2}})
	}
	return cases
}

func neurons(x string) (cases []Case) {
	for _, n := range []struct{ name, kind, param string }{
		{"ReLU", "ReLU", ""}, {"ReLU/leaky", "ReLU", "relu_param { negative_slope: 0.1 }"},
		{"PReLU", "PReLU", "prelu_param { filler { type: 'uniform' } }"}, {"PReLU/shared", "PReLU", "prelu_param { channel_shared: true }"},
		{"ELU", "ELU", "elu_param { alpha: 0.7 }"}, {"Sigmoid", "Sigmoid", ""}, {"TanH", "TanH", ""}, {"AbsVal", "AbsVal", ""}, {"BNLL", "BNLL", ""},
		{"Swish", "Swish", "swish_param { beta: 1.5 }"}, {"Swish/1", "Swish", ""}, {"Clip", "Clip", "clip_param { min: -0.5 max: 0.7 }"},
		{"Clip/empty", "Clip", "clip_param { min: 1 max: 0 }"}, {"Threshold", "Threshold", "threshold_param { threshold: 0.2 }"},
		{"Dropout", "Dropout", ""}, {"Dropout/scaled", "Dropout", "dropout_param { dropout_ratio: 0.3 scale_train: false }"}, {"Dropout/0.3", "Dropout", "dropout_param { dropout_ratio: 0.3 }"},
		{"ReLU6", "ReLU6", ""}, {"HardSigmoid", "HardSigmoid", "hardsigmoid_param { alpha: 0.3 }"}, {"HardSwish", "HardSwish", ""}, {"Mish", "Mish", ""},
		{"Noise", "Noise", "noise_param { gaussian_std: 3 }"},
		{"Power", "Power", "power_param { power: 2 scale: 0.5 shift: 1 }"}, {"Power/1", "Power", "power_param { scale: 3 }"},
		{"Power/identity", "Power", ""}, {"Power/constant", "Power", "power_param { scale: 0 shift: 3 power: 2 }"},
		{"Exp", "Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }"}, {"Exp/e", "Exp", ""},
	} {
		cases = append(cases, Case{Name: n.name, Net: x + layer(n.kind, "x", "y", n.param)})
		if n.kind == "AbsVal" { // it cannot run in place
			continue
		}
		cases = append(cases, Case{Name: n.name + "/in place", Net: x + layer("Scale", "x", "z", "") + layer(n.kind, "z", "z", n.param)})
	}
	positive := map[string]bool{"x": true}
	return append(cases,
		Case{Name: "Power/2.5", Net: x + layer("Power", "x", "y", "power_param { power: 2.5 scale: 0.5 shift: 1 }"), Positive: positive},
		Case{Name: "Log", Net: x + layer("Log", "x", "y", "log_param { base: 10 scale: 2 shift: 1 }"), Positive: positive},
		Case{Name: "Log/e", Net: x + layer("Log", "x", "y", ""), Positive: positive},
	)
}

func norms(x string) (cases []Case) {
	vector, matrix := input("x", 4), input("x", 4, 5)
	for _, n := range []struct{ name, net string }{
		{"BatchNorm", x + layer("BatchNorm", "x", "y", "")}, {"BatchNorm/matrix", matrix + layer("BatchNorm", "x", "y", "batch_norm_param { eps: 0.01 }")},
		{"BatchNorm/vector", vector + layer("BatchNorm", "x", "y", "")},
		{"BatchNorm/own", x + layer("BatchNorm", "x", "y", "batch_norm_param { use_global_stats: false }")},
		{"BatchNorm/NVCaffe", x + layer("BatchNorm", "x", "y", "batch_norm_param { scale_bias: true eps: 0 }")},
		{"BatchNorm/NVCaffe and Scale", matrix + layer("BatchNorm", "x", "y", "batch_norm_param { scale_bias: true eps: 0.01 }") + layer("Scale", "y", "z", "")},
		{"BatchNorm/Scale", x + layer("BatchNorm", "x", "y", "") + layer("Scale", "y", "z", "scale_param { bias_term: true }")},
		{"BatchNorm/Scale in place", x + layer("BatchNorm", "x", "y", "") + layer("Scale", "y", "y", "") + layer("ReLU", "y", "y", "")},
		{"BatchNorm/read twice", x + layer("BatchNorm", "x", "y", "") + layer("Scale", "y", "z", "") + layer("ReLU", "y", "w", "")},
		{"Scale", x + layer("Scale", "x", "y", "scale_param { axis: 1 num_axes: 2 bias_term: true }")},
		{"Scale/all", x + layer("Scale", "x", "y", "scale_param { axis: 0 num_axes: -1 }")},
		{"Scale/none", x + layer("Scale", "x", "y", "scale_param { num_axes: 0 bias_term: true }")},
		{"Scale/bottom", x + input("z", 2, 3) + layer("Scale", "xz", "y", "scale_param { axis: 0 bias_term: true }")},
		{"Scale/bottom2", x + input("z", 7, 6) + layer("Scale", "xz", "y", "scale_param { axis: -2 }")},
		{"Bias", x + layer("Bias", "x", "y", "bias_param { axis: -1 }")}, {"Bias/bottom", x + input("z", 2) + layer("Bias", "xz", "y", "bias_param { axis: 0 }")},
		{"MVN", x + layer("MVN", "x", "y", "")}, {"MVN/across", x + layer("MVN", "x", "y", "mvn_param { across_channels: true eps: 0.1 }")},
		{"MVN/mean", x + layer("MVN", "x", "y", "mvn_param { normalize_variance: false }")}, {"MVN/matrix", matrix + layer("MVN", "x", "y", "mvn_param { eps: 1 }")},
		{"BN/PSPNet", x + layer("BN", "x", "y", "bn_param { eps: 0.01 }")}, {"BN/vector", vector + layer("BN", "x", "y", "")},
		{"BN/SegNet", x + layer("BN", "x", "y", "bn_param { var_eps: 0.01 }")}, {"BN/moving average", x + layer("BN", "x", "y", "bn_param { moving_average: true var_eps: 0.01 }")},
		{"BN/decay", x + layer("BN", "x", "y", "bn_param { decay: 0.1 }")}, {"BN/INFERENCE", matrix + layer("BN", "x", "y", "bn_param { bn_mode: INFERENCE }")},
		{"Normalize", x + layer("Normalize", "x", "y", "")}, {"Normalize/vector", vector + layer("Normalize", "x", "y", "")},
		{"Normalize/across", x + layer("Normalize", "x", "y", "norm_param { eps: 0.1 }")},
		{"Normalize/pixels", x + layer("Normalize", "x", "y", "norm_param { across_spatial: false channel_shared: false }")},
		{"Softmax", x + layer("Softmax", "x", "y", "")}, {"Softmax/axis", x + layer("Softmax", "x", "y", "softmax_param { axis: -1 }")},
	} {
		cases = append(cases, Case{Name: n.name, Net: n.net})
	}
	return cases
}

func utilities(x string) (cases []Case) {
	z := input("z", 2, 3, 7, 6)
	for _, n := range []struct{ name, net string }{
		{"InnerProduct", x + layer("InnerProduct", "x", "y", "inner_product_param { num_output: 4 }")},
		{"InnerProduct/normalize", x + layer("InnerProduct", "x", "y", "inner_product_param { num_output: 4 normalize: true }")},
		{"InnerProduct/transpose", x + layer("InnerProduct", "x", "y", "inner_product_param { num_output: 4 transpose: true bias_term: false }")},
		{"InnerProduct/axis2", x + layer("InnerProduct", "x", "y", "inner_product_param { num_output: 4 axis: 2 }")},
		{"InnerProduct/axis3", x + layer("InnerProduct", "x", "y", "inner_product_param { num_output: 4 axis: -1 }")},
		{"InnerProduct/axis0", x + layer("InnerProduct", "x", "y", "inner_product_param { num_output: 4 axis: 0 }")},
		{"Concat", x + input("z", 2, 2, 7, 6) + layer("Concat", "xz", "y", "")}, {"Concat/axis", x + z + layer("Concat", "xz", "y", "concat_param { axis: -1 }")},
		{"Slice", x + layer("Slice", "x", "yzw", "")}, {"Slice/points", x + layer("Slice", "x", "yz", "slice_param { axis: 2 slice_point: 3 }")},
		{"Slice/batch", x + layer("Slice", "x", "yz", "slice_param { axis: 0 }")},
		{"Eltwise/SUM", x + z + layer("Eltwise", "xz", "y", "")}, {"Eltwise/PROD", x + z + layer("Eltwise", "xzx", "y", "eltwise_param { operation: PROD }")},
		{"Eltwise/MAX", x + z + layer("Eltwise", "xzx", "y", "eltwise_param { operation: MAX }")},
		{"Eltwise/coeff", x + z + layer("Eltwise", "xzx", "y", "eltwise_param { coeff: 0.5 coeff: -1 coeff: 1 }")},
		{"Flatten", x + layer("Flatten", "x", "y", "")}, {"Flatten/axes", x + layer("Flatten", "x", "y", "flatten_param { axis: 2 end_axis: -1 }")},
		{"Flatten/batch", x + layer("Flatten", "x", "y", "flatten_param { axis: 0 end_axis: 1 }")},
		{"Reshape", x + layer("Reshape", "x", "y", "reshape_param { shape { dim: 0 dim: -1 dim: 2 } }")},
		{"Reshape/batch", x + layer("Reshape", "x", "y", "reshape_param { shape { dim: -1 dim: 6 } }")},
		{"Reshape/fixed", x + layer("Reshape", "x", "y", "reshape_param { shape { dim: 2 dim: 126 } }")},
		{"Reshape/axis", x + layer("Reshape", "x", "y", "reshape_param { shape { dim: 1 dim: 3 } axis: 1 num_axes: 1 }")},
		{"Reduction/SUM", x + layer("Reduction", "x", "y", "reduction_param { axis: 1 coeff: 0.5 }")},
		{"Reduction/MEAN", x + layer("Reduction", "x", "y", "reduction_param { operation: MEAN axis: 2 }")},
		{"Reduction/ASUM", x + layer("Reduction", "x", "y", "reduction_param { operation: ASUM axis: -1 }")},
		{"Reduction/SUMSQ", x + layer("Reduction", "x", "y", "reduction_param { operation: SUMSQ }")},
		{"Permute", x + layer("Permute", "x", "y", "permute_param { order: 0 order: 2 order: 3 }")},
		{"Transpose", x + layer("Transpose", "x", "y", "transpose_param { dim: 3 dim: 2 dim: 0 dim: 1 }")},
		{"Reverse", x + layer("Reverse", "x", "y", "")}, {"Reverse/axis", x + layer("Reverse", "x", "y", "reverse_param { axis: -1 }")},
		{"ShuffleChannel", input("x", 2, 6, 4, 5) + layer("ShuffleChannel", "x", "y", "shuffle_channel_param { group: 3 }")},
		{"Reorg", input("x", 2, 8, 6, 4) + layer("Reorg", "x", "y", "reorg_param { stride: 2 }")},
		{"Reorg/reverse", input("x", 2, 8, 3, 5) + layer("Reorg", "x", "y", "reorg_param { stride: 2 reverse: true }")},
		{"LabelSpecificAdd", input("x", 4, 5) + input("l", 4) + layer("LabelSpecificAdd", "xl", "y", "label_specific_add_param { bias: -0.35 }")},
		{"Axpy", input("a", 2, 3, 1, 1) + x + z + layer("Axpy", "axz", "y", "")},
		{"Tile", x + layer("Tile", "x", "y", "tile_param { axis: 2 tiles: 3 }")}, {"Tile/channels", x + layer("Tile", "x", "y", "tile_param { tiles: 2 }")}, {"Tile/batch", x + layer("Tile", "x", "y", "tile_param { axis: 0 tiles: 2 }")},
		{"ArgMax", x + layer("ArgMax", "x", "y", "")}, {"ArgMax/3", x + layer("ArgMax", "x", "y", "argmax_param { top_k: 3 }")},
		{"ArgMax/values", x + layer("ArgMax", "x", "y", "argmax_param { top_k: 3 out_max_val: true }")},
		{"ArgMax/axis", x + layer("ArgMax", "x", "y", "argmax_param { axis: 1 }")}, {"ArgMax/axis 2", x + layer("ArgMax", "x", "y", "argmax_param { axis: -1 top_k: 2 }")},
		{"ArgMax/axis values", x + layer("ArgMax", "x", "y", "argmax_param { axis: 2 top_k: 4 out_max_val: true }")},
		{"Split", x + layer("Split", "x", "yz", "") + layer("ReLU", "y", "w", "") + layer("Silence", "w", "", "")},
		{"Parameter", x + layer("Parameter", "", "p", "parameter_param { shape { dim: 3 } }") + layer("Scale", "xp", "y", "") + layer("TanH", "p", "q", "")},
		{"ContinuationIndicator", x + layer("ContinuationIndicator", "", "p", "continuation_indicator_param { time_step: 2 batch_size: 3 }") + layer("Bias", "xp", "y", "bias_param { axis: 0 }")},
		{"DummyData", x + layer("DummyData", "", "p", "dummy_data_param { shape { dim: 3 } data_filler { value: 1.5 } }") + layer("Bias", "xp", "y", "")},
		{"Input/in place", x + layer("ReLU", "x", "x", "") + layer("TanH", "x", "y", "")},
		{"Input/in place output", x + layer("ReLU", "x", "x", "")},
	} {
		cases = append(cases, Case{Name: n.name, Net: n.net})
	}
	ties := Case{Name: "ArgMax/ties", Net: input("x", 3, 9) + layer("ArgMax", "x", "y", "argmax_param { top_k: 5 }") +
		layer("ArgMax", "x", "z", "argmax_param { axis: 1 }"), Indices: map[string]int{"x": 3}}
	return append(cases, ties,
		Case{Name: "Embed", Net: input("x", 2, 4) + layer("Embed", "x", "y", "embed_param { input_dim: 5 num_output: 3 }"), Indices: map[string]int{"x": 5}},
		Case{Name: "Embed/no bias", Net: input("x", 3) + layer("Embed", "x", "y", "embed_param { input_dim: 5 num_output: 3 bias_term: false }"), Indices: map[string]int{"x": 5}},
		Case{Name: "BatchReindex", Net: x + input("i", 5) + layer("BatchReindex", "xi", "y", ""), Indices: map[string]int{"i": 2}},
	)
}

func recurrences() (cases []Case) {
	for _, kind := range []string{"LSTM", "RNN"} {
		states, tops := "hc", "yrs"
		initial := input("h", 1, 3, 5) + input("c", 1, 3, 5)
		if kind == "RNN" {
			states, tops, initial = "h", "yr", input("h", 1, 3, 5)
		}
		x := input("x", 4, 3, 2, 2) + input("t", 4, 3)
		for _, n := range []struct{ name, net string }{
			{"", x + layer(kind, "xt", "y", "recurrent_param { num_output: 5 }")},
			{"/static", x + input("z", 3, 6) + layer(kind, "xtz", "y", "recurrent_param { num_output: 5 }")},
			{"/states", x + initial + layer(kind, "xt"+states, tops, "recurrent_param { num_output: 5 expose_hidden: true }")},
		} {
			cases = append(cases, Case{Name: kind + n.name, Net: n.net, Indices: map[string]int{"t": 2}})
		}
	}
	packed := input("x", 12, 4)
	return append(cases,
		Case{Name: "Lstm", Net: packed + layer("Lstm", "x", "y", "lstm_param { num_output: 5 batch_size: 3 }")},
		Case{Name: "Lstm/cont", Net: packed + input("t", 12) + layer("Lstm", "xt", "y", "lstm_param { num_output: 5 batch_size: 3 }"), Indices: map[string]int{"t": 2}},
		Case{Name: "Lstm/axes", Net: input("x", 4, 3, 5) + layer("Lstm", "x", "y", "lstm_param { num_output: 5 }")},
		Case{Name: "LSTMUnit", Net: input("c", 1, 3, 5) + input("x", 1, 3, 20) + input("t", 1, 3) + layer("LSTMUnit", "cxt", "yz", ""), Indices: map[string]int{"t": 2}},
	)
}

// nets are combinations: layers to fold, in-place chains, blobs read more than once.
func nets(x string) []Case {
	conv := func(bottom, top, rest string) string {
		return layer("Convolution", bottom, top, "convolution_param { kernel_size: 3 pad: 1 "+rest+" }")
	}
	norm := layer("BatchNorm", "y", "y", "") + layer("Scale", "y", "y", "scale_param { bias_term: true }")
	return []Case{
		{Name: "fold/Convolution", Net: x + conv("x", "y", "num_output: 6 bias_term: false") + norm + layer("ReLU", "y", "y", "")},
		{Name: "fold/NVCaffe", Net: x + conv("x", "y", "num_output: 6") + layer("BatchNorm", "y", "y", "batch_norm_param { bias_filler { value: 1 } }") + layer("ReLU", "y", "y", "")},
		{Name: "fold/group", Net: x + conv("x", "y", "num_output: 6 group: 3") + norm},
		{Name: "fold/depthwise", Net: x + layer("ConvolutionDepthwise", "x", "y", "convolution_param { num_output: 3 kernel_size: 3 }") + norm},
		{Name: "fold/Deconvolution", Net: x + layer("Deconvolution", "x", "y", "convolution_param { num_output: 6 kernel_size: 2 group: 3 stride: 2 }") + norm},
		{Name: "fold/InnerProduct", Net: x + layer("InnerProduct", "x", "y", "inner_product_param { num_output: 4 }") + norm},
		{Name: "fold/transpose", Net: x + layer("InnerProduct", "x", "y", "inner_product_param { num_output: 4 transpose: true }") + norm},
		{Name: "fold/Bias", Net: x + conv("x", "y", "num_output: 6") + layer("BatchNorm", "y", "z", "") + layer("Bias", "z", "w", "") + layer("TanH", "w", "v", "")},
		{Name: "fold/read twice", Net: x + conv("x", "y", "num_output: 6") + layer("BatchNorm", "y", "z", "") + layer("Eltwise", "yz", "w", "")},
		{Name: "shared", Net: x + input("z", 2, 3, 7, 6) +
			layer("Convolution", "x", "y", "param { name: 'w' } param { name: 'b' } convolution_param { num_output: 2 kernel_size: 3 }") +
			layer("Convolution", "z", "w", "param { name: 'w' } param { name: 'b' } convolution_param { num_output: 2 kernel_size: 3 }")},
		{Name: "residual", Net: x + conv("x", "y", "num_output: 3") + layer("ReLU", "y", "y", "") + layer("Eltwise", "xy", "z", "") +
			layer("ReLU", "z", "z", "") + layer("Pooling", "z", "w", "pooling_param { pool: AVE global_pooling: true }") +
			layer("InnerProduct", "w", "v", "inner_product_param { num_output: 4 }") + layer("Softmax", "v", "u", "")},
	}
}

// proposals is a Proposal layer on predictions for 4 anchors of 6 x 7 pixels, of images of about 50 to 60 pixels. Their scale is as large.
func proposals(param, tops string) string {
	return input("s", 2, 8, 6, 7) + input("x", 2, 16, 6, 7) + layer("Power", "x", "d", "power_param { scale: 0.2 }") + input("r", 2, 3) +
		layer("Sigmoid", "r", "g", "") + layer("Power", "g", "i", "power_param { scale: 10 shift: 50 }") + layer("Proposal", "sdi", tops, "proposal_param { "+param+" }")
}

// detection is a DetectionOutput layer on predictions for 24 priors. Codes have the given scale, small enough that few boxes are inside out:
// NonMaxSuppression takes corners in any order.
func detection(param string, codes int, scale float64) string {
	return input("r", 2, 96*codes) + layer("Power", "r", "l", fmt.Sprintf("power_param { scale: %g }", scale)) + input("c", 2, 72) + input("x", 2, 3, 3, 4) + input("i", 2, 3, 30, 40) +
		layer("PriorBox", "xi", "p", "prior_box_param { min_size: 10 aspect_ratio: 2 flip: false clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }") +
		layer("DetectionOutput", "lcp", "y", "detection_output_param { "+param+" }")
}

package all_test

import (
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	away := func(kinks ...float32) []layertest.Bottom {
		return []layertest.Bottom{{Shape: []int{2, 3, 40}, Fill: scaledBy(5, layertest.AwayFrom(0.02, scaled(0.2, kinks)...))}}
	}
	again := [][]int{{70, 3, 110}}
	for _, n := range []struct {
		typ, param string
		kinks      []float32
	}{
		{"ReLU6", "", []float32{0}}, {"HardSigmoid", "", []float32{-2.5, 2.5}},
		{"HardSigmoid", "hardsigmoid_param { alpha: 0.3 beta: 0.4 }", []float32{-4. / 3, 2}}, {"HardSwish", "", []float32{-3, 3}}, {"Mish", "", nil},
	} {
		addCases(n.typ, layertest.Case{Name: n.param, Param: n.param, Bottoms: away(n.kinks...), Again: again},
			layertest.Case{Name: n.param + " in place", Param: n.param, Bottoms: away(n.kinks...), InPlace: true})
	}
	addCases("Noise",
		layertest.Case{Name: "normal", Param: "noise_param { gaussian_std: 0.5 bias: 1 }", Bottoms: away(), Again: again},
		layertest.Case{Name: "uniform in place", Param: "noise_param { uniform_range: 0.5 }", Bottoms: away(), InPlace: true},
		layertest.Case{Name: "none", Bottoms: away()},
		layertest.Case{Name: "test", Phase: caffepb.Phase_TEST, Param: "noise_param { gaussian_std: 0.5 bias: 1 }", Bottoms: away()})
	addCases("Permute",
		layertest.Case{Name: "channels last", Param: "permute_param { order: 0 order: 2 order: 3 order: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4, 5)}, Again: [][]int{{3, 70, 9, 31}}},
		layertest.Case{Name: "rows", Param: "permute_param { order: 0 order: 2 order: 1 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4, 5)}, Again: [][]int{{2, 13, 11, 700}}},
		layertest.Case{Name: "reversed", Param: "permute_param { order: 4 order: 3 order: 2 order: 1 order: 0 }",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 2, 4, 2)}},
		layertest.Case{Name: "unchanged", Bottoms: []layertest.Bottom{layertest.In(2, 3, 4)}, Again: [][]int{{1, 50, 300}}},
		layertest.Case{Name: "first of the rest", Param: "permute_param { order: 2 }", Bottoms: []layertest.Bottom{layertest.In(3, 1, 4)}},
		layertest.Case{Name: "large", Param: "permute_param { order: 0 order: 2 order: 3 order: 1 }", NoGradient: "the small cases check it",
			Bottoms: []layertest.Bottom{layertest.In(2, 130, 37, 41)}})
	addCases("Transpose",
		layertest.Case{Param: "transpose_param { dim: 3 dim: 2 dim: 0 dim: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 1, 5)}, Again: [][]int{{3, 40, 1, 31}}},
		layertest.Case{Name: "unchanged", Param: "transpose_param { dim: 0 dim: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 3)}})
	addCases("Reverse",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(5, 2, 3)}, Again: [][]int{{7, 3, 300}}},
		layertest.Case{Name: "last axis", Param: "reverse_param { axis: -1 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 4)}, Again: [][]int{{3, 2, 700}}},
		layertest.Case{Name: "between", Param: "reverse_param { axis: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 4, 3)}, Again: [][]int{{2, 9, 5000}}})
	addCases("ShuffleChannel",
		layertest.Case{Param: "shuffle_channel_param { group: 3 }", Bottoms: []layertest.Bottom{layertest.In(2, 6, 3, 2)}, Again: [][]int{{3, 48, 7, 9}}},
		layertest.Case{Name: "one group", Bottoms: []layertest.Bottom{layertest.In(2, 6)}},
		layertest.Case{Name: "vectors", Param: "shuffle_channel_param { group: 2 }", Bottoms: []layertest.Bottom{layertest.In(3, 6)}})
	addCases("Axpy",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(2, 3, 1, 1), layertest.In(2, 3, 4, 5), layertest.In(2, 3, 4, 5)},
			Again: [][]int{{3, 50, 1, 1}, {3, 50, 21, 20}, {3, 50, 21, 20}}},
		layertest.Case{Name: "vectors", Bottoms: []layertest.Bottom{layertest.In(2, 3), layertest.In(2, 3), layertest.In(2, 3)},
			Again: [][]int{{30, 500}, {30, 500}, {30, 500}}},
		layertest.Case{Name: "factors without planes", Bottoms: []layertest.Bottom{layertest.In(2, 3), layertest.In(2, 3, 4), layertest.In(2, 3, 4)}})
	images, large := []layertest.Bottom{layertest.In(2, 4, 3, 2)}, [][]int{{3, 4, 30, 41}}
	addCases("Normalize",
		layertest.Case{Name: "items of a face", Bottoms: images, Again: [][]int{{3, 50, 7, 9}}},
		layertest.Case{Name: "vectors of a face", Bottoms: []layertest.Bottom{layertest.In(3, 5)}, Again: [][]int{{70, 513}}},
		layertest.Case{Name: "items", Param: "norm_param { }", Bottoms: images, Again: large},
		layertest.Case{Name: "items by channel", Param: "norm_param { channel_shared: false }", Bottoms: images, Again: large},
		layertest.Case{Name: "vectors by channel", Param: "norm_param { channel_shared: false }", Bottoms: []layertest.Bottom{layertest.In(3, 5)}, Again: [][]int{{70, 5}}},
		layertest.Case{Name: "pixels", Param: "norm_param { across_spatial: false }", Bottoms: images, Again: large},
		layertest.Case{Name: "pixels by channel", Param: "norm_param { across_spatial: false channel_shared: false }", Bottoms: images, Again: large},
		layertest.Case{Name: "pixels with eps", Param: "norm_param { across_spatial: false eps: 0.5 }", Bottoms: images})
}

// scaled returns values times a factor.
func scaled(by float32, values []float32) []float32 {
	var list []float32
	for _, v := range values {
		list = append(list, by*v)
	}
	return list
}

// scaledBy draws values from a fill and multiplies them by a factor.
func scaledBy(by float32, fill layertest.Fill) layertest.Fill {
	return func(r *rand.Rand, values []float32) {
		fill(r, values)
		copy(values, scaled(by, values))
	}
}

// maskOf is a bottom of different indices below size in each plane of the shape.
func maskOf(size int, shape ...int) layertest.Bottom {
	return layertest.Bottom{Shape: shape, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		n := shape[2] * shape[3]
		for at := 0; at+n <= len(values); at += n {
			for i, p := range r.Perm(size)[:n] {
				values[at+i] = float32(p)
			}
		}
	}}
}

func init() {
	for _, typ := range []string{"ConvolutionDepthwise", "DepthwiseConvolution"} {
		addCases(typ,
			layertest.Case{Param: "convolution_param { num_output: 3 kernel_size: 3 pad: 1 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 5, 6)}},
			layertest.Case{Name: "two filters a channel", Param: "convolution_param { num_output: 6 group: 3 kernel_size: 2 stride: 2 bias_term: false }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 5, 6)}},
			layertest.Case{Name: "blocks", Param: "convolution_param { num_output: 32 kernel_size: 3 pad: 1 }", NoGradient: "the small cases check it", Bottoms: []layertest.Bottom{layertest.In(2, 32, 9, 11)}})
	}
	images := []layertest.Bottom{layertest.In(2, 3, 4, 5)}
	addCases("BN",
		layertest.Case{Name: "PSPNet", NoParams: []int{2, 3}, Bottoms: images, Tolerance: 3e-3, Again: [][]int{{3, 3, 40, 50}}},
		layertest.Case{Name: "PSPNet in place", NoParams: []int{2, 3}, Bottoms: images, Tolerance: 3e-3, InPlace: true, Param: "bn_param { momentum: 0.95 eps: 0.01 }"},
		layertest.Case{Name: "PSPNet test", NoParams: []int{2, 3}, Phase: caffepb.Phase_TEST, Bottoms: images, Weights: []layertest.Fill{nil, nil, nil, layertest.Uniform(0.5, 2)}},
		layertest.Case{Name: "PSPNet frozen", NoParams: []int{0, 1, 2, 3}, Param: "bn_param { frozen: true }", Bottoms: images, Weights: []layertest.Fill{nil, nil, nil, layertest.Uniform(0.5, 2)}},
		layertest.Case{Name: "PSPNet's first", NoParams: []int{2, 3}, Bottoms: images, Tolerance: 3e-3, Param: "bn_param { decay: 0.1 moving_average: true }"},
		layertest.Case{Name: "PSPNet's first test", NoParams: []int{2, 3}, Phase: caffepb.Phase_TEST, InPlace: true, Bottoms: images, Param: "bn_param { moving_average: true }", Weights: []layertest.Fill{nil, nil, nil, layertest.Uniform(0.5, 2)}},
		layertest.Case{Name: "SegNet", Bottoms: images, Param: "bn_param { bn_mode: LEARN }", Tolerance: 3e-3, Again: [][]int{{1, 3, 7, 9}}},
		layertest.Case{Name: "SegNet vectors", Bottoms: []layertest.Bottom{layertest.In(6, 5)}, Param: "bn_param { shift_filler { value: 0.1 } }", Tolerance: 3e-3},
		layertest.Case{Name: "SegNet with statistics", Bottoms: images, InPlace: true, Param: "bn_param { bn_mode: INFERENCE }"})
	addCases("BatchNorm",
		layertest.Case{Name: "NVCaffe", NoParams: []int{0, 1, 2}, Bottoms: images, Tolerance: 3e-3, Param: "batch_norm_param { scale_bias: true }", Again: [][]int{{3, 3, 40, 50}}},
		layertest.Case{Name: "NVCaffe in place", NoParams: []int{0, 1, 2}, Bottoms: images, Tolerance: 3e-3, InPlace: true, Param: "batch_norm_param { scale_filler { value: 2 } moving_average_fraction: 0.9 }"},
		layertest.Case{Name: "NVCaffe vectors", NoParams: []int{0, 1, 2}, Bottoms: []layertest.Bottom{layertest.In(6, 5)}, Tolerance: 3e-3, Param: "batch_norm_param { bias_filler { value: 1 } engine: CUDNN }"},
		layertest.Case{Name: "NVCaffe test", NoParams: []int{0, 1, 2}, Phase: caffepb.Phase_TEST, Bottoms: images, Param: "batch_norm_param { scale_bias: true }",
			Weights: []layertest.Fill{nil, layertest.Uniform(0.5, 2), layertest.Uniform(1, 2)}})
	for _, p := range []string{"height: 7 width: 9", "height: 4 width: 2", "zoom_factor: 3", "shrink_factor: 2", "zoom_factor: 2 shrink_factor: 2", "height: 1 width: 1",
		"zoom_factor: 2 pad_beg: -1 pad_end: -1", "height: 9 width: 4 pad_beg: -1", "height: 4 width: 5"} {
		addCases("Interp", layertest.Case{Name: p, Param: "interp_param { " + p + " }", Bottoms: images, Again: [][]int{{3, 2, 21, 30}}})
	}
	addCases("Interp", layertest.Case{Name: "one pixel", Param: "interp_param { height: 3 width: 3 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 1, 1)}})
	addCases("Upsample",
		layertest.Case{Name: "mask", Param: "upsample_param { scale: 2 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 2, 3), maskOf(24, 2, 3, 2, 3)}},
		layertest.Case{Name: "size", Param: "upsample_param { upsample_h: 5 upsample_w: 7 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 2, 3), maskOf(35, 2, 3, 2, 3)}},
		layertest.Case{Name: "large", Param: "upsample_param { scale_h: 2 scale_w: 3 }", NoGradient: "the small cases check it", Bottoms: []layertest.Bottom{layertest.In(2, 3, 70, 80), maskOf(33600, 2, 3, 70, 80)}},
		layertest.Case{Name: "nearest", Param: "upsample_param { scale: 3 }", Bottoms: images, Again: [][]int{{2, 5, 30, 41}}},
		layertest.Case{Name: "nothing", Bottoms: images})
	addCases("Unpooling",
		layertest.Case{Name: "mask", Param: "unpooling_param { kernel_size: 2 stride: 2 unpool_size: 6 }", Bottoms: []layertest.Bottom{layertest.In(2, 3, 2, 3), maskOf(36, 2, 3, 2, 3)}},
		layertest.Case{Name: "AVE", Param: "unpooling_param { unpool: AVE kernel_size: 3 stride: 2 unpool_size: 8 }", Bottoms: images, Again: [][]int{{2, 5, 3, 3}}},
		layertest.Case{Name: "AVE apart", Param: "unpooling_param { unpool: AVE kernel_h: 1 kernel_w: 2 stride_h: 2 stride_w: 3 unpool_h: 9 unpool_w: 11 }", Bottoms: images},
		layertest.Case{Name: "TILE", Param: "unpooling_param { unpool: TILE kernel_size: 2 stride: 2 unpool_size: 9 }", NoGradient: "DeconvNet's gradient is the mean, not the sum",
			Bottoms: images, Again: [][]int{{2, 5, 3, 70}}},
		layertest.Case{Name: "corners", Param: "unpooling_param { kernel_size: 2 stride: 2 unpool_h: 8 unpool_w: 9 }", Bottoms: images})
}

// regions is a bottom of regions within images of h x w pixels.
func regions(n, images int, h, w float32) layertest.Bottom {
	return layertest.Bottom{Shape: []int{n, 5}, NoGradient: true, Fill: func(r *rand.Rand, values []float32) {
		for i := 0; i+5 <= len(values); i += 5 {
			x, y := r.Float32()*w, r.Float32()*h
			copy(values[i:], []float32{float32(r.IntN(images)), x, y, x + r.Float32()*(w-x), y + r.Float32()*(h-y)})
		}
	}}
}

func init() {
	images := layertest.Filled(layertest.Distinct(-1, 1), 2, 3, 7, 8)
	addCases("ROIPooling",
		layertest.Case{Param: "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }", Bottoms: []layertest.Bottom{images, regions(4, 2, 14, 16)}, Step: 1e-3, Tolerance: 3e-3},
		layertest.Case{Name: "many", Param: "roi_pooling_param { pooled_h: 7 pooled_w: 7 spatial_scale: 0.0625 }", NoGradient: "the small case checks it",
			Bottoms: []layertest.Bottom{layertest.In(2, 5, 30, 41), regions(150, 2, 480, 656)}})
	addCases("ROIAlign",
		layertest.Case{Param: "roi_align_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 }", Bottoms: []layertest.Bottom{images, regions(4, 2, 14, 16)}},
		layertest.Case{Name: "two samples", Param: "roi_align_param { pooled_h: 3 pooled_w: 2 sampling_ratio: 2 }", Bottoms: []layertest.Bottom{images, regions(4, 2, 9, 10)}},
		layertest.Case{Name: "many", Param: "roi_align_param { pooled_h: 7 pooled_w: 7 spatial_scale: 0.0625 sampling_ratio: 2 }", NoGradient: "the small cases check it",
			Bottoms: []layertest.Bottom{layertest.In(2, 5, 30, 41), regions(150, 2, 480, 656)}})
	addCases("PSROIPooling",
		layertest.Case{Param: "psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 2 }", Bottoms: []layertest.Bottom{layertest.In(2, 8, 7, 8), regions(4, 2, 14, 16)}},
		layertest.Case{Name: "many", Param: "psroi_pooling_param { spatial_scale: 0.0625 output_dim: 3 group_size: 3 }", NoGradient: "the small case checks it",
			Bottoms: []layertest.Bottom{layertest.In(2, 27, 30, 41), regions(150, 2, 480, 656)}})
	away := layertest.Filled(layertest.Uniform(-2, 2), 3, 4, 2)
	weights := layertest.Bottom{Shape: []int{3, 4, 2}, NoGradient: true, Fill: layertest.Uniform(0, 2)}
	addCases("SmoothL1Loss",
		layertest.Case{Bottoms: []layertest.Bottom{away, away}, Again: [][]int{{50, 700}, {50, 700}}},
		layertest.Case{Name: "extents of 1", Bottoms: []layertest.Bottom{away, layertest.Filled(layertest.Uniform(-2, 2), 3, 4, 2, 1)}},
		layertest.Case{Name: "weights", Param: "smooth_l1_loss_param { sigma: 1.5 }", Bottoms: []layertest.Bottom{away, away, weights, weights}})
}

func init() {
	labelled := []layertest.Bottom{layertest.In(4, 6), layertest.Labels(5, 4)}
	addCases("MarginInnerProduct", layertest.Case{Name: "SINGLE", Param: "margin_inner_product_param { num_output: 5 }", NoParams: []int{0}, Bottoms: labelled, Again: [][]int{{70, 6}, {70}}})
	for _, typ := range []string{"DOUBLE", "TRIPLE", "QUADRUPLE"} {
		addCases("MarginInnerProduct", layertest.Case{Name: typ, Param: "margin_inner_product_param { num_output: 5 base: 2 lambda_min: 1.5 type: " + typ + " }", Tops: 2, GradTops: 1,
			NoGradient: "SphereFace's gradients ignore the lengths of weights", Bottoms: labelled, Again: [][]int{{70, 6}, {70}}})
	}
	addCases("MarginInnerProduct",
		layertest.Case{Name: "test", Phase: caffepb.Phase_TEST, Param: "margin_inner_product_param { num_output: 7 type: QUADRUPLE axis: 2 }", NoGradient: "see QUADRUPLE",
			Bottoms: []layertest.Bottom{layertest.In(2, 3, 4, 2), layertest.Labels(7, 6)}})
	margins := []layertest.Bottom{layertest.Filled(layertest.AwayFrom(0.02, 0.35), 4, 5), layertest.Labels(5, 4)}
	addCases("LabelSpecificAdd",
		layertest.Case{Param: "label_specific_add_param { bias: -0.35 }", Bottoms: margins, Again: [][]int{{70, 700}, {70}}},
		layertest.Case{Name: "in place", Param: "label_specific_add_param { bias: -0.35 }", Bottoms: margins, InPlace: true},
		layertest.Case{Name: "test", Phase: caffepb.Phase_TEST, Param: "label_specific_add_param { bias: -0.35 transform_test: true }", Bottoms: margins})
	marks := layertest.Bottom{Shape: []int{6, 3}, NoGradient: true, Fill: layertest.Uniform(0.1, 1)}
	addCases("CTCGreedyDecoder",
		layertest.Case{Bottoms: []layertest.Bottom{layertest.In(6, 3, 4), marks}, Tops: 2, Again: [][]int{{8, 30, 50}, {8, 30}}},
		layertest.Case{Name: "accuracy", Param: "ctc_decoder_param { blank_index: 0 ctc_merge_repeated: false }", Bottoms: []layertest.Bottom{layertest.In(6, 3, 4), marks, layertest.Labels(4, 6, 3)}, Tops: 3})
	const anchors = "biases: 1 biases: 2 biases: 3 biases: 1.5"
	addCases("YoloDetectionOutput",
		layertest.Case{Param: "yolo_detection_output_param { num_classes: 3 num_box: 2 confidence_threshold: 0.2 " + anchors + " }", Bottoms: []layertest.Bottom{layertest.In(2, 16, 3, 4)}, Again: [][]int{{3, 16, 20, 21}}},
		layertest.Case{Name: "two grids", Param: "yolo_detection_output_param { num_classes: 3 num_box: 2 confidence_threshold: 0.99 " + anchors + " }", Bottoms: []layertest.Bottom{layertest.In(2, 16, 3, 4), layertest.In(2, 16, 6, 8)}})
	addCases("Yolov3DetectionOutput",
		layertest.Case{Param: "yolov3_detection_output_param { num_classes: 3 num_box: 1 mask_group_num: 2 mask: 1 mask: 0 anchors_scale: 8 anchors_scale: 4 confidence_threshold: 0.25 " + anchors + " }",
			Bottoms: []layertest.Bottom{layertest.In(2, 8, 3, 4), layertest.In(2, 8, 6, 8)}, Again: [][]int{{1, 8, 13, 13}, {1, 8, 26, 26}}})
}

func init() {
	scores := []layertest.Bottom{layertest.In(4, 5, 3), layertest.Labels(5, 4, 3)}
	for _, typ := range []string{"FocalLoss", "SoftmaxFocalLoss"} {
		addCases(typ,
			layertest.Case{Bottoms: scores, Again: [][]int{{300, 5, 20}, {300, 20}}},
			layertest.Case{Name: "others", Param: "focal_loss_param { alpha: 0.75 gamma: 0.5 } loss_param { ignore_label: 2 normalization: FULL }", Tops: 2, GradTops: 1, Bottoms: scores})
	}
	addCases("CenterLoss",
		layertest.Case{Param: "center_loss_param { num_output: 5 }", NoParams: []int{0}, Bottoms: []layertest.Bottom{layertest.In(4, 3, 2), layertest.Labels(5, 4)}, Again: [][]int{{90, 6}, {90}}})
	vectors := layertest.In(6, 4)
	addCases("TripletLoss",
		layertest.Case{Bottoms: []layertest.Bottom{vectors, vectors, vectors}, Step: 1e-3, Tolerance: 3e-3, Again: [][]int{{50, 700}, {50, 700}, {50, 700}}},
		layertest.Case{Name: "weights", Param: "triplet_loss_param { margin: 0.3 }", Step: 1e-3, Tolerance: 3e-3,
			Bottoms: []layertest.Bottom{vectors, vectors, vectors, {Shape: []int{6}, NoGradient: true, Fill: layertest.Uniform(0, 2)}}})
}

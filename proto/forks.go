package proto

import (
	"strings"
	"sync"
)

// forks lists layer types and fields of public nets that BVLC Caffe does not support, with the well-known fork of Caffe that
// does. The key for a field of a message other than the layer is "Message.field", that for a value of an enum "Enum=VALUE", that for a
// value of a field of type string "field=value".
var forks = map[string]string{
	"SSD":                 `VideoData video_data_param SolverParameter.plateau_winsize lr_policy=plateau`,
	"DeepLab":             `DenseCRF MatRead MatWrite UniqueLabel densecrf_param mat_read_param mat_write_param LayerType=IMAGE_SEG_DATA LayerType=MAT_READ LayerType=MAT_WRITE LayerType=DENSE_CRF LayerType=UNIQUE_LABEL`,
	"ArcFace":             `LabelSpecificMargin LabelSpecificHardMargin label_specific_margin_param`,
	"MobileNet-YOLO":      `DetectionEvaluateYolo EvalDetection YoloV3Loss eval_detection_param`,
	"YOLO v2":             `Region RegionOutput region_param`,
	"caffe-windows":       `Gram`,
	"style-transfer":      `Gramian`,
	"PSPNet":              `DataParameter.shuffle`,
	"CRF-RNN":             `MultiStageMeanfield multi_stage_meanfield_param`,
	"DetectNet":           `DetectNetTransformation detectnet_groundtruth_param detectnet_augmentation_param`,
	"FlowNet":             `Accum BlackAugmentation ChannelNorm Correlation Correlation1D CustomData DataAugmentation DisparityData Downsample FLOWriter FloatReader FloatWriter FlowAugmentation FlowWarp GenerateAugmentationParameters ImgReader ImgWriter L1Loss LpqLoss Mean NegReLU PFMWriter Resample accum_param augmentation_param correlation_param flow_warp_param l1_loss_param mean_param resample_param`,
	"OpenPose":            `CPMData OPData ImResize Nms cpm_transform_param op_transform_param imresize_param nms_param`,
	"caffe-yolo":          `BoxData DetectionLoss detection_loss_param DataParameter.side SolverParameter.stagelr SolverParameter.stageiter lr_policy=multifixed`,
	"Ristretto":           `ConvolutionRistretto DeconvolutionRistretto FcRistretto LRNRistretto QuantizationParameter.rounding_scheme QuantizationParameter.bw_layer_in QuantizationParameter.bw_layer_out QuantizationParameter.bw_params QuantizationParameter.fl_layer_in QuantizationParameter.fl_layer_out QuantizationParameter.fl_params QuantizationParameter.mant_bits QuantizationParameter.exp_bits QuantizationParameter.exp_min QuantizationParameter.exp_max`,
	"Intel":               `TransformationParameter.random_resize_param TransformationParameter.random_aspect_ratio_param NetParameter.engine SolverParameter.engine Engine=MKL2017 Engine=MKLDNN SolverParameter.local_lr_auto SolverParameter.local_gw_ratio`,
	"NVIDIA":              `SolverParameter.min_lr SolverParameter.rampup_interval SolverParameter.rampup_lr SolverParameter.larc SolverParameter.larc_policy SolverParameter.larc_eta SolverParameter.larc_turbo SolverParameter.solver_data_type SolverParameter.global_grad_scale NetParameter.default_forward_type NetParameter.default_backward_type NetParameter.default_forward_math NetParameter.default_backward_math NetParameter.global_grad_scale NetParameter.global_grad_scale_adaptive NetParameter.reduce_buckets NetParameter.default_conv_algos_override NetParameter.default_cudnn_math_override LayerParameter.forward_type LayerParameter.backward_type LayerParameter.forward_math LayerParameter.backward_math ConvolutionParameter.conv_algos_override ConvolutionParameter.cudnn_math_override DataParameter.threads DataParameter.parser_threads DataParameter.cache TransformationParameter.use_gpu_transform`,
	"SGDR":                `SolverParameter.mult_factor lr_policy=sgdr`,
	"FCN":                 `LayerType=CROP`,
	"owphoo":              `FocalLossParameter.alpha_balance`,
	"warpctc-caffe":       `CTCDecoder CTCBeamSearchDecoder LabelsequenceAccuracy labelsequence_accuracy_param`,
	"HED":                 `ImageLabelmapData`,
	"DenseNet":            `DenseBlock denseblock_param`,
	"colorization":        `SoftmaxCrossEntropyLoss`,
	"STN":                 `SpatialTransformer st_param FillerParameter.file`,
	"RefineDet":           `DetectionOutputParameter.objectness_score MultiBoxLossParameter.objectness_score`,
	"TextBoxes++":         `PriorBoxParameter.denser_prior_boxes DetectionOutputParameter.use_polygon`,
	"video-caffe":         `NdConvolution NdPooling ConvolutionParameter.kernel_shape ConvolutionParameter.stride_shape ConvolutionParameter.pad_shape PoolingParameter.kernel_shape PoolingParameter.stride_shape PoolingParameter.pad_shape`,
	"Deformable-ConvNets": `DeformableConvolution DeformablePSROIPooling deformable_convolution_param`,
}

// advice says what to write instead of the names of forks that start with a key.
var advice = map[string]string{
	"SolverParameter.min_lr":           `here nothing bounds the rate from below; lr_policy "multistep" ends at a rate of one's choice`,
	"SolverParameter.rampup_interval":  "here warmup_iter does that",
	"SolverParameter.rampup_lr":        "here warmup_start_lr does that",
	"SolverParameter.larc":             "here lars_trust scales the rate of each weight",
	"SolverParameter.local_":           "here lars_trust scales the rate of each weight",
	"SolverParameter.stage":            multistep,
	"lr_policy=multifixed":             multistep,
	"SolverParameter.solver_data_type": float,
	"SolverParameter.global_grad":      float,
	"NetParameter.default_":            float,
	"NetParameter.global_grad":         float,
	"LayerParameter.forward_":          float,
	"LayerParameter.backward_":         float,
	"ConvolutionParameter.c":           "remove it: swcaffe chooses its algorithms itself",
	"NetParameter.reduce_buckets":      "remove it: swcaffe chooses the pieces of its messages itself",
	"DataParameter.threads":            "remove it: batches are read ahead anyway",
	"DataParameter.parser_threads":     "remove it: batches are read ahead anyway",
	"TransformationParameter.use_gpu":  "remove it: there is no GPU",
	"NetParameter.engine":              engine,
	"SolverParameter.engine":           engine,
	"Engine=":                          engine,
}

const (
	multistep = `lr_policy "multistep" with gamma and stepvalue does that for rates of one ratio`
	float     = "remove it: all values are float here"
	engine    = "remove it: engines have no effect here"
)

// forkOf maps a name to its fork.
var forkOf = sync.OnceValue(func() map[string]string {
	of := map[string]string{}
	for fork, names := range forks {
		for _, name := range strings.Fields(names) {
			of[name] = fork
		}
	}
	return of
})

// FromFork returns a note on a layer type or field that only a fork of Caffe supports: "; forks of Caffe such as SSD's have it,
// BVLC Caffe and swcaffe do not", and what to write instead, if something does the like. It returns "" for other names.
func FromFork(name string) string {
	fork := forkOf()[name]
	if fork == "" {
		return ""
	}
	note := "; forks of Caffe such as " + fork + "'s have it, BVLC Caffe and swcaffe do not"
	for start, text := range advice {
		if strings.HasPrefix(name, start) {
			note += " (" + text + ")"
		}
	}
	return note
}

package proto

import (
	"strings"
	"sync"
)

// forks lists layer types and fields of public nets that BVLC Caffe does not support, with the well-known fork of Caffe that
// does. The key for a field of a message other than the layer is "Message.field", that for a value of an enum "Enum=VALUE".
var forks = map[string]string{
	"SSD":                 `VideoData video_data_param SolverParameter.plateau_winsize`,
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
	"caffe-yolo":          `BoxData DetectionLoss detection_loss_param DataParameter.side`,
	"Ristretto":           `ConvolutionRistretto DeconvolutionRistretto FcRistretto LRNRistretto quantization_param`,
	"Intel":               `TransformationParameter.random_resize_param TransformationParameter.random_aspect_ratio_param`,
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
// BVLC Caffe and swcaffe do not". It returns "" for other names.
func FromFork(name string) string {
	fork := forkOf()[name]
	if fork == "" {
		return ""
	}
	return "; forks of Caffe such as " + fork + "'s have it, BVLC Caffe and swcaffe do not"
}

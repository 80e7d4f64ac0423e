package conv

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// CoversImage reports whether kernels are as large as images. Each result is then one inner product, as in convolutions made from fully
// connected layers.
func CoversImage(s *shape.Conv) bool {
	return s.Group == 1 && tiling.Size(s.Kernel) > 1 && slices.Equal(s.Kernel, s.In) && tiling.Size(s.OutSize()) == 1 && slices.Max(s.Pad) == 0 && s.N > 0
}

// IsDepthwise reports whether every channel is a group of its own.
func IsDepthwise(s *shape.Conv) bool {
	return s.Group > 1 && s.Group == s.C && len(s.In) <= 2 && tiling.Size(s.Kernel) > 1 && tiling.Size(s.OutSize()) > 0 && s.N > 0 && s.StepsInside()
}

// StridedPointwise reports whether a convolution reads only some pixels of its images: 1x1 kernels with strides and without padding.
func StridedPointwise(s shape.Conv) bool {
	for i := range s.In {
		if s.Kernel[i] != 1 || s.Pad[i] != 0 {
			return false
		}
	}
	return !s.UnitStride() && len(s.In) <= 2
}

// Shiftable reports whether a padded copy of the image (see tensor.Slab) can turn kernel offsets into shifts at a reasonable size. With
// strides or dilations far larger than the kernel, a slab would be more than four times as large as the column matrix.
func Shiftable(s shape.Conv) bool {
	if len(s.In) > 2 || s.Pointwise() {
		return false
	}
	const most = 4
	share := float64(1) // size of the column matrix over that of the slab
	for i, out := range s.OutSize() {
		slab := float64(s.Stride[i]) * float64(out+s.Dilation[i]*(s.Kernel[i]-1)/s.Stride[i])
		share *= float64(out) * float64(s.Kernel[i]) / slab
	}
	return share*most >= 1
}

// HasPhases reports whether the input gradient can be computed by phases, the remainders of pixel coordinates modulo the strides: kernels are
// larger than 1x1 and have strides no longer than the image.
func HasPhases(s *shape.Conv) bool {
	return len(s.In) <= 2 && !s.UnitStride() && s.StepsInside() && !StridedPointwise(*s) && !IsDepthwise(s)
}

// ManyChannels and SomeOutputs delimit FewChannels: fewer than ManyChannels input channels, and at least SomeOutputs output channels. Vectors
// are then faster than products of gathered columns.
const ManyChannels, SomeOutputs = shape.BlockLanes, shape.BlockLanes / 2

// FewPixels and fewWeights admit more input channels: if there are at most FewPixels results per channel, gathering columns takes longer than
// multiplying them. At most fewWeights weights stay in L2.
const FewPixels, fewWeights = 256, 1 << 15

// InPlace reports whether kernels can read images and weights without gathering them: one group, no dilation, and kernels whose offsets are
// shifts of a padded copy.
func InPlace(s *shape.Conv) bool {
	return s.Group == 1 && tiling.Size(s.Dilation) == 1 && Shiftable(*s) && !StridedPointwise(*s) && !CoversImage(s) && tiling.Size(s.OutSize()) > 0 && s.N > 0
}

// FewResults reports whether results have few pixels, and there are few weights.
func FewResults(s *shape.Conv) bool {
	return s.N*tiling.Size(s.OutSize()) <= FewPixels && s.Out*s.Depth() <= fewWeights
}

// FewChannels reports whether a shape suits vectors of output channels better than a GEMM: it has few channels, or few pixels and weights.
// These are the first layers of nets, and small layers with few images.
func FewChannels(s *shape.Conv) bool {
	return InPlace(s) && s.Out >= SomeOutputs && (s.C < ManyChannels || FewResults(s))
}

// Strides reports whether a shape suits vectors of output channels because of its strides: the vectors read every stride-th value where it lies,
// and panels of a GEMM have to be gathered.
func Strides(s *shape.Conv) bool {
	return InPlace(s) && s.Out >= SomeOutputs && !s.UnitStride()
}

package conv

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// covers reports whether kernels are as large as images. Each result is then one inner product, as in convolutions made from fully connected
// layers.
func covers(s *shape.Conv) bool {
	return s.Group == 1 && tiling.Size(s.Kernel) > 1 && slices.Equal(s.Kernel, s.In) && tiling.Size(s.OutSize()) == 1 && slices.Max(s.Pad) == 0 && s.N > 0
}

// depthwise reports whether every channel is a group of its own.
func depthwise(s *shape.Conv) bool {
	return s.Group > 1 && s.Group == s.C && len(s.In) <= 2 && tiling.Size(s.Kernel) > 1 && tiling.Size(s.OutSize()) > 0 && s.N > 0 && s.StepsInside()
}

// thinnable reports whether a convolution reads only some pixels of its images: 1x1 kernels with strides and without padding.
func thinnable(s shape.Conv) bool {
	for i := range s.In {
		if s.Kernel[i] != 1 || s.Pad[i] != 0 {
			return false
		}
	}
	return !s.UnitStride() && len(s.In) <= 2
}

// shiftable reports whether a padded copy of the image (see slab) can turn kernel offsets into shifts at a reasonable size. With strides or
// dilations far larger than the kernel, a slab would be more than four times as large as the column matrix.
func shiftable(s shape.Conv) bool {
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

// phased reports whether the host computes the input gradient of a shape by phases.
func phased(s *shape.Conv) bool {
	return len(s.In) <= 2 && !s.UnitStride() && s.StepsInside() && !thinnable(*s) && !depthwise(s)
}

// manyChannels and someOutputs delimit the shapes for vectors of output channels: fewer than manyChannels input channels, and at least
// someOutputs output channels. Vectors are then faster than products of gathered columns.
const manyChannels, someOutputs = shape.BlockLanes, shape.BlockLanes / 2

// fewPixels and fewWeights admit more input channels: if there are at most fewPixels results per channel, gathering columns takes longer than
// multiplying them. At most fewWeights weights stay in L2.
const fewPixels, fewWeights = 256, 1 << 15

// inPlace reports whether the host's direct algorithms can read images and weights without gathering them: one group, no dilation.
func inPlace(s *shape.Conv) bool {
	return s.Group == 1 && tiling.Size(s.Dilation) == 1 && shiftable(*s) && !thinnable(*s) && !covers(s) && tiling.Size(s.OutSize()) > 0 && s.N > 0
}

// fewResults reports whether results have few pixels, and there are few weights.
func fewResults(s *shape.Conv) bool {
	return s.N*tiling.Size(s.OutSize()) <= fewPixels && s.Out*s.Depth() <= fewWeights
}

// byOffsets reports whether the host uses vectors of output channels for a shape (see offsetConv). These are the first layers of nets, and
// small layers with few images.
func byOffsets(s *shape.Conv) bool {
	return inPlace(s) && s.Out >= someOutputs && (s.C < manyChannels || fewResults(s))
}

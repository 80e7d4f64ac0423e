package shape

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd/isa"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// BlockLanes is the number of channels that lie side by side where images lie in blocks of channels: value (n, c, p) of images
// N x C x P, P being the pixels of a plane, is then at ((n*C/16 + c/16)*P + p)*16 + c%16, C being a multiple of 16. Vectors of
// channels are what Winograd's maps, pointwise convolutions and pooling work on, whatever the images' extents.
const BlockLanes = isa.BlockLanes

// HasBlocks reports whether a machine's kernels can do with blocks of channels.
func HasBlocks(m *cpe.Machine) bool { return m.Native() }

// ToBlocks brings planes of size values, of a multiple of BlockLanes channels, to blocks.
func ToBlocks(dst, src []float32, planes, size int) {
	for at := 0; at < planes*size; at += BlockLanes * size {
		vec.Transpose(dst[at:], src[at:], BlockLanes, size, BlockLanes, size)
	}
}

// FromBlocks is the inverse of ToBlocks.
func FromBlocks(dst, src []float32, planes, size int) {
	for at := 0; at < planes*size; at += BlockLanes * size {
		vec.Transpose(dst[at:], src[at:], size, BlockLanes, size, BlockLanes)
	}
}

package shape

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// BlockLanes is the number of channels of a block (oneDNN's nChw16c). Value (n, c, p) of images N x C x P, with P pixels in a plane, is at
// ((n*C/16 + c/16)*P + p)*16 + c%16, and C is a multiple of 16. Vectors of channels then have no tails, whatever the extents of the images.
const BlockLanes = isa.BlockLanes

// HasBlocks reports whether a machine can have its images in blocks of channels. Their kernels read images in place, not through DMA.
func HasBlocks(m *cpe.Machine) bool { return !m.HasDMA() }

// ToBlocks copies planes of size values each to blocks of channels. The number of planes is a multiple of BlockLanes.
func ToBlocks(dst, src []float32, planes, size int) {
	for at := 0; at < planes*size; at += BlockLanes * size {
		vec.Transpose(dst[at:], src[at:], BlockLanes, size, BlockLanes, size)
	}
}

// FromBlocks copies blocks of channels to planes; it is the inverse of ToBlocks.
func FromBlocks(dst, src []float32, planes, size int) {
	for at := 0; at < planes*size; at += BlockLanes * size {
		vec.Transpose(dst[at:], src[at:], size, BlockLanes, size, BlockLanes)
	}
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// gatherWork is the cost of gathering one run of an image line into a row of a panel, in operations of the GEMM micro-kernel.
const gatherWork = 300

// weightWork is the extra cost of a weight in the gradients of the implicit strategy, in the same unit: transposing and packing it, or
// storing its sum.
const weightWork = 250

// packWork is the cost of packing a weight, in the same unit.
const packWork = 100

// ProductCost is the cost of an implicit GEMM whose panels are gathered.
func ProductCost(p *Problem) float64 { return ProductWork(p.Shape, p.Direction) }

// RepackedCost is ProductCost for kernels that pack all weights in every run. In a net for inference the others keep them, which counts for few pixels.
func RepackedCost(p *Problem) float64 {
	cost := ProductCost(p)
	if p.Inference {
		cost += packWork * float64(p.Shape.Out*p.Shape.Depth())
	}
	return cost
}

// OffsetCost is the cost of vectors of output channels, with empty lanes in the last one. Nets for inference compute these shapes slower than Winograd's by more than the
// operations say: 1.1 to 1.8 times in seven layers of the zoo with 16 input channels and more (one image, AVX2). There the cost is manyOffsets times as high.
func OffsetCost(p *Problem) float64 {
	if p.Inference && p.Shape.C >= ManyChannels {
		return manyOffsets * LaneCost(&p.Shape)
	}
	return LaneCost(&p.Shape)
}

const manyOffsets = 1.5

// LaneCost is the multiplications and additions of vectors of output channels.
func LaneCost(s *shape.Conv) float64 {
	return 2 * float64(s.N*tiling.Size(s.OutSize())*s.Depth()*tiling.Blocks(s.Out, shape.BlockLanes)*shape.BlockLanes)
}

// VectorCost is the cost if all vector lanes are used.
func VectorCost(p *Problem) float64 {
	s := &p.Shape
	return 2 * float64(s.N*tiling.Size(s.OutSize())*s.Out*s.Depth())
}

// ProductWork is the work of a GEMM in whole panels, and of gathering the panels.
func ProductWork(s shape.Conv, d shape.Direction) float64 {
	if d == shape.WeightGradient {
		return float64(s.Out*s.Depth()) * (2*float64(s.N*tiling.Size(s.OutSize())) + weightWork)
	}
	weights := 0.0
	if d == shape.InputGradient {
		weights = weightWork * float64(s.Out*s.Depth())
		s = s.Mirrored()
	}
	lines, width := tiling.Two(s.OutSize(), 1)
	rows, lanes := vgemm.Tile()
	positions, out := float64(s.N*lines*width), tiling.Blocks(s.Out/s.Group, rows)*rows
	runs := positions/float64(lanes) + float64(s.N*lines)
	return weights + float64(s.Group*s.Depth())*(2*float64(out)*positions+gatherWork*runs)
}

// PairCopies is added to the cost of convolutions in bfloat16 that have several kernel offsets and no strides. Winograd's algorithm, which computes these in float32, is cheaper than its cost
// where channels are few: in 20 layers of the zoo with 16 to 64 channels, costs without this sum took bfloat16 to be 1.5 to 3 times as fast as it was (time -explain '.*' -tune FILE
// -precision bf16, on two cores with AVX512_BF16).
func PairCopies(p *Problem) float64 {
	s := &p.Shape
	if !s.UnitStride() {
		return 0
	}
	const each = 70
	lanes := tiling.Blocks(s.C, shape.BlockLanes) + tiling.Blocks(s.Out, shape.BlockLanes)
	return each * float64(s.N*tiling.Size(s.OutSize())) * float64(lanes*shape.BlockLanes)
}

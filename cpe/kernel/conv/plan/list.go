package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/depthwise"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/direct"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/explicit"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/mesh"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/offsets"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/pointwise"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// algorithms lists all algorithms. Of several that cost the same, the first is chosen.
var algorithms = op.List[shape.Conv, conv.Kernel]{Algorithms: listAlgorithms(), Charge: func(k conv.Kernel) error { return k.Run(conv.Arrays{}) }}

func listAlgorithms() []*conv.Algorithm {
	list := []*conv.Algorithm{
		&nothing,
		&direct.Covering,
		&pointwise.Blocked,
		&pointwise.BlockedBFloat16,
		&pointwise.BlockedInt8,
		&pointwise.BlockedWeights,
		&pointwise.BlockedWeightsBFloat16,
		&depthwise.Bands,
		&depthwise.Weights,
		&offsets.Planes,
		&offsets.Forward,
		&offsets.BFloat16,
		&offsets.Weights,
		&pointwise.Planes,
		&pointwise.Thinned,
		&direct.Phases,
		&direct.Spread,
		&direct.Pointwise,
		&direct.Gathered,
		&direct.ShiftedWeights,
		&direct.Padded,
		&direct.ImplicitBFloat16,
	}
	for _, tiles := range winograd.Strategies {
		for _, algorithm := range []func(shape.Strategy) *conv.Algorithm{
			winograd.Small,
			winograd.Panels,
			winograd.Tiles,
			winograd.PanelSums,
			winograd.Sums,
			winograd.Folded,
			winograd.Mesh,
		} {
			list = append(list, algorithm(tiles))
		}
	}
	return append(list,
		&explicit.Pointwise,
		&explicit.Batched,
		&explicit.GEMM,
		&explicit.Int8,
		&explicit.BFloat16,
		&mesh.Taps,
		&mesh.Rows,
		&mesh.Batch,
	)
}

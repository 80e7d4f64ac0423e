package pointwise

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// pack packs some blocks of input channels of a panel: output channels side by side, input channels one below another, zeros in lanes
// past the last channel.
func (v *pointProduct) pack(dst []float32, p, block, deep int) {
	w, dst := v.Args.W, dst[:v.weights(deep)]
	firstOut, firstIn := p*conv.Panel, block*shape.BlockLanes
	n, k := min(conv.Panel, v.out.Channels-firstOut), min(deep*shape.BlockLanes, v.in.Channels-firstIn)
	if n < conv.Panel || k < deep*shape.BlockLanes {
		clear(dst)
	}
	if v.Direction == shape.InputGradient {
		vec.CopyRows(dst, conv.Panel, w[firstIn*v.out.Channels+firstOut:], v.out.Channels, k, n)
	} else {
		vec.Transpose(dst, w[firstOut*v.in.Channels+firstIn:], conv.Panel, v.in.Channels, n, k)
	}
}

// unpack writes all packed weights back to the order of Arrays.W.
func (v *pointProduct) unpack(w, packed []float32) {
	for p := range v.panels() {
		firstOut := p * conv.Panel
		n, k := min(conv.Panel, v.out.Channels-firstOut), v.in.Channels
		panel := packed[p*v.weights(v.in.Blocks()):]
		if v.Direction == shape.InputGradient {
			vec.CopyRows(w[firstOut:], v.out.Channels, panel, conv.Panel, k, n)
		} else {
			vec.Transpose(w[firstOut*k:], panel, k, conv.Panel, k, n)
		}
	}
}

// packPoints is the stage that packs all weights.
type packPoints struct{ *pointProduct }

// Name names the stage.
func (p *packPoints) Name() string { return p.pointProduct.Name() + ", packing weights" }

// RunGroup packs a core group's share: a panel's weights for one block of input channels at a time.
func (p *packPoints) RunGroup(g *cpe.CoreGroup) error {
	memory, inputs := p.kept.Memory(g, &p.Args, p.all()), p.in.Blocks()
	lo, hi := g.Share(p.panels() * inputs)
	for i := lo; i < hi; i++ {
		p.pack(memory[p.weights(i):], i/inputs, i%inputs, 1)
	}
	return nil
}

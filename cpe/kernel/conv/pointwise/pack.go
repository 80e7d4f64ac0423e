package pointwise

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// pack packs some blocks of factors of a panel.
func (v *pointProduct) pack(dst []float32, p, block, deep int) {
	if !v.pairs {
		v.arrange(dst, p, block, deep)
		return
	}
	var panel [vconv.PairBlock * conv.Panel]float32
	for i := range deep {
		v.arrange(panel[:], p, block+i, 1)
		vconv.RoundPanel(dst[v.weights(i):], panel[:], vconv.PairBlock)
	}
}

// arrange copies the weights of some blocks of factors of a panel: output channels side by side, input channels one below another, zeros in lanes past
// the last channel.
func (v *pointProduct) arrange(dst []float32, p, block, deep int) {
	rows := deep * v.channels()
	w, dst := v.Args.W, dst[:rows*conv.Panel]
	firstOut, firstIn := p*conv.Panel, block*v.channels()
	n, k := min(conv.Panel, v.out.Channels-firstOut), min(rows, v.in.Channels-firstIn)
	if n < conv.Panel || k < rows {
		clear(dst)
	}
	if v.Direction == shape.InputGradient {
		vec.CopyRows(dst, conv.Panel, w[firstIn*v.out.Channels+firstOut:], v.out.Channels, k, n)
	} else {
		vec.Transpose(dst, w[firstOut*v.in.Channels+firstIn:], conv.Panel, v.in.Channels, n, k)
	}
}

// unpack writes all packed weights, rounded if factors are, back to the order of Arrays.W.
func (v *pointProduct) unpack(w, packed []float32) {
	var panel []float32
	if v.pairs {
		panel = make([]float32, v.blocks()*v.channels()*conv.Panel)
	}
	for p := range v.panels() {
		firstOut := p * conv.Panel
		n, k := min(conv.Panel, v.out.Channels-firstOut), v.in.Channels
		from := packed[p*v.weights(v.blocks()):]
		if v.pairs {
			vconv.UnroundPanel(panel, from, v.blocks()*v.channels())
			from = panel
		}
		if v.Direction == shape.InputGradient {
			vec.CopyRows(w[firstOut:], v.out.Channels, from, conv.Panel, k, n)
		} else {
			vec.Transpose(w[firstOut*k:], from, k, conv.Panel, k, n)
		}
	}
}

// packPoints is the stage that packs all weights.
type packPoints struct{ *pointProduct }

// Name names the stage.
func (p *packPoints) Name() string { return p.pointProduct.Name() + ", packing weights" }

// RunGroup packs a core group's share: a panel's weights for one block of factors at a time.
func (p *packPoints) RunGroup(g *cpe.CoreGroup) error {
	memory, inputs := p.kept.Memory(g, p.Args.Fixed, p.all()), p.blocks()
	lo, hi := g.Share(p.panels() * inputs)
	for i := lo; i < hi; i++ {
		p.pack(memory[p.weights(i):], i/inputs, i%inputs, 1)
	}
	return nil
}

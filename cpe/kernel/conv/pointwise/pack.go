package pointwise

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// pack packs some blocks of factors of a panel.
func (v *pointProduct) pack(dst []float32, p, block, deep int) {
	if !v.packing.Rounded() {
		v.arrange(dst, p, block, deep)
		return
	}
	steps := v.steps(p)
	var panel [vconv.ByteBlock * conv.Panel]float32
	for i := range deep {
		v.arrange(panel[:], p, block+i, 1)
		v.packing.Round(panel[:], steps)
		v.packing.Panel(dst[v.packing.Rows(i):], panel[:], v.packing.Block())
	}
}

// packHead computes the head of a panel of integers.
func (v *pointProduct) packHead(head []float32, p int) {
	steps := v.steps(p)
	v.packing.Begin(head, steps)
	var panel [vconv.ByteBlock * conv.Panel]float32
	for i := range v.blocks() {
		v.arrange(panel[:], p, i, 1)
		v.packing.Round(panel[:], steps)
		v.packing.AddToHead(head, panel[:], v.packing.Block())
	}
}

// steps returns the steps of a panel's weights, if they are integers.
func (v *pointProduct) steps(p int) *factors.Steps {
	first, k := p*conv.Panel, v.in.Channels
	return v.packing.StepsOf(first, min(conv.Panel, v.out.Channels-first), func(o int) []float32 { return v.Args.W[o*k : (o+1)*k] })
}

// arrange copies the weights of some blocks of factors of a panel: output channels side by side, input channels one below another, zeros in lanes past
// the last channel.
func (v *pointProduct) arrange(dst []float32, p, block, deep int) {
	rows := deep * v.packing.Block()
	w, dst := v.Args.W, dst[:rows*conv.Panel]
	firstOut, firstIn := p*conv.Panel, block*v.packing.Block()
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
	panel := make([]float32, v.blocks()*v.packing.Block()*conv.Panel)
	for p := range v.panels() {
		firstOut := p * conv.Panel
		n, k := min(conv.Panel, v.out.Channels-firstOut), v.in.Channels
		v.packing.Unpack(panel, packed[v.weights(p, 0):], v.blocks())
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

// RunGroup packs a core group's share: a panel's weights for one block of factors at a time.
func (p *packPoints) RunGroup(g *cpe.CoreGroup) error {
	memory, inputs := p.kept.Memory(g, p.Args.Fixed, p.all()), p.blocks()
	lo, hi := g.Share(p.panels() * inputs)
	for i := lo; i < hi; i++ {
		panel, block := i/inputs, i%inputs
		p.pack(memory[p.weights(panel, block):], panel, block, 1)
		if head := p.packing.Head(); head > 0 && block == 0 {
			p.packHead(memory[p.weights(panel, 0)-head:][:head], panel)
		}
	}
	return nil
}

package direct

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// phaseWeights is the stage that packs the weights for phasedConv. The weights of a block of channels are stored run by run in micro-kernel
// panels, whose rows are phases x channels. A panel holds, for each offset and output channel, the values of its rows side by side.
type phaseWeights struct{ *phasedConv }

// packWeights computes the layout.
func (v *phasedPlan) packWeights() {
	mr, _ := vgemm.Tile()
	for i := range v.runs {
		r := &v.runs[i]
		r.at = v.packed
		v.packed += tiling.Blocks(r.n*v.block, mr) * mr * v.out * len(r.taps)
	}
	v.unpacked = tiling.Size(v.shape.Kernel) * v.in
}

// Name names the stage.
func (p phaseWeights) Name() string { return p.phasedConv.Name() + ", packing weights" }

// RunGroup packs the weights of a core group's share of the output channels.
func (p phaseWeights) RunGroup(g *cpe.CoreGroup) error {
	taps, blocks := tiling.Size(p.Shape.Kernel), tiling.Blocks(p.in, p.block)
	packed := g.Common(p.Shape.Group * blocks * p.packed)
	transposed := g.Memory(max(p.memory(), p.unpacked))[:p.unpacked]
	lo, hi := g.Share(p.Shape.Out)
	for o := lo; o < hi; o++ {
		vec.Transpose(transposed, p.Args.W[o*p.unpacked:], p.in, taps, p.in, taps)
		for i := range blocks {
			first := i * p.block
			p.pack(packed[(o/p.out*blocks+i)*p.packed:], transposed[first:], o%p.out, min(p.block, p.in-first))
		}
	}
	return nil
}

// pack packs one output channel's weights for n channels of a block. Missing rows of the last panel become zeros.
func (p phaseWeights) pack(packed, transposed []float32, o, n int) {
	mr, _ := vgemm.Tile()
	for i := range p.runs {
		r := &p.runs[i]
		apart := len(r.taps) * p.out * mr
		for k, t := range r.taps {
			panels, row := packed[r.at+(k*p.out+o)*mr:], 0
			for _, offset := range t.offsets {
				toPanels(panels, apart, mr, row, transposed[offset*p.in:][:n])
				row += n
			}
			if row%mr > 0 {
				clear(panels[row/mr*apart:][row%mr : mr])
			}
		}
	}
}

// toPanels stores contiguous values in panels of mr rows, starting with the given row.
func toPanels(panels []float32, apart, mr, row int, values []float32) {
	if at := row % mr; at > 0 {
		n := copy(panels[row/mr*apart:][at:mr], values)
		values, row = values[n:], row+n
	}
	whole := len(values) / mr
	if whole > 0 {
		vec.CopyRows(panels[row/mr*apart:], apart, values, mr, whole, mr)
	}
	if rest := values[whole*mr:]; len(rest) > 0 {
		copy(panels[(row/mr+whole)*apart:], rest)
	}
}

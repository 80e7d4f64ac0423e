package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// smallCollect is the last stage of the weight gradient. It adds up the chunks' sums (conv.Sums), transforms them to kernels, and stores these
// in DW or adds them. It adds the bias sums to DB.
//
// The other Winograd weight gradients have one sum for each product, and nothing to add up: [gradients.collect] transforms their sums. There
// the lanes of a vector are input channels, whose kernels lie side by side in DW; here they are output channels, whose kernels lie apart.
type smallCollect struct{ *smallKernel }

// collectNeed is the number of values of its memory: kernels of a slice of output channels, twice.
func (b *smallKernel) collectNeed() int {
	return 2*b.grid.form.Taps()*sliceLanes + vwinograd.Scratch
}

// Name names the stage.
func (p *smallCollect) Name() string {
	return "convolution " + shape.WeightGradient.String() + ", collecting"
}

// RunGroup collects a core group's share of the input channels. If DW is nil it computes only DB.
func (p *smallCollect) RunGroup(g *cpe.CoreGroup) error {
	w := &p.workers[g.Index()]
	w.use(g.Memory(p.memory())[:p.own()])
	lo, hi := g.Share(p.images.channels)
	if p.Args.DW != nil {
		all, out := tiling.From(g.Common(p.needs().Common), p.sumsFrom()), p.results.channels
		for input := lo; input < hi; input++ {
			sums := p.partial().Collect(all, input*p.sums.ld, p.sums.points*p.sums.plane)
			for first := 0; first < out; first += sliceLanes {
				p.collect(w, sums[first:], input, first, min(sliceLanes, out-first))
			}
		}
	}
	if db := p.Args.DB; db != nil && lo == 0 && hi > 0 {
		for i := range p.chunks {
			sums := p.chunk(g, i)
			vec.Add(db, db, p.biasSums(&sums))
		}
	}
	return nil
}

// collect stores the kernels of an input channel and a slice of output channels, or adds them.
func (p *smallCollect) collect(w *worker, sums []float32, input, first, lanes int) {
	form := p.grid.form
	taps, all := form.Taps(), p.images.channels*form.Taps()
	kernels := w.pixels[:2*taps*sliceLanes]
	transposed := kernels[taps*sliceLanes:]
	w.strides = vwinograd.Strides{
		SrcRow: form.Edge() * p.sums.plane, SrcCol: p.sums.plane,
		DstRow: form.Kernel * sliceLanes, DstCol: sliceLanes,
	}
	vwinograd.Apply(form, vwinograd.WeightsGrad, kernels, sums, 0, &w.strides, 1, nil, w.scratch)
	vec.Transpose(transposed, kernels, taps, sliceLanes, taps, sliceLanes)
	for i := range lanes {
		dw := p.Args.DW[(first+i)*all+input*taps:][:taps]
		if p.Args.Add {
			vec.Add(dw, dw, transposed[i*taps:])
		} else {
			copy(dw, transposed[i*taps:])
		}
	}
}

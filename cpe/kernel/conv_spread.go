package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// spreads reports whether a native machine's implicit strategy computes the input gradient of a shape so: see spreadConv.
func (s *ConvShape) spreads() bool { return s.inPlace() && s.unitStride() && s.fewResults() }

// spreadConv is the input gradient of the implicit strategy on a native machine where pixels are few, strides being 1:
//
//	R (C*offsets x positions) = W' (C*offsets x Out) * dY (Out x positions)
//
// of which each row is added to the gradient of a channel at the shift of its offset. Weights are read where they lie. Of dY there is a copy
// whose lines are as far apart as those of an image with its padding, with zeros between them, so that a row is added in one piece. Core
// groups share the channels of all images.
type spreadConv struct {
	conv       *Conv
	band       paddedBand // a whole image
	outH, outW int
	shifts     []int
	n          int // values of a row: whole vectors
	workers    []spreadWorker
}

// spreadWorker is what a core group needs to itself.
type spreadWorker struct {
	weights operand
	edge    []float32
}

func newSpreadConv(c *Conv) *spreadConv {
	s, spec := &c.shape, c.machine.Spec()
	v := &spreadConv{conv: c, workers: make([]spreadWorker, spec.CoreGroups)}
	v.outH, v.outW = two(s.OutSize(), 1)
	v.band = newPaddedBand(*s, v.outH)
	v.shifts = v.band.shifts()[:size(s.Kernel)]
	v.n = blocks(v.outH*v.band.width, BlockLanes) * BlockLanes
	mr, _ := simd.Micro()
	for i := range v.workers {
		v.workers[i].edge = make([]float32, mr*s.Out)
	}
	c.takes(InputGradient, cpe.Scratch{Group: v.memory()})
	return v
}

// results is the number of values of the copy of dY of an image, rows that of the rows of a channel, padded that of its plane with padding,
// as far as rows reach, and memory that of all that a core group works on.
func (v *spreadConv) results() int { return v.conv.shape.Out*v.n + BlockLanes }
func (v *spreadConv) rows() int    { return len(v.shifts) * v.n }
func (v *spreadConv) padded() int  { return v.shifts[len(v.shifts)-1] + v.n }
func (v *spreadConv) memory() int  { return v.results() + v.rows() + v.padded() }

// Name names the direction.
func (v *spreadConv) Name() string { return "convolution " + InputGradient.String() }

// RunGroup makes a core group's share of the channels.
func (v *spreadConv) RunGroup(g *cpe.CoreGroup) error {
	s, args := &v.conv.shape, &v.conv.args
	memory := g.Memory(v.memory())
	results, rows, padded := memory[:v.results()], memory[v.results():][:v.rows()], memory[v.results()+v.rows():]
	clear(results)
	w := &v.workers[g.Index()]
	w.weights.set(cpe.Plain(args.w, s.depth()), true)
	lo, hi := g.Share(s.N * s.C)
	for i := lo; i < hi; i++ {
		if i == lo || i%s.C == 0 {
			v.copy(results, args.y[i/s.C*s.Out*v.outH*v.outW:])
		}
		v.multiply(w, rows, results, i%s.C)
		v.add(args.x[i*v.band.h*v.band.w:][:v.band.h*v.band.w], rows, padded)
	}
	return nil
}

// copy copies the results' gradient of an image.
func (v *spreadConv) copy(results, y []float32) {
	for o := range v.conv.shape.Out {
		simd.CopyRows(results[o*v.n:], v.band.width, y[o*v.outH*v.outW:], v.outW, v.outH, v.outW)
	}
}

// multiply makes the rows of a channel.
func (v *spreadConv) multiply(w *spreadWorker, rows, results []float32, channel int) {
	_, nr := simd.Micro()
	deep, first := v.conv.shape.Out, channel*len(v.shifts)
	for i, m := 0, 0; i < len(v.shifts); i += m {
		m = w.weights.together(first+i, len(v.shifts)-i, deep)
		left, down, along := w.weights.rows(w.edge, first+i, m, 0, deep)
		for col := 0; col < v.n; col += nr {
			simd.StridedPanel(m, min(nr, v.n-col), deep, left, down, along, results[col:], v.n, rows[i*v.n+col:], v.n, false, nil)
		}
	}
}

// add adds up the rows of a channel, on its plane with padding.
func (v *spreadConv) add(plane, rows, padded []float32) {
	clear(padded)
	for k, shift := range v.shifts {
		at := padded[shift:][:v.n]
		simd.Add(at, at, rows[k*v.n:])
	}
	b := &v.band
	simd.CopyRows(plane, b.w, padded[b.padH*b.width+b.padW:], b.width, b.h, b.w)
}

package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// Spread is the algorithm implicit-spread.
var Spread = conv.Algorithm{
	Name: "implicit-spread", Doc: "GEMM for all kernel offsets, then adds the shifted products (col2im), for few pixels", Family: shape.Implicit,
	Directions: []shape.Direction{shape.InputGradient},
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), conv.InPlanes(p), op.Unless(spreads(&p.Shape), "it computes only results of at most %d pixels, one group, strides and dilations of 1, and few weights", conv.FewPixels))
	},
	Cost:    func(p *conv.Problem) float64 { return spreadWork(&p.Shape) },
	Kernel:  conv.Staged(newSpreadConv),
	Special: true,
}

// spreads reports whether the host computes the input gradient of a shape by spreadConv.
func spreads(s *shape.Conv) bool { return conv.InPlace(s) && s.UnitStride() && conv.FewResults(s) }

// spreadConv is the host's input gradient for few pixels and strides of 1. It multiplies first and shifts afterwards:
//
//	R (C*offsets x positions) = W' (C*offsets x Out) * dY (Out x positions)
//
// Each row of R is added to the gradient of its channel, shifted by its kernel offset (col2im). Weights are read in place. dY is copied to
// lines as far apart as those of a padded image, with zeros between them. There are zeros between the rows of R too, so that the shifted rows
// can be summed over a whole plane at once. Core groups share the channels of all images.
type spreadConv struct {
	*conv.Task
	spreadPlan
	workers []spreadWorker
}

// spreadPlan is the memory layout of spreadConv.
type spreadPlan struct {
	band       tensor.Band // layout of a whole image
	outH, outW int
	n, ld      int   // values in a row of R, in whole vectors; distance of rows, with the zeros between them
	places     []int // for each row of R, the index of its value for the first pixel
}

// planSpread computes the layout for a shape.
func planSpread(s *shape.Conv) spreadPlan {
	v := spreadPlan{}
	v.outH, v.outW = tiling.Two(s.OutSize(), 1)
	v.band = tensor.NewBand(*s, shape.Planes, v.outH)
	v.n = tiling.Blocks(v.outH*v.band.Width, shape.BlockLanes) * shape.BlockLanes
	shifts := v.band.Shifts()[:tiling.Size(s.Kernel)]
	zeros := cpe.WholeLines(shifts[len(shifts)-1])
	v.ld = zeros + v.n
	for i, shift := range shifts {
		v.places = append(v.places, zeros+i*v.ld-shift+v.band.PadH*v.band.Width+v.band.PadW)
	}
	return v
}

// String describes the plan.
func (v spreadPlan) String() string {
	return fmt.Sprintf("%d shifted rows of %d values for each channel", len(v.places), v.n)
}

// spreadWorker is the state of one core group.
type spreadWorker struct {
	weights gemm.Operand
	edge    []float32
}

func newSpreadConv(t *conv.Task) error {
	s := &t.Shape
	v := &spreadConv{Task: t, spreadPlan: planSpread(s), workers: make([]spreadWorker, t.Spec.CoreGroups)}
	mr, _ := vgemm.Tile()
	for i := range v.workers {
		v.workers[i].edge = pages.Make[float32](mr * s.Out)
	}
	t.Reserved = cpe.Scratch{Group: v.memory()}
	t.Plan, t.Stages = v.spreadPlan, conv.Stages(v)
	return nil
}

// results is the number of values of the copy of an image's dY, rows that of one channel's rows of R with the zeros around them, and padded
// that of a plane with lines as far apart as with padding. memory is their sum.
func (v *spreadConv) results() int { return v.Shape.Out*v.n + shape.BlockLanes }
func (v *spreadConv) rows() int    { return (len(v.places)+1)*v.ld - v.n }
func (v *spreadConv) padded() int  { return (v.band.H-1)*v.band.Width + v.band.W }
func (v *spreadConv) memory() int  { return v.results() + v.rows() + v.padded() }

// Name returns "convolution" and the direction.
func (v *spreadConv) Name() string { return "convolution " + shape.InputGradient.String() }

// RunGroup computes a core group's share of the channels of all images.
func (v *spreadConv) RunGroup(g *cpe.CoreGroup) error {
	s, args := &v.Shape, v.Args
	memory := g.Memory(v.memory())
	results, rows, padded := memory[:v.results()], memory[v.results():][:v.rows()], memory[v.results()+v.rows():]
	clear(results)
	clear(rows)
	w := &v.workers[g.Index()]
	w.weights.Set(cpe.Plain(args.W, s.Depth()), true)
	lo, hi := g.Share(s.N * s.C)
	for i := lo; i < hi; i++ {
		if i == lo || i%s.C == 0 {
			v.copy(results, args.DY[i/s.C*s.Out*v.outH*v.outW:])
		}
		v.multiply(w, rows, results, i%s.C)
		v.add(args.DX[i*v.band.H*v.band.W:][:v.band.H*v.band.W], rows, padded)
	}
	return nil
}

// copy copies dY of one image.
func (v *spreadConv) copy(results, y []float32) {
	for o := range v.Shape.Out {
		tensor.Plane{Data: y[o*v.outH*v.outW:], H: v.outH, W: v.outW}.Pad(results[o*v.n:], v.band.Width, 0, 0, v.outH)
	}
}

// multiply computes the rows of R of one channel.
func (v *spreadConv) multiply(w *spreadWorker, rows, results []float32, channel int) {
	_, nr := vgemm.Tile()
	deep, first, to := v.Shape.Out, channel*len(v.places), rows[v.ld-v.n:]
	for i, m := 0, 0; i < len(v.places); i += m {
		m = w.weights.AtOnce(first+i, len(v.places)-i, deep)
		left, down, along := w.weights.Strided(w.edge, first+i, m, 0, deep)
		for col := 0; col < v.n; col += nr {
			vgemm.StridedPanel(m, min(nr, v.n-col), deep, left, down, along, results[col:], v.n, to[i*v.ld+col:], v.ld, false)
		}
	}
}

// add adds up the shifted rows of one channel.
func (v *spreadConv) add(plane, rows, padded []float32) {
	b := &v.band
	if b.Direct() {
		vec.SumShifted(plane, rows, v.places)
		return
	}
	vec.SumShifted(padded, rows, v.places)
	vec.CopyRows(plane, b.W, padded, b.Width, b.H, b.W)
}

// spreadValue is the cost of adding one product to the input gradient (col2im), in the same unit.
const spreadValue = 50

// spreadWork is the work of spreadConv.
func spreadWork(s *shape.Conv) float64 {
	lines, _ := tiling.Two(s.OutSize(), 1)
	_, width := tiling.Two(s.In, 1)
	_, pad := tiling.Two(s.Pad, 0)
	return float64(s.N*lines*(width+2*pad)*s.Depth()) * (2*float64(s.Out) + spreadValue)
}

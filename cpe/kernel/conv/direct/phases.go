package direct

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// Phases is the algorithm implicit-phases.
var Phases = conv.Algorithm{
	Name: "implicit-phases", Doc: "the input gradient of strided convolutions, by the remainders of pixel coordinates modulo the strides", Family: shape.Implicit,
	Directions: []shape.Direction{shape.InputGradient},
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), conv.InPlanes(p), op.Unless(conv.HasPhases(&p.Shape), "it computes only kernels larger than 1x1 over one or two axes, with strides that are no longer than the image"))
	},
	Cost:   func(p *conv.Problem) float64 { return phasedWork(&p.Shape) },
	Kernel: conv.Staged(newPhasedConv),
}

// phasedConv is the host's input gradient of strided convolutions. A pixel of the gradient receives only the kernel offsets with its
// remainder modulo the stride: its phase. The pixels of one phase are therefore a unit-stride convolution of DY with a part of the kernel:
//
//	dX[phase] (C x places) = sum over the phase's offsets of W[offset]' (C x Out) * dY, shifted (Out x places)
//
// There is no column matrix, and zeros between results are not multiplied. DY is copied with zeros around it, lines one behind another. At
// any shift the places of all lines are then contiguous, and products read them in place. Weights are packed once. A core group computes a
// block of channels of a band of places, or of a few whole images, in all phases. It then interleaves the phases into the lines of the
// gradient.
type phasedConv struct {
	*conv.Task
	phasedPlan
}

func newPhasedConv(t *conv.Task) error {
	spec := t.Machine.Spec()
	v := &phasedConv{t, planPhases(&t.Shape, &spec)}
	t.Reserved = cpe.Scratch{Common: t.Shape.Group * tiling.Blocks(v.in, v.block) * v.packed, Group: max(v.memory(), v.unpacked)}
	t.Plan, t.Stages = v.phasedPlan, conv.Stages(phaseWeights{v}, v)
	return nil
}

// source is the number of values of the copy, memory that of the copy and the results. The zeros behind a line are those ahead of the next;
// the copy ends with the zeros of its last line. Vector loads read a little beyond.
func (v *phasedConv) source() int {
	return v.out*v.ld + max(tensor.Slack, cpe.WholeLines(v.cols.Before)) + tensor.Slack
}
func (v *phasedConv) memory() int {
	return v.source() + v.block*v.rows.Results*v.cols.Results*v.row
}

// Name returns "convolution" and the direction.
func (v *phasedConv) Name() string { return "convolution " + shape.InputGradient.String() }

// phaseUnit is a band of an image, or some whole images, of one group.
type phaseUnit struct{ group, image, images, first, rows int }

func (v *phasedConv) unit(i int) phaseUnit {
	s := &v.Shape
	bands, batches := v.bands(), tiling.Blocks(s.N, v.images)
	u := phaseUnit{group: i / bands / batches, image: i / bands % batches * v.images, first: i % bands * v.band}
	u.images, u.rows = min(v.images, s.N-u.image), min(v.band, v.rows.Units-u.first)
	return u
}

// RunGroup computes a core group's share: blocks of channels of units.
func (v *phasedConv) RunGroup(g *cpe.CoreGroup) error {
	memory, blocks := g.Memory(max(v.memory(), v.unpacked)), tiling.Blocks(v.in, v.block)
	source, results := memory[:v.source()], memory[v.source():]
	weights := g.Common(v.Shape.Group * blocks * v.packed)
	clear(source)
	filled := -1
	lo, hi := g.Share(v.units() * blocks)
	for i := lo; i < hi; i++ {
		u, first := v.unit(i/blocks), i%blocks*v.block
		if i/blocks != filled {
			v.fill(source, u)
			filled = i / blocks
		}
		n := min(v.block, v.in-first)
		v.multiply(results, source, weights[(u.group*blocks+i%blocks)*v.packed:], n, v.places(u.images, u.rows))
		v.spread(results, u, first, n)
	}
	return nil
}

// fill copies the part of DY that a unit reads. The ends of lines are zeros already. The lines below an image may be the zeros above the
// next.
func (v *phasedConv) fill(source []float32, u phaseUnit) {
	h, w, width := v.rows.Source, v.cols.Source, v.width
	lines := v.rows.Lines(u.rows)
	for image := range u.images {
		y := v.Args.DY[((u.image+image)*v.Shape.Group+u.group)*v.out*h*w:]
		for o := range v.out {
			plane := tensor.Plane{Data: y[o*h*w:], H: h, W: w}
			plane.Pad(source[o*v.ld+image*v.lines*width:], width, v.cols.Before, u.first-v.rows.Before, lines)
		}
	}
}

// multiply computes all phases of n channels: rows of places, phase by phase.
func (v *phasedConv) multiply(results, source, weights []float32, n, places int) {
	mr, nr := vgemm.Tile()
	for i := range v.runs {
		r := &v.runs[i]
		products, rows := results[(r.row*v.cols.Results+r.col)*n*v.row:], r.n*n
		if len(r.taps) == 0 {
			clear(products[:rows*v.row])
			continue
		}
		for row := 0; row < rows; row += mr {
			panel := weights[r.at+row*v.out*len(r.taps):]
			for place := 0; place < places; place += nr {
				to := products[row*v.row+place:]
				for k, t := range r.taps {
					vgemm.StridedPanel(min(mr, rows-row), min(nr, places-place), v.out, panel[k*v.out*mr:], 1, mr, source[t.shift+place:], v.ld, to, v.row, k > 0)
				}
			}
		}
	}
}

// spread interleaves the phases of n channels, starting with channel first, into the lines of the gradient.
func (v *phasedConv) spread(results []float32, u phaseUnit, first, n int) {
	h, w := tiling.Two(v.Shape.In, 1)
	tall, wide := v.rows.Results, v.cols.Results
	for i := range u.images * n {
		image, channel := i/n, i%n
		x := v.Args.DX[(((u.image+image)*v.Shape.Group+u.group)*v.in+first+channel)*h*w:]
		for k := range min(u.rows*tall, h-u.first*tall) {
			from := (k%tall*wide*n+channel)*v.row + (image*v.lines+k/tall)*v.width
			vec.Interleave(x[(u.first*tall+k)*w:][:w], results[from:], n*v.row, wide)
		}
	}
}

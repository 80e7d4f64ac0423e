package offsets

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// Planes is the algorithm planes.
var Planes = conv.Algorithm{
	Name: "planes", Doc: "vectors of pixels, from a copy of the image for each kernel column, where output channels would not fill vectors", Family: shape.Implicit,
	Directions: []shape.Direction{shape.Forward},
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), conv.InPlanes(p), fewChannels(p), op.Unless(SuitsPlanes(&p.Shape), "vectors of pixels would waste as many lanes as vectors of %d output channels, or strides are not 1", p.Shape.Out),
			wholeBands(p))
	},
	Cost: func(p *conv.Problem) float64 { return conv.LaneCost(&p.Shape) }, Steps: op.Only[shape.Conv](op.Floor),
	Kernel:  conv.Staged(func(t *conv.Task) error { NewPlanes(t); return nil }),
	Special: true,
}

// PlanesKernel is Kernel with vectors of pixels. It serves results by planes whose few channels would leave lanes of a vector empty; strides
// are 1.
//
//	Y (Out x pixels) = [W bias] (Out x (C*offsets + 1)) * X (C*offsets + 1 x pixels)
//
// For every column of the kernel there is a copy of a band of the image, shifted by that column. The copy's lines are as long as those of the
// results, so that all pixels of a band are contiguous at every kernel offset. Behind the copies stands an image of ones, whose weights are
// the biases.
type PlanesKernel struct {
	*conv.Task
	planesPlan
	workers []planeWorker
	Pool    *pool.Kernel // pools the results, if not nil; a band is then a whole image
}

// planesPlan is the blocking of PlanesKernel.
type planesPlan struct {
	from       tensor.Band // the band of the image
	outH, outW int
	rows       int // result rows in a band
	Bands      int // bands in an image
	plane      int // values in a channel's copy
	shifts     []int
	panel      int // output channels computed together
}

// planPlanes computes the blocking for a shape.
func planPlanes(s *shape.Conv, spec *cpe.Spec) planesPlan {
	v := planesPlan{from: tensor.NewBand(*s, shape.Planes, 1)}
	v.panel, _, _ = vgemm.ScatteredTile()
	v.outH, v.outW = tiling.Two(s.OutSize(), 1)
	b := &v.from
	fit := spec.LDMBytes / planeShare / 4 / (b.Channels * b.KW * v.outW)
	v.rows = tiling.Even(v.outH, max(1, fit-b.KH+1), 1)
	v.Bands = tiling.Blocks(v.outH, v.rows)
	v.plane = b.Lines(v.rows) * v.outW
	for c := range b.Channels {
		for y := range b.KH {
			for x := range b.KW {
				v.shifts = append(v.shifts, (c*b.KW+x)*v.plane+y*v.outW)
			}
		}
	}
	v.shifts = append(v.shifts, b.Channels*b.KW*v.plane)
	return v
}

// String describes the plan.
func (v planesPlan) String() string {
	return fmt.Sprintf("bands of %d of %d result rows, panels of %d output channels", v.rows, v.outH, v.panel)
}

// planeWorker is the state of one core group: the vectors that cover n pixels, grouped as the micro-kernel takes them.
type planeWorker struct {
	n       int
	vectors [][4]vgemm.Vector
}

// wholeBands: shorter bands of images would copy most lines for others as well, and leave lanes of their few pixels empty.
func wholeBands(p *conv.Problem) error {
	v := planPlanes(&p.Shape, p.Spec)
	return op.Unless(v.Bands == 1 || v.rows >= v.from.KH, "copies of %d channels for each kernel column leave room for bands of %d result rows, fewer than the kernel has", p.Shape.C, v.rows)
}

// planeShare is the divisor of L2 for the copies of a band: they may take an eighth.
const planeShare = 8

// SuitsPlanes reports whether vectors of pixels waste fewer lanes than vectors of output channels.
func SuitsPlanes(s *shape.Conv) bool {
	rows, _, lanes := vgemm.ScatteredTile()
	pixels := tiling.Size(s.OutSize())
	return conv.FewChannels(s) && s.UnitStride() &&
		tiling.Blocks(s.Out, rows)*rows*tiling.Blocks(pixels, lanes)*lanes < tiling.Blocks(s.Out, shape.BlockLanes)*shape.BlockLanes*pixels
}

func NewPlanes(t *conv.Task) *PlanesKernel {
	spec := t.Machine.Spec()
	v := &PlanesKernel{Task: t, planesPlan: planPlanes(&t.Shape, &spec), workers: make([]planeWorker, spec.CoreGroups)}
	for i := range v.workers {
		v.workers[i].cut(v.rows * v.outW)
	}
	t.Reserved = cpe.Scratch{Group: v.memory()}
	t.Plan, t.Stages = v.planesPlan, conv.Stages(v)
	return v
}

// cut computes the vectors that cover n pixels.
func (w *planeWorker) cut(n int) {
	_, most, lanes := vgemm.ScatteredTile()
	w.n, w.vectors = n, w.vectors[:0]
	for at := 0; at < n; at += most * lanes {
		var together [4]vgemm.Vector
		for j := range most {
			first := min(n, at+j*lanes)
			together[j] = vgemm.Vector{From: first, To: first, N: min(lanes, n-first)}
		}
		w.vectors = append(w.vectors, together)
	}
}

// panels is the number of panels of output channels. weights, images and results are numbers of values: of the packed weights, of the copies
// of a band, and of the results of a panel. memory is their sum.
func (v *PlanesKernel) panels() int  { return tiling.Blocks(v.Shape.Out, v.panel) }
func (v *PlanesKernel) weights() int { return v.panels() * v.panel * len(v.shifts) }
func (v *PlanesKernel) images() int {
	return v.shifts[len(v.shifts)-1] + v.rows*v.outW + shape.BlockLanes
}
func (v *PlanesKernel) results() int { return v.panel * v.rows * v.outW }
func (v *PlanesKernel) memory() int  { return v.weights() + v.images() + v.results() }

// Name returns "convolution" and the direction.
func (v *PlanesKernel) Name() string { return "convolution " + shape.Forward.String() }

// RunGroup computes a core group's share: panels of bands.
func (v *PlanesKernel) RunGroup(g *cpe.CoreGroup) error {
	memory := g.Memory(v.memory())
	weights, memory := memory[:v.weights()], memory[v.weights():]
	images, results := memory[:v.images()], memory[v.images():]
	panels := v.panels()
	lo, hi := g.Share(v.Shape.N * v.Bands * panels)
	if lo == hi {
		return nil
	}
	ones := v.shifts[len(v.shifts)-1]
	if v.from.PadW > 0 {
		clear(images[:ones])
	}
	vec.Fill(images[ones:], 1)
	for i := lo; i < hi; i++ {
		band, p := i/panels, i%panels
		image, row := band/v.Bands, band%v.Bands*v.rows
		rows := min(v.rows, v.outH-row)
		if i == lo || p == 0 {
			v.copy(images, image, row, rows)
		}
		panel := weights[p*v.panel*len(v.shifts):][:v.panel*len(v.shifts)]
		if i < lo+panels {
			v.pack(panel, p)
		}
		if v.Pool != nil {
			v.poolPanel(g, panel, images, results, image, p)
		} else {
			v.makePanel(g, panel, images, results, image, p, row, rows)
		}
	}
	return nil
}

// pack packs the weights of a panel, followed by the biases.
func (v *PlanesKernel) pack(weights []float32, p int) {
	args, first, depth := v.Args, p*v.panel, len(v.shifts)-1
	n := min(v.panel, v.Shape.Out-first)
	vgemm.PackA(weights, args.W[first*depth:], depth, n, depth, v.panel)
	biases := weights[depth*v.panel:]
	clear(biases)
	if args.Bias != nil {
		copy(biases, args.Bias[first:first+n])
	}
}

// copy makes the copies for some result rows of an image. The padding at the ends of lines is never written.
func (v *PlanesKernel) copy(images []float32, image, row, rows int) {
	b := &v.from
	for c := range b.Channels {
		plane := tensor.Plane{Data: v.Args.X[(image*b.Channels+c)*b.H*b.W:][:b.H*b.W], H: b.H, W: b.W}
		for k := range b.KW {
			plane.Pad(images[(c*b.KW+k)*v.plane:], v.outW, b.PadW-k, row-b.PadH, b.Lines(rows))
		}
	}
}

// makePanel computes a panel of output channels of a band. A panel that is not full is computed in scratch memory and copied.
func (v *PlanesKernel) makePanel(g *cpe.CoreGroup, weights, images, results []float32, image, p, row, rows int) {
	out, plane, n := v.Shape.Out, v.outH*v.outW, rows*v.outW
	left := min(v.panel, out-p*v.panel)
	y := v.Args.Y[(image*out+p*v.panel)*plane+row*v.outW:]
	to, ld := y, plane
	if left < v.panel {
		to, ld = results, n
	}
	v.multiply(g, weights, images, to, ld, n)
	for i := range left {
		line := to[i*ld:][:n]
		if v.Args.Floor {
			vec.ReLU(line, line, 0)
		}
		if left < v.panel {
			copy(y[i*plane:], line)
		}
	}
}

// multiply computes n values of each output channel of a panel; channels are ld values apart.
func (v *PlanesKernel) multiply(g *cpe.CoreGroup, weights, images, to []float32, ld, n int) {
	w := &v.workers[g.Index()]
	_, most, lanes := vgemm.ScatteredTile()
	if n != w.n {
		w.cut(n)
	}
	for i := range w.vectors {
		many := min(most, tiling.Blocks(n-i*most*lanes, lanes))
		vgemm.ScatteredKernel(weights, images, v.shifts, to, ld, &w.vectors[i], many, false)
	}
}

// poolPanel computes a panel of output channels of an image and pools them.
func (v *PlanesKernel) poolPanel(g *cpe.CoreGroup, weights, images, results []float32, image, p int) {
	s := v.Pool.Shape()
	in, out := s.H*s.W, s.OH*s.OW
	v.multiply(g, weights, images, results, in, in)
	for i := range min(v.panel, s.C-p*v.panel) {
		n := image*s.C + p*v.panel + i
		v.Pool.MaxPlane(g, n, v.Args.Y[n*out:(n+1)*out], results[i*in:(i+1)*in])
	}
}

package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// shiftedConv is the implicit strategy of a native machine, forward and for the input gradient: images are copied once into
// slabs that fit L2, in which a kernel offset is a shift, and the micro-kernel reads its second operand from there. So
// no column matrix is made, in memory or in panels; what is packed is the weights alone.
//
// The input gradient is the convolution of the output's gradient with flipped weights (strides being 1).
type shiftedConv struct {
	conv      *Conv
	direction Direction
	slab      slab
	in, out   int // channels of a group that are read and made
	images    int // channels of all groups that are read
	shifts    []int
	depth     int           // shifts that are multiplied at once: a panel of weights then stays in L1 while positions pass
	vectors   []simd.Vector // of a full band
	rows      int           // of a panel
	panels    int           // of a group
	bands     int
	weights   []float32 // panels of all groups
	each      int       // values of the panels of one group
	workers   []shiftedWorker
	pack      packWeights
}

// shiftedWorker is what a core group needs to itself.
type shiftedWorker struct {
	vectors [4]simd.Vector
	spill   []float32
}

// slabBytes is how much of a native core's LDM, its L2 cache, a slab may take. The rest is for panels.
func slabBytes(spec *cpe.Spec) int { return spec.LDMBytes / 2 }

// leastUnits is how many units of work there should be, so that a few images still keep several cores busy.
const leastUnits = 8

func newShiftedConv(c *Conv, d Direction) *shiftedConv {
	s := c.shape
	v := &shiftedConv{conv: c, direction: d}
	if d == InputGradient {
		s = s.mirrored()
	}
	v.in, v.out, v.images = s.C/s.Group, s.Out/s.Group, s.C
	spec := c.machine.Spec()
	whole := newSlab(s, 1)
	line := 4 * v.in * whole.strideH * whole.strideW * whole.width
	fit := max(1, slabBytes(&spec)/line-(whole.lines-1))
	v.slab = newSlab(s, even(whole.outH, min(fit, blocks(whole.outH*s.N, leastUnits)), 1))
	v.bands = blocks(v.slab.outH, v.slab.band)
	v.shifts = v.slab.shifts()
	rows, vectors, lanes := simd.Scattered()
	v.rows, v.panels = rows, blocks(v.out, rows)
	v.depth = even(len(v.shifts), max(64, spec.L1Bytes/2/4/rows), 1)
	v.vectors = v.slab.vectors(v.slab.band, lanes)
	v.each = v.panels * rows * len(v.shifts)
	v.weights = make([]float32, s.Group*v.each)
	v.workers = make([]shiftedWorker, spec.CoreGroups)
	for i := range v.workers {
		v.workers[i].spill = make([]float32, rows*vectors*lanes)
	}
	v.pack.conv = v
	c.machine.Reserve(0, v.slab.size())
	return v
}

// Name returns "convolution" and the direction.
func (v *shiftedConv) Name() string { return "convolution " + v.direction.String() }

// RunGroup does a core group's share of the bands of all images.
func (v *shiftedConv) RunGroup(g *cpe.CoreGroup) error {
	w, s := &v.workers[g.Index()], &v.conv.shape
	memory := g.Memory(v.slab.size())
	x, y := v.conv.args.x, v.conv.args.y
	if v.direction == InputGradient {
		x, y = y, x
	}
	area, positions := v.slab.h*v.slab.w, v.slab.outH*v.slab.outW
	lo, hi := g.Share(s.N * v.bands)
	clear(memory)
	for unit := lo; unit < hi; unit++ {
		image, row := unit/v.bands, unit%v.bands*v.slab.band
		rows := min(v.slab.band, v.slab.outH-row)
		for group := range s.Group {
			v.slab.fill(memory, x[(image*v.images+group*v.in)*area:], row, rows)
			out := (image*s.Group + group) * v.out
			v.band(w, memory, y[out*positions+row*v.slab.outW:(out+v.out)*positions], group, rows)
		}
	}
	return nil
}

// band works out rows of outputs of a group from its slab.
func (v *shiftedConv) band(w *shiftedWorker, memory, y []float32, group, rows int) {
	positions, k := v.slab.outH*v.slab.outW, len(v.shifts)
	vectors := v.vectors[:len(v.vectors)/v.slab.band*rows]
	_, most, _ := simd.Scattered()
	for k0 := 0; k0 < k; k0 += v.depth {
		k1 := min(k, k0+v.depth)
		for panel := range v.panels {
			weights := v.weights[group*v.each+panel*k*v.rows:][k0*v.rows : k1*v.rows]
			for i := 0; i < len(vectors); i += most {
				v.tile(w, weights, memory, y, panel, vectors[i:min(i+most, len(vectors))], k0, k1)
			}
		}
	}
	if bias := v.conv.args.bias; bias != nil {
		for o, value := range bias[group*v.out : (group+1)*v.out] {
			line := y[o*positions:][:rows*v.slab.outW]
			simd.AddScalar(line, line, value)
		}
	}
}

// tile adds the product of shifts [k0, k1) to one panel of rows at some vectors of positions.
func (v *shiftedConv) tile(w *shiftedWorker, weights, memory, y []float32, panel int, vectors []simd.Vector, k0, k1 int) {
	n := copy(w.vectors[:], vectors)
	row, ld := panel*v.rows, v.slab.outH*v.slab.outW
	if row+v.rows <= v.out {
		simd.ScatteredKernel(weights, memory, v.shifts[k0:k1], y[row*ld:], ld, &w.vectors, n, k0 > 0)
		return
	}
	_, most, lanes := simd.Scattered()
	for j := range n {
		w.vectors[j].To = j * lanes
	}
	simd.ScatteredKernel(weights, memory, v.shifts[k0:k1], w.spill, most*lanes, &w.vectors, n, false)
	for r := row; r < v.out; r++ {
		for j, vector := range vectors {
			to, from := y[r*ld+vector.To:][:vector.N], w.spill[((r-row)*most+j)*lanes:]
			if k0 > 0 {
				simd.Add(to, to, from)
			} else {
				copy(to, from)
			}
		}
	}
}

// packWeights is the stage before: it packs the weights into panels.
type packWeights struct{ conv *shiftedConv }

// Name names the stage.
func (p *packWeights) Name() string { return p.conv.Name() + ", packing weights" }

// RunGroup packs a core group's share of the panels.
func (p *packWeights) RunGroup(g *cpe.CoreGroup) error {
	v := p.conv
	lo, hi := g.Share(v.conv.shape.Group * v.panels)
	k := len(v.shifts)
	for i := lo; i < hi; i++ {
		group, row := i/v.panels, i%v.panels*v.rows
		dst, w := v.weights[i*k*v.rows:(i+1)*k*v.rows], v.conv.args.w[group*v.out*k:]
		n := min(v.rows, v.out-row)
		if v.direction == Forward {
			simd.PackA(dst, w[row*k:], k, n, k, v.rows)
			continue
		}
		f := flipped{w, v.out, size(v.conv.shape.Kernel)}
		f.Gather(dst, cpe.Layout{Panel: v.rows, ByRows: true}, row, 0, n, k)
	}
	return nil
}

package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// shiftedConv is the implicit strategy of a native machine, forward and for the input gradient: images are copied once into
// slabs that fit L2, in which a kernel offset is a shift, and the micro-kernel reads its second operand from there. So
// no column matrix is made, in memory or in panels; what is packed is the weights alone.
//
// The input gradient is the convolution of the output's gradient with flipped weights, if strides are 1; that of a pointwise
// convolution with strides is spread over the input.
type shiftedConv struct {
	conv      *Conv
	direction Direction
	slab      slab
	in, out   int // channels of a group that are read and made
	images    int // channels of all groups that are read
	target    target
	shifts    []int
	depth     int           // shifts that are multiplied at once: a panel of weights then stays in L1 while positions pass
	vectors   []simd.Vector // of a full band
	places    []int         // of each lane of the vectors, in the target, where they do not lie side by side
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

// target is where results go: positions strideW apart on lines line values apart, in planes of plane values, rows x line of
// them; an image of all channels has image values.
type target struct{ strideH, strideW, line, rows, plane, image int }

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
	spread := d == InputGradient && c.shape.spreads()
	if !spread {
		s = s.flattened()
	}
	v.in, v.out, v.images = s.C/s.Group, s.Out/s.Group, s.C
	spec := c.machine.Spec()
	rows, vectors, lanes := simd.Scattered()
	whole := newSlab(s, 1, 1)
	images := turns(whole.outW, s.N, lanes)
	line := 4 * v.in * whole.strideH * whole.strideW * whole.width * images
	fit := max(1, slabBytes(&spec)/line-(whole.lines-1))
	v.slab = newSlab(s, even(whole.outH, min(fit, blocks(whole.outH*s.N, leastUnits*images)), 1), images)
	v.bands = blocks(v.slab.outH, v.slab.band)
	v.shifts = v.slab.shifts()
	v.rows, v.panels = rows, blocks(v.out, rows)
	v.depth = even(len(v.shifts), max(64, spec.L1Bytes/2/4/rows), 1)
	v.vectors = v.slab.vectors(v.slab.band, lanes)
	v.target = target{strideH: 1, strideW: 1, line: v.slab.outW, rows: v.slab.outH}
	if t := &v.target; spread {
		t.strideH, t.strideW = two(c.shape.Stride, 1)
		t.rows, t.line = two(c.shape.In, 1)
	}
	v.target.plane = v.target.rows * v.target.line
	v.target.image = s.Out * v.target.plane
	if images > 1 || spread {
		v.findPlaces(lanes)
	}
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
	area, t := v.slab.h*v.slab.w, &v.target
	turns := blocks(s.N, v.slab.images)
	lo, hi := g.Share(turns * v.bands)
	clear(memory)
	for unit := lo; unit < hi; unit++ {
		image, row := unit/v.bands*v.slab.images, unit%v.bands*v.slab.band
		images, rows := min(v.slab.images, s.N-image), min(v.slab.band, v.slab.outH-row)
		for group := range s.Group {
			for i := range images {
				v.slab.fill(memory, x[((image+i)*v.images+group*v.in)*area:], row, rows, i)
			}
			results := y[(image*s.Group+group)*v.out*t.plane+row*t.strideH*t.line:]
			if t.strideH*t.strideW > 1 {
				v.clear(results, images, min(rows*t.strideH, t.rows-row*t.strideH))
			}
			v.band(w, memory, results, group, images, rows)
		}
	}
	return nil
}

// clear sets lines of a group's results to zero, between which results will be spread.
func (v *shiftedConv) clear(y []float32, images, lines int) {
	for i := range images {
		for o := range v.out {
			clear(y[i*v.target.image+o*v.target.plane:][:lines*v.target.line])
		}
	}
}

// findPlaces lists where the lanes of the vectors go, from the first position of their band on.
func (v *shiftedConv) findPlaces(lanes int) {
	t, line := &v.target, v.slab.width*v.slab.images
	for _, vector := range v.vectors {
		for lane := range lanes {
			at := vector.From%line + lane
			place := at%v.slab.images*t.image + vector.From/line*t.strideH*t.line + at/v.slab.images*t.strideW
			v.places = append(v.places, place)
		}
	}
}

// band works out rows of outputs of a group, for the images that take turns in its slab.
func (v *shiftedConv) band(w *shiftedWorker, memory, y []float32, group, images, rows int) {
	k, count := len(v.shifts), len(v.vectors)/v.slab.band*rows
	_, most, _ := simd.Scattered()
	for k0 := 0; k0 < k; k0 += v.depth {
		k1 := min(k, k0+v.depth)
		for panel := range v.panels {
			weights := v.weights[group*v.each+panel*k*v.rows:][k0*v.rows : k1*v.rows]
			for i := 0; i < count; i += most {
				v.tile(w, weights, memory, y, panel, i, min(i+most, count), images, k0, k1)
			}
		}
	}
	if v.conv.args.bias == nil {
		return
	}
	for o, value := range v.conv.args.bias[group*v.out : (group+1)*v.out] {
		for i := range images {
			line := y[i*v.target.image+o*v.target.plane:][:rows*v.slab.outW]
			simd.AddScalar(line, line, value)
		}
	}
}

// tile adds the product of shifts [k0, k1) to one panel of rows at vectors [first, last) of positions.
func (v *shiftedConv) tile(w *shiftedWorker, weights, memory, y []float32, panel, first, last, images, k0, k1 int) {
	n := copy(w.vectors[:], v.vectors[first:last])
	row, ld := panel*v.rows, v.target.plane
	if row+v.rows <= v.out && v.places == nil {
		simd.ScatteredKernel(weights, memory, v.shifts[k0:k1], y[row*ld:], ld, &w.vectors, n, k0 > 0)
		return
	}
	_, most, lanes := simd.Scattered()
	for j := range n {
		w.vectors[j].To, w.vectors[j].N = j*lanes, lanes
	}
	simd.ScatteredKernel(weights, memory, v.shifts[k0:k1], w.spill, most*lanes, &w.vectors, n, false)
	for r := row; r < min(row+v.rows, v.out); r++ {
		for j, vector := range v.vectors[first:last] {
			from := w.spill[((r-row)*most+j)*lanes:][:vector.N]
			if v.places != nil {
				scatter(y[r*ld:], from, v.places[(first+j)*lanes:], images*v.target.image, k0 > 0)
				continue
			}
			to := y[r*ld+vector.To:][:vector.N]
			if k0 > 0 {
				simd.Add(to, to, from)
			} else {
				copy(to, from)
			}
		}
	}
}

// scatter moves the lanes of a vector to their places, if these lie below end: beyond are images that there are not.
func scatter(y, lanes []float32, places []int, end int, add bool) {
	for i, value := range lanes {
		at := places[i]
		switch {
		case at >= end:
		case add:
			y[at] += value
		default:
			y[at] = value
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

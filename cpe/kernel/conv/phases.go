package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// phasedConv is the input gradient of a convolution with strides on a native machine. A pixel of the gradient sees the kernel offsets of its
// phase only, that is of the remainders of its place by the strides; so the pixels of a phase are a convolution of the results' gradient without
// strides, with a part of the kernel:
//
//	dX[phase] (C x places) = sum over the phase's offsets of W[offset]' (C x Out) * dY, shifted (Out x places)
//
// No column matrix is made, and no zero between results is multiplied. Of dY there is a copy with zeros around it, whose lines stand one behind
// another, so that places of all lines follow each other at any shift and products read it where it lies. Weights are packed once. A core group
// takes channels of a band of places, or of a few images, through all phases, and puts these side by side in the lines of the gradient.
type phasedConv struct {
	*task
	rows, cols tapAxis
	runs       []phaseRun
	in, out    int // channels of a group that are made and read
	images     int // that are worked on together, if bands are whole
	band       int // rows of places that are
	width      int // values from a line of the copy to the next
	lines      int // lines from an image of it to the next
	ld, row    int // values from one channel to the next, of the copy and of what is made
	block      int // channels that are made together
	packed     int // values of the weights of a block
	unpacked   int // of an output's weights
}

// phaseRun are phases of one line whose columns follow each other and that meet the same places: rows of one product.
type phaseRun struct {
	row, col, n int
	taps        []phaseTap
	at          int // of its packed weights in those of a block
}

// phaseTap is a shift, and the kernel offset of each phase that is met there.
type phaseTap struct {
	shift   int
	offsets []int
}

// phased reports whether a native machine's implicit strategy computes the input gradient of a shape so.
func phased(s *shape.Conv) bool {
	return len(s.In) <= 2 && !s.UnitStride() && s.StepsInside() && !thinnable(*s) && !depthwise(s)
}

const (
	// phasePlaces is how many places of a band are enough: weights pass L1 once for them.
	phasePlaces = 1024
	// phaseUnits is how many units of work a core group should have at least.
	phaseUnits = 4
)

func newPhasedConv(t *task) error {
	s, spec := &t.Shape, t.machine.Spec()
	v := &phasedConv{task: t, in: s.C / s.Group, out: s.Out / s.Group}
	v.rows, v.cols = tapAxes(s, shape.InputGradient)
	v.width, v.lines = v.cols.pitch(), v.rows.pitch()
	v.runs = phaseRuns(&v.rows, &v.cols, s.Kernel)
	mr, nr := vgemm.Tile()
	quarter, phases := spec.LDMBytes/4/4, v.rows.results*v.cols.results
	whole := v.lines * v.width
	most := min(phasePlaces, quarter/v.out, quarter/phases/mr, s.N*s.Group*whole/phaseUnits/spec.CoreGroups)
	most = max(most, 2*nr)
	v.band = tiling.Even(v.rows.units, max(1, most/v.width-v.rows.reach), 1)
	if v.images = 1; v.bands() == 1 {
		v.images = tiling.Even(s.N, max(1, most/whole), 1)
	}
	v.ld, v.row = apart(((v.images-1)*v.lines+v.rows.lines(v.band))*v.width), apart(v.places(v.images, v.band))
	fit := max(1, quarter/phases/v.row/mr)
	if few := tiling.Blocks(phaseUnits*spec.CoreGroups, v.units()); few > 1 {
		fit = min(fit, tiling.Blocks(tiling.Blocks(v.in, few), mr))
	}
	v.block = min(v.in, tiling.Even(v.in, fit*mr, mr))
	v.packWeights()
	t.takes(cpe.Scratch{Common: s.Group * tiling.Blocks(v.in, v.block) * v.packed, Group: max(v.memory(), v.unpacked)})
	t.stages = []stage{{phaseWeights{v}, 0}, {v, 0}}
	return nil
}

// apart is a distance of rows of n values that do not fall on each other in a cache: an odd number of lines.
func apart(n int) int {
	return cpe.WholeLines(n)/shape.BlockLanes/2*2*shape.BlockLanes + shape.BlockLanes
}

// pitch is how far lines of the source, or images of such, stand one from another at least if zeros between them are those of either.
func (a *tapAxis) pitch() int { return a.source + max(a.before, a.extent-a.before-a.source) }

// phaseRuns returns the products of all phases.
func phaseRuns(rows, cols *tapAxis, kernel []int) []phaseRun {
	var runs []phaseRun
	_, kw := tiling.Two(kernel, 1)
	for row, down := range rows.phases {
		for col := 0; col < len(cols.phases); {
			r, along := phaseRun{row: row, col: col, n: 1}, cols.phases[col]
			for col+r.n < len(cols.phases) && sameShifts(along, cols.phases[col+r.n]) {
				r.n++
			}
			for _, y := range down {
				for i, x := range along {
					t := phaseTap{shift: y.shift*cols.pitch() + x.shift}
					for k := range r.n {
						t.offsets = append(t.offsets, y.tap*kw+cols.phases[col+k][i].tap)
					}
					r.taps = append(r.taps, t)
				}
			}
			runs = append(runs, r)
			col += r.n
		}
	}
	return runs
}

// sameShifts reports whether two phases of an axis meet the same places.
func sameShifts(a, b []axisTap) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].shift != b[i].shift {
			return false
		}
	}
	return true
}

// bands is the number of bands of an image, units that of bands of images and groups, and places that of some rows of the copies of some images.
func (v *phasedConv) bands() int { return tiling.Blocks(v.rows.units, v.band) }
func (v *phasedConv) units() int {
	return v.Shape.Group * tiling.Blocks(v.Shape.N, v.images) * v.bands()
}
func (v *phasedConv) places(images, rows int) int {
	return ((images-1)*v.lines+rows-1)*v.width + v.cols.units
}

// source and memory are the numbers of values of the copy, and of it and what is made. The zeros behind a line are those ahead of the next, and
// the copy ends with those of its last line. Vectors read a little beyond.
func (v *phasedConv) source() int {
	return v.out*v.ld + max(slabSlack, cpe.WholeLines(v.cols.before)) + slabSlack
}
func (v *phasedConv) memory() int {
	return v.source() + v.block*v.rows.results*v.cols.results*v.row
}

// Name names the direction.
func (v *phasedConv) Name() string { return "convolution " + shape.InputGradient.String() }

// phaseUnit is a band of an image, or some images, of a group.
type phaseUnit struct{ group, image, images, first, rows int }

func (v *phasedConv) unit(i int) phaseUnit {
	s := &v.Shape
	bands, batches := v.bands(), tiling.Blocks(s.N, v.images)
	u := phaseUnit{group: i / bands / batches, image: i / bands % batches * v.images, first: i % bands * v.band}
	u.images, u.rows = min(v.images, s.N-u.image), min(v.band, v.rows.units-u.first)
	return u
}

// RunGroup makes a core group's share of the blocks of channels of all units.
func (v *phasedConv) RunGroup(g *cpe.CoreGroup) error {
	memory, made := g.Memory(max(v.memory(), v.unpacked)), tiling.Blocks(v.in, v.block)
	source, results := memory[:v.source()], memory[v.source():]
	weights := g.Common(v.Shape.Group * made * v.packed)
	clear(source)
	filled := -1
	lo, hi := g.Share(v.units() * made)
	for i := lo; i < hi; i++ {
		u, first := v.unit(i/made), i%made*v.block
		if i/made != filled {
			v.fill(source, u)
			filled = i / made
		}
		n := min(v.block, v.in-first)
		v.multiply(results, source, weights[(u.group*made+i%made)*v.packed:], n, v.places(u.images, u.rows))
		v.spread(results, u, first, n)
	}
	return nil
}

// fill copies the results' gradient that a unit reads. The ends of lines are zeros already; below an image may be the zeros above the next.
func (v *phasedConv) fill(source []float32, u phaseUnit) {
	h, w, width := v.rows.source, v.cols.source, v.width
	lines := v.rows.lines(u.rows)
	top, bottom := inside(u.first-v.rows.before, lines, h)
	for image := range u.images {
		y := v.args.DY[((u.image+image)*v.Shape.Group+u.group)*v.out*h*w:]
		for o := range v.out {
			to := source[o*v.ld+image*v.lines*width:][:lines*width]
			clear(to[:top*width])
			if top < bottom {
				vec.CopyRows(to[top*width+v.cols.before:], width, y[(o*h+u.first+top-v.rows.before)*w:], w, bottom-top, w)
			}
			clear(to[bottom*width:])
		}
	}
}

// multiply makes all phases of n channels: rows of places, phase by phase.
func (v *phasedConv) multiply(results, source, weights []float32, n, places int) {
	mr, nr := vgemm.Tile()
	for i := range v.runs {
		r := &v.runs[i]
		made, rows := results[(r.row*v.cols.results+r.col)*n*v.row:], r.n*n
		if len(r.taps) == 0 {
			clear(made[:rows*v.row])
			continue
		}
		for row := 0; row < rows; row += mr {
			panel := weights[r.at+row*v.out*len(r.taps):]
			for place := 0; place < places; place += nr {
				to := made[row*v.row+place:]
				for k, t := range r.taps {
					vgemm.StridedPanel(min(mr, rows-row), min(nr, places-place), v.out, panel[k*v.out*mr:], 1, mr, source[t.shift+place:], v.ld, to, v.row, k > 0)
				}
			}
		}
	}
}

// spread puts the phases of n channels of a unit from one on side by side in the gradient's lines.
func (v *phasedConv) spread(results []float32, u phaseUnit, first, n int) {
	h, w := tiling.Two(v.Shape.In, 1)
	tall, wide := v.rows.results, v.cols.results
	for i := range u.images * n {
		image, channel := i/n, i%n
		x := v.args.DX[(((u.image+image)*v.Shape.Group+u.group)*v.in+first+channel)*h*w:]
		for k := range min(u.rows*tall, h-u.first*tall) {
			from := (k%tall*wide*n+channel)*v.row + (image*v.lines+k/tall)*v.width
			vec.Interleave(x[(u.first*tall+k)*w:][:w], results[from:], n*v.row, wide)
		}
	}
}

package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// Phases is the algorithm implicit-phases.
var Phases = conv.Algorithm{
	Name: "implicit-phases", Doc: "the input gradient of strided convolutions, by the remainders of pixel coordinates modulo the strides", Family: shape.Implicit,
	Directions: []shape.Direction{shape.InputGradient},
	Supports: func(p *conv.Problem) error {
		return conv.FirstReason(conv.OnHost(p), conv.InPlanes(p), conv.Unless(conv.HasPhases(&p.Shape), "it computes only kernels larger than 1x1 over one or two axes, with strides that are no longer than the image"))
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

// phasedPlan is the blocking of phasedConv.
type phasedPlan struct {
	shape      *shape.Conv
	rows, cols tensor.Axis
	runs       []phaseRun
	in, out    int // channels of a group, of the destination and of the source
	images     int // images computed together, if a band is a whole image
	band       int // rows of places computed together
	width      int // distance of the copy's lines, in values
	lines      int // distance of the copy's images, in lines
	ld, row    int // distance of channels in values, of the copy and of the results
	block      int // channels computed together
	packed     int // number of packed weights of a block of channels
	unpacked   int // number of weights of an output channel
}

// phaseRun is a run of phases of one row with consecutive columns and equal shifts. They are computed by one product, each phase being some
// of its rows.
type phaseRun struct {
	row, col, n int
	taps        []phaseTap
	at          int // index of its packed weights among those of a block
}

// phaseTap is a shift, and the kernel offset that each phase of the run uses at this shift.
type phaseTap struct {
	shift   int
	offsets []int
}

const (
	// phasePlaces is a sufficient number of places for a band. The packed weights pass through L1 once per band.
	phasePlaces = 1024
	// phaseUnits is the smallest number of units of work that each core group should have.
	phaseUnits = 4
)

func newPhasedConv(t *conv.Task) error {
	spec := t.Machine.Spec()
	v := &phasedConv{t, planPhases(&t.Shape, &spec)}
	t.Reserved = cpe.Scratch{Common: t.Shape.Group * tiling.Blocks(v.in, v.block) * v.packed, Group: max(v.memory(), v.unpacked)}
	t.Plan, t.Stages = v.phasedPlan, conv.Stages(phaseWeights{v}, v)
	return nil
}

// planPhases computes the blocking for a shape.
func planPhases(s *shape.Conv, spec *cpe.Spec) phasedPlan {
	v := phasedPlan{shape: s, in: s.C / s.Group, out: s.Out / s.Group}
	v.rows, v.cols = tensor.Axes(s, shape.InputGradient)
	v.width, v.lines = v.cols.Pitch(), v.rows.Pitch()
	v.runs = phaseRuns(&v.rows, &v.cols, s.Kernel)
	mr, nr := vgemm.Tile()
	quarter, phases := spec.LDMBytes/4/4, v.rows.Results*v.cols.Results
	whole := v.lines * v.width
	most := min(phasePlaces, quarter/v.out, quarter/phases/mr, s.N*s.Group*whole/phaseUnits/spec.CoreGroups)
	most = max(most, 2*nr)
	v.band = tiling.Even(v.rows.Units, max(1, most/v.width-v.rows.Reach), 1)
	if v.images = 1; v.bands() == 1 {
		v.images = tiling.Even(s.N, max(1, most/whole), 1)
	}
	v.ld, v.row = apart(((v.images-1)*v.lines+v.rows.Lines(v.band))*v.width), apart(v.places(v.images, v.band))
	fit := max(1, quarter/phases/v.row/mr)
	if few := tiling.Blocks(phaseUnits*spec.CoreGroups, v.units()); few > 1 {
		fit = min(fit, tiling.Blocks(tiling.Blocks(v.in, few), mr))
	}
	v.block = min(v.in, tiling.Even(v.in, fit*mr, mr))
	v.packWeights()
	return v
}

// String describes the plan.
func (v phasedPlan) String() string {
	return fmt.Sprintf("%d phases, bands of %d of %d rows of %d images, blocks of %d of %d channels", v.rows.Results*v.cols.Results, v.band, v.rows.Units, v.images, v.block, v.in)
}

// apart returns a distance for rows of n values that do not conflict in a cache: an odd number of cache lines.
func apart(n int) int {
	return cpe.WholeLines(n)/shape.BlockLanes/2*2*shape.BlockLanes + shape.BlockLanes
}

// phaseRuns returns the products of all phases.
func phaseRuns(rows, cols *tensor.Axis, kernel []int) []phaseRun {
	var runs []phaseRun
	_, kw := tiling.Two(kernel, 1)
	for row, down := range rows.Phases {
		for col := 0; col < len(cols.Phases); {
			r, along := phaseRun{row: row, col: col, n: 1}, cols.Phases[col]
			for col+r.n < len(cols.Phases) && sameShifts(along, cols.Phases[col+r.n]) {
				r.n++
			}
			for _, y := range down {
				for i, x := range along {
					t := phaseTap{shift: y.Shift*cols.Pitch() + x.Shift}
					for k := range r.n {
						t.offsets = append(t.offsets, y.Offset*kw+cols.Phases[col+k][i].Offset)
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

// sameShifts reports whether two phases of an axis read the source at the same shifts.
func sameShifts(a, b []tensor.Tap) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Shift != b[i].Shift {
			return false
		}
	}
	return true
}

// bands is the number of bands of an image. units is the number of bands of all images and groups. places is the number of places of the
// given rows of the copies of some images.
func (v *phasedPlan) bands() int { return tiling.Blocks(v.rows.Units, v.band) }
func (v *phasedPlan) units() int {
	return v.shape.Group * tiling.Blocks(v.shape.N, v.images) * v.bands()
}
func (v *phasedPlan) places(images, rows int) int {
	return ((images-1)*v.lines+rows-1)*v.width + v.cols.Units
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
		made, rows := results[(r.row*v.cols.Results+r.col)*n*v.row:], r.n*n
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

// placeWork, packedWork and packingWork are costs of phasedConv beyond its products, in operations of the micro-kernel: for storing a pixel,
// for packing a weight, and for the packing stage as a whole.
const (
	placeWork   = 60
	packedWork  = 120
	packingWork = 1e6
)

// phasedWork is the work of phasedConv: products, packing and interleaving. A full panel of rows costs a twelfth more than its operations; a
// partial panel costs as much as one more row.
func phasedWork(s *shape.Conv) float64 {
	rows, cols := tensor.Axes(s, shape.InputGradient)
	in, out := s.C/s.Group, s.Out/s.Group
	mr, _ := vgemm.Tile()
	places, third := float64(s.N*s.Group*rows.Units*cols.Pitch()), mr/3
	work := 0.0
	for _, r := range phaseRuns(&rows, &cols, s.Kernel) {
		n := r.n * in
		made := float64(tiling.Blocks(n, third)*third) + float64(n/mr*mr)/12
		if n%mr > 0 {
			made++
		}
		work += 2 * made * float64(out*len(r.taps)) * places
	}
	return work + packedWork*float64(s.Out*s.Depth()) + placeWork*float64(s.N*s.C*tiling.Size(s.In)) + packingWork
}

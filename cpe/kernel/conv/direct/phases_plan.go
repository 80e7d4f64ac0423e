package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// phasedPlan is the blocking of phasedConv: numbers that formulas use side by side, and no state.
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
		panels := float64(tiling.Blocks(n, third)*third) + float64(n/mr*mr)/12
		if n%mr > 0 {
			panels++
		}
		work += 2 * panels * float64(out*len(r.taps)) * places
	}
	return work + packedWork*float64(s.Out*s.Depth()) + placeWork*float64(s.N*s.C*tiling.Size(s.In)) + packingWork
}

package vpool

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// Shape is pooling of planes of H x W into planes of OH x OW by windows of K x K, S apart: window (y, x) begins at input
// (y*S-Top, x*S-Left), and no window is outside the plane.
type Shape struct{ H, W, OH, OW, K, S, Top, Left int }

// Planes pools planes of one shape with vectors of columns of windows, and holds the tables for it. It is read-only once made, and valid only at the
// level at which it was made.
type Planes struct {
	shape Shape
	width int // lanes of the vectors for which the tables were made

	columns, inputs  []poolBlock
	maxRows, aveRows []poolRow
	gradRows         []gradRow
	divisors         []float32
	band, gradBand   int // rows of outputs, and of inputs, that are computed before the next columns
}

// bandValues is the largest number of inputs of a band: its lines stay in L1 from one block of columns to the next.
const bandValues = 4 << 10

// Vectors of a block's table, as tools/asm/vpool reads them.
const (
	tableStore  = 0 // lanes that are written
	tableLoad   = 1 // lanes inside the plane, of each load
	tableFirst  = 5 // columns of each tap, those of the first tap not below 0
	tableExtent = 8 // float32 extents of windows along the row
	tableSize   = 9

	gradStore  = 0 // inputs that are written, of a second vector too where windows are 2 apart
	gradLoad   = 2 // lanes that are outputs, of each load
	gradColumn = 5 // columns of inputs, of even and of odd ones where windows are 2 apart
	gradSize   = 7
)

// poolBlock is a vector of columns: of outputs forward, of inputs backward, or of pairs of inputs where windows are 2 apart.
type poolBlock struct {
	to, from int // column of the first value written and of the first read
	table    []int32
}

// poolRow is a row of inputs of a window: its offset in bytes, and a word for the kernel. For maxima that is the index of column 0; for means, in
// the last row of a window, the float32 height of the window.
type poolRow struct{ offset, word int }

// gradRow describes the rows of outputs whose windows contain a row of inputs: the offset of the first in bytes, and their number. index is the
// index of the inputs' column 0.
type gradRow struct{ offset, count, index int }

// NewPlanes prepares pooling. It returns nil for windows that have no kernels at the level.
func NewPlanes(s Shape) *Planes {
	if !hasPlanes(s.K, s.S) || s.OH < 1 || s.OW < 1 {
		return nil
	}
	p := &Planes{shape: s, width: isa.Lanes(), band: max(1, bandValues/(s.S*s.W)), gradBand: max(1, bandValues/s.W)}
	p.makeRows()
	p.makeColumns()
	p.makeGradRows()
	p.makeInputs()
	return p
}

// hasPlanes reports whether windows of k x k, s apart, have all kernels of Planes.
func hasPlanes(k, s int) bool {
	return k < len(have.MaxPlane) && s < len(have.MaxPlane[0]) && have.MaxPlane[k][s] != none && have.AvePlane[k][s] != none &&
		have.MaxPlaneGrad[k][s] != none && have.AvePlaneGrad[k][s] != none
}

// makeRows lists the rows of all windows from top to bottom, each once.
func (p *Planes) makeRows() {
	s := &p.shape
	for y := -s.Top; y < (s.OH-1)*s.S-s.Top+s.K; y++ {
		at := min(max(y, 0), s.H-1)
		p.maxRows = append(p.maxRows, poolRow{4 * at * s.W, at * s.W})
		r := poolRow{offset: 4 * y * s.W, word: int(math.Float32bits(float32(extent(y-s.K+1, s.K, s.H+s.Top))))}
		if y != at {
			r.offset = -1
		}
		p.aveRows = append(p.aveRows, r)
	}
}

// extent is the length of a window along an axis whose padding ends at end.
func extent(from, k, end int) int { return min(from+k, end) - from }

// lanes fills vector i of a table with a value for each lane.
func (b *poolBlock) lanes(i, width int, value func(lane int) int) {
	for lane := range width {
		b.table[i*width+lane] = int32(value(lane))
	}
}

// inside is the mask word of a place: -1 in [0, n), else 0.
func inside(at, n int) int {
	if at >= 0 && at < n {
		return -1
	}
	return 0
}

// makeColumns makes the blocks of columns of outputs.
func (p *Planes) makeColumns() {
	s, width := &p.shape, p.width
	met := min(s.W, (s.OW-1)*s.S-s.Left+s.K)
	for x := 0; x < s.OW; x += width {
		b := poolBlock{to: x, from: x*s.S - s.Left, table: make([]int32, tableSize*width)}
		b.lanes(tableStore, width, func(lane int) int { return inside(x+lane, s.OW) })
		for load := range 4 {
			first := b.from + load
			if s.S == 2 {
				first = b.from + load/2*2 + load%2*width
			}
			b.lanes(tableLoad+load, width, func(lane int) int { return inside(first+lane, met) })
		}
		for tap := range s.K {
			b.lanes(tableFirst+tap, width, func(lane int) int {
				column := b.from + lane*s.S + tap
				if tap == 0 {
					return max(0, column)
				}
				return column
			})
		}
		b.lanes(tableExtent, width, func(lane int) int {
			return int(math.Float32bits(float32(extent(b.from+lane*s.S, s.K, s.W+s.Left))))
		})
		p.columns = append(p.columns, b)
	}
}

// makeGradRows lists, for each row of inputs, the rows of outputs whose windows contain it, and computes the sizes of windows.
func (p *Planes) makeGradRows() {
	s := &p.shape
	for y := range s.H {
		lo, hi := 0, min(s.OH-1, (y+s.Top)/s.S)
		if first := y + s.Top - s.K + 1; first > 0 {
			lo = (first + s.S - 1) / s.S
		}
		p.gradRows = append(p.gradRows, gradRow{4 * lo * s.OW, max(0, hi-lo+1), y * s.W})
	}
	p.divisors = make([]float32, s.OH*s.OW)
	for i := range p.divisors {
		y, x := i/s.OW*s.S-s.Top, i%s.OW*s.S-s.Left
		p.divisors[i] = float32(extent(y, s.K, s.H+s.Top) * extent(x, s.K, s.W+s.Left))
	}
}

// makeInputs makes the blocks of columns of inputs. With padding the first of a pair may be outside.
func (p *Planes) makeInputs() {
	s, width := &p.shape, p.width
	for at := 0; at < s.W+s.Left*(s.S-1); at += width * s.S {
		b := poolBlock{to: at - s.Left*(s.S-1), table: make([]int32, gradSize*width)}
		b.from = (b.to+s.Left)/s.S - (s.K-1)/s.S
		for half := range s.S {
			b.lanes(gradStore+half, width, func(lane int) int { return inside(b.to+half*width+lane, s.W) })
			b.lanes(gradColumn+half, width, func(lane int) int { return b.to + lane*s.S + half })
		}
		for load := range (s.K-1)/s.S + 1 {
			b.lanes(gradLoad+load, width, func(lane int) int { return inside(b.from+load+lane, s.OW) })
		}
		p.inputs = append(p.inputs, b)
	}
}

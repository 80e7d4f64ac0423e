package kernel

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
)

// Array is the shape of a streamed array relative to the stream's Dims.
type Array int

const (
	// Full arrays are outer x mid x inner.
	Full Array = iota
	// Plane arrays are outer x inner: one value for all of mid (labels, maxima).
	Plane
	// Row arrays are mid values: parameters of channels. They are only read.
	Row
)

// Work is what an element costs: additions and multiplications, and the dearer functions.
type Work struct{ Flops, Specials float64 }

// Stream describes a kernel that passes over arrays once, tile by tile.
type Stream struct {
	Name string
	// Dims are the extents outer, mid and inner of the Full arrays.
	Dims [3]int
	// WholeMid: a tile holds all of mid, as softmax over channels needs.
	WholeMid bool
	// Ins and Outs are the shapes of the arrays given to Run. An array that is read and written is in both lists.
	Ins, Outs []Array
	// Scratch is the number of Full arrays of a tile's extent that Op uses besides.
	Scratch int
	// Sums is the number of sums over outer and inner that Op adds up for every index of mid.
	Sums int
	// Cost is charged for every element of a Full array.
	Cost Work
	// Op computes one tile.
	Op func(t *Tile)
}

// StreamPlan says into which boxes a stream is cut: Outer x Mid x Inner extents of a tile, the last ones smaller.
type StreamPlan struct {
	Dims    [3]int
	Tile    [3]int
	LDM     int // bytes a CPE needs
	Counts  [3]int
	OneCore bool // too little work to wake other native cores
}

// hostTile is how many values of an array a native tile has at most: 64 KB, so that a handful of arrays stay in L2.
const hostTile = 16 << 10

// PlanStream cuts a stream for a machine. Whole outers go together while they fit; else mid is cut, then inner, unless
// WholeMid. Nothing depends on the number of native core groups.
func PlanStream(spec *cpe.Spec, native bool, s *Stream) (StreamPlan, error) {
	o, m, i := s.Dims[0], s.Dims[1], s.Dims[2]
	p := StreamPlan{Dims: s.Dims}
	budget := hostTile
	full, plane, row := s.arrays()
	if !native {
		budget = spec.LDMFloats()
		workers := spec.CPEs() * spec.CoreGroups
		fair := (o*m*i + workers - 1) / workers
		budget = min(budget, max(fair*full, minTile*(full+plane+row)))
	} else {
		budget *= max(1, full)
	}
	need := func(t [3]int) int { return full*t[0]*t[1]*t[2] + plane*t[0]*t[2] + row*t[1] }
	t := [3]int{o, m, i}
	t[0] = largest(o, func(n int) bool { return need([3]int{n, m, i}) <= budget })
	if t[0] == 0 && !s.WholeMid {
		t[0] = 1
		t[1] = largest(m, func(n int) bool { return need([3]int{1, n, i}) <= budget })
	}
	if t[0] == 0 || t[1] == 0 {
		t[0] = 1
		if !s.WholeMid {
			t[1] = 1
		}
		t[2] = largest(i, func(n int) bool { return need([3]int{1, t[1], n}) <= budget })
	}
	if t[2] == 0 && i > 0 {
		t[2] = 1
	}
	p.Tile, p.LDM = t, 4*need(t)
	for k := range t {
		if t[k] > 0 {
			p.Counts[k] = (s.Dims[k] + t[k] - 1) / t[k]
		}
	}
	p.OneCore = o*m*i < 2*hostTile
	if !native && p.LDM > spec.LDMBytes {
		return p, &cpe.LDMError{Kernel: s.Name, Asked: p.LDM, Have: spec.LDMBytes}
	}
	return p, nil
}

// minTile is the least number of values worth a transfer: 512 bytes.
const minTile = 128

func (s *Stream) arrays() (full, plane, row int) {
	full = s.Scratch
	for _, list := range [][]Array{s.Ins, s.Outs} {
		for _, a := range list {
			switch a {
			case Full:
				full++
			case Plane:
				plane++
			case Row:
				row++
			}
		}
	}
	return max(full, 1), plane, row
}

// largest returns the largest n <= limit for which fits holds; fits must hold for all smaller n. 0 if none.
func largest(limit int, fits func(int) bool) int {
	lo, hi := 0, limit
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if fits(mid) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// Tiles returns the number of tiles.
func (p StreamPlan) Tiles() int { return p.Counts[0] * p.Counts[1] * p.Counts[2] }

// String prints the plan on a line.
func (p StreamPlan) String() string {
	return fmt.Sprintf("%dx%dx%d in %d tiles of %dx%dx%d, LDM %d bytes",
		p.Dims[0], p.Dims[1], p.Dims[2], p.Tiles(), p.Tile[0], p.Tile[1], p.Tile[2], p.LDM)
}

package mesh

import "github.com/swcaffe/swcaffe/cpe"

// taps is an operand of a product whose depth is cut into taps of per values at unrelated places in memory. A tap is one kernel
// offset or one position of a convolution. Value d of tap t of lane l is data[bases[t] + l*lane + d*deep]; lane or deep is 1.
//
// If span is set, lanes are cut as well, into spans groups of span lanes each. Lane l of tap t then starts at bases[t*spans + l/span]; a
// base of -1 stands for zeros.
type taps struct {
	data       []float32
	bases      []int
	per, lanes int // depth of a tap; number of lanes
	lane, deep int
	byRows     bool // lanes are rows (the left operand)
	span       int
}

// base returns the index of the start of lane l of a tap, -1 for zeros.
func (v *taps) base(tap, l int) int {
	if v.span == 0 {
		return v.bases[tap] + l*v.lane
	}
	base := v.bases[tap*(v.lanes/v.span)+l/v.span]
	if base < 0 {
		return -1
	}
	return base + l%v.span*v.lane
}

// Run returns the length of contiguous runs of memory in a block.
func (v *taps) Run(rows, cols int) int {
	lanes, depth := cols, min(rows, v.per)
	if v.byRows {
		lanes, depth = rows, min(cols, v.per)
	}
	if v.span > 0 {
		lanes = min(lanes, v.span)
	}
	switch {
	case v.deep == 1 && depth == v.lane, v.lane == 1 && lanes == v.deep:
		return lanes * depth
	case v.deep == 1:
		return depth
	}
	return lanes
}

// Gather packs a block.
func (v *taps) Gather(dst []float32, layout cpe.Layout, row, col, rows, cols int) {
	first, lanes, depth, n := col, cols, row, rows
	if layout.ByRows {
		first, lanes, depth, n = row, rows, col, cols
	}
	width := layout.Panel
	for at := 0; at < lanes; at += width {
		panel := dst[at*n : (at+width)*n]
		clear(panel)
		for d := range n {
			tap, deep := (depth+d)/v.per, (depth+d)%v.per*v.deep
			for l := range min(width, lanes-at) {
				if base := v.base(tap, first+at+l); base >= 0 {
					panel[d*width+l] = v.data[base+deep]
				}
			}
		}
	}
}

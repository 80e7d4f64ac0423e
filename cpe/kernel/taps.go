package kernel

import "github.com/swcaffe/swcaffe/cpe"

// taps is an operand of a product whose depth is cut into pieces of per values that lie apart in memory: value d of piece t of
// lane l stands at data[bases[t] + l*lane + d*deep], where lane or deep is 1. The pieces are what a convolution's kernel
// offsets, or its positions, find.
type taps struct {
	data       []float32
	bases      []int
	per, lanes int // values of a piece, lanes in all
	lane, deep int
	byRows     bool // lanes are rows: the left operand
}

// Run is the length of contiguous runs of a block.
func (v *taps) Run(rows, cols int) int {
	lanes, depth := cols, min(rows, v.per)
	if v.byRows {
		lanes, depth = rows, min(cols, v.per)
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
			base := v.bases[(depth+d)/v.per] + (depth+d)%v.per*v.deep + (first+at)*v.lane
			for l := range min(width, lanes-at) {
				panel[d*width+l] = v.data[base+l*v.lane]
			}
		}
	}
}

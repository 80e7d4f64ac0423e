package kernel

import "github.com/swcaffe/swcaffe/cpe"

// taps is an operand of a product whose depth is cut into pieces of per values that lie apart in memory: value d of piece t of
// lane l stands at data[bases[t] + l*lane + d*deep], where lane or deep is 1. The pieces are what a convolution's kernel
// offsets, or its positions, find.
//
// Where span is set lanes lie apart as well, span of them together: bases[t*spans + l/span] is then where those of lane l are, -1
// for zeros, spans being the number of such groups.
type taps struct {
	data       []float32
	bases      []int
	per, lanes int // values of a piece, lanes in all
	lane, deep int
	byRows     bool // lanes are rows: the left operand
	span       int
}

// base is where lane l of a piece begins, -1 if it is zero.
func (v *taps) base(piece, l int) int {
	if v.span == 0 {
		return v.bases[piece] + l*v.lane
	}
	base := v.bases[piece*(v.lanes/v.span)+l/v.span]
	if base < 0 {
		return -1
	}
	return base + l%v.span*v.lane
}

// Run is the length of contiguous runs of a block.
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
			piece, deep := (depth+d)/v.per, (depth+d)%v.per*v.deep
			for l := range min(width, lanes-at) {
				if base := v.base(piece, first+at+l); base >= 0 {
					panel[d*width+l] = v.data[base+deep]
				}
			}
		}
	}
}

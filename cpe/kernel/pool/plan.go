package pool

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Method is the function of a window's values.
type Method int

const (
	// Max takes the largest value; of equal ones the first. NaN is larger than all numbers.
	Max Method = iota
	// Ave takes the mean over the part of the window inside the padded image.
	Ave
	// Stochastic draws a value with a probability proportional to it in training, and takes the mean weighted by the values otherwise (Zeiler
	// and Fergus 2013).
	Stochastic
)

// Shape describes pooling of N x C planes of H x W into planes of OH x OW by windows of KH x KW, SH and SW apart, over planes padded by PH
// and PW. It has the fields of Caffe's PoolingParameter and of a 4-D blob; formulas read better with them side by side.
type Shape struct {
	N, C, H, W     int
	KH, KW, SH, SW int
	PH, PW         int
	OH, OW         int
	Method         Method
	Train          bool
	// ReLU: outputs of Max that are not above 0 become 0 and get no gradient, as if a ReLU layer came before the pooling.
	ReLU bool
	// Packed: only Backward reads the mask, which may then be shorter than the outputs; see Kernel.MaskWords.
	Packed bool
	// InBlocks, OutBlocks: inputs, outputs and their gradients are in blocks of channels (shape.BlockLanes), if Kernel.Blocks allows it.
	InBlocks, OutBlocks bool
}

// Masked reports whether a mask records which input each output took.
func (s *Shape) Masked() bool {
	return s.Method == Max || s.Method == Stochastic && s.Train
}

// Plan is the tile of a plane that one CPE computes: whole rows if they fit LDM, else a strip of one row (swCaffe, section IV-D). A forward
// tile is outputs and the inputs in their windows. A backward tile is inputs and the outputs whose windows they are in. Without DMA a tile is a
// plane.
//
// If LDM cannot hold a window, or the outputs that an input is in, these pass through it in pieces, while the tile's results stay there.
type Plan struct {
	Rows, Cols             int // of outputs, forward
	BackwardRows, BackCols int // of inputs, backward
	Piece, BackPiece       piece
}

// piece is the extent of a part of a tile's inputs forward, of its outputs backward. It is zero if they are not cut.
type piece struct{ rows, cols int }

// of returns the pieces into which a span of rows and one of columns are cut, down and across: at least one.
func (p piece) of(rows, cols tiling.Span) (down, across int) {
	return max(1, tiling.Blocks(rows.N, p.rows)), max(1, tiling.Blocks(cols.N, p.cols))
}

// String prints the plan on a line.
func (p Plan) String() string {
	s := fmt.Sprintf("forward %dx%d outputs, backward %dx%d inputs", p.Rows, p.Cols, p.BackwardRows, p.BackCols)
	if p.Piece != (piece{}) {
		s += fmt.Sprintf(", forward pieces of %dx%d inputs", p.Piece.rows, p.Piece.cols)
	}
	if p.BackPiece != (piece{}) {
		s += fmt.Sprintf(", backward pieces of %dx%d outputs", p.BackPiece.rows, p.BackPiece.cols)
	}
	return s
}

// NewPlan cuts planes so that two tiles fit LDM, for double buffering; of tiles in pieces, two pieces and the results.
func NewPlan(spec *cpe.Spec, s Shape) (Plan, error) {
	p := Plan{Rows: s.OH, Cols: s.OW, BackwardRows: s.H, BackCols: s.W}
	if !spec.HasDMA() {
		return p, nil
	}
	inputs := func(oh, ow int) (rows, cols int) {
		return min(s.H, (oh-1)*s.SH+s.KH), min(s.W, (ow-1)*s.SW+s.KW)
	}
	outputs := func(ih, iw int) (rows, cols int) {
		return min(s.OH, (ih+s.KH-2)/s.SH+1), min(s.OW, (iw+s.KW-2)/s.SW+1)
	}
	const output = 2 // values: with the mask
	state := output
	if s.Method == Stochastic {
		state += runningValues
	}
	var err error
	if p.Rows, p.Cols, p.Piece, err = cut(spec, s.OH, s.OW, inputs, output, state, 1); err != nil {
		return p, err
	}
	p.BackwardRows, p.BackCols, p.BackPiece, err = cut(spec, s.H, s.W, outputs, 1, 1, output)
	return p, err
}

// cut returns the largest tile of h x w results that fits LDM with what far says they are computed of. A result takes own values, and state
// values while pieces pass; each of the others takes other values.
func cut(spec *cpe.Spec, h, w int, far func(rows, cols int) (int, int), own, state, other int) (rows, cols int, p piece, err error) {
	limit := spec.LDMFloats()
	need := func(rows, cols int) int {
		r, c := far(rows, cols)
		return 2 * (own*rows*cols + other*r*c)
	}
	if rows, cols = cutPlane(h, w, limit, need); rows > 0 {
		return rows, cols, p, nil
	}
	rows, cols = cutPlane(h, w, limit/2, func(rows, cols int) int { return state * rows * cols })
	if rows > 0 {
		r, c := far(rows, cols)
		p.rows, p.cols = cutPlane(r, c, limit-state*rows*cols, func(rows, cols int) int { return 2 * other * rows * cols })
	}
	if p.rows == 0 {
		return 0, 0, p, &cpe.LDMError{Kernel: "pooling", Asked: spec.Bytes(need(1, 1)), Have: spec.LDMBytes}
	}
	return rows, cols, p, nil
}

// cutPlane returns the largest tile of a plane of h x w that needs at most limit values, 0 x 0 if there is none.
func cutPlane(h, w, limit int, need func(rows, cols int) int) (rows, cols int) {
	if rows = tiling.Largest(h, func(n int) bool { return need(n, w) <= limit }); rows > 0 {
		return rows, w
	}
	if cols = tiling.Largest(w, func(n int) bool { return need(1, n) <= limit }); cols > 0 {
		return 1, cols
	}
	return 0, 0
}

// pooled is a Shape that prints itself in errors.
type pooled Shape

// String prints the shape.
func (s pooled) String() string {
	return fmt.Sprintf("pooling %dx%dx%dx%d -> %dx%d, window %dx%d stride %dx%d pad %dx%d", s.N, s.C, s.H, s.W, s.OH, s.OW, s.KH, s.KW, s.SH, s.SW, s.PH, s.PW)
}

// Empty is false: all kernels compute empty batches.
func (s Shape) Empty() bool { return false }

// Describe describes a problem of this shape in a line.
func (s Shape) Describe(d shape.Direction, images, results shape.Layout) string {
	return fmt.Sprintf("%v of %v, inputs in %v, outputs in %v", d, pooled(s), images, results)
}

// Check returns an error for a shape that cannot be pooled.
func (s Shape) Check() error {
	err := tiling.Check(pooled(s), tiling.Bound{Name: "N", N: s.N, Least: 0}, tiling.Bound{Name: "C", N: s.C, Least: 0}, tiling.Bound{Name: "H", N: s.H, Least: 1}, tiling.Bound{Name: "W", N: s.W, Least: 1}, tiling.Bound{Name: "KH", N: s.KH, Least: 1}, tiling.Bound{Name: "KW", N: s.KW, Least: 1},
		tiling.Bound{Name: "SH", N: s.SH, Least: 1}, tiling.Bound{Name: "SW", N: s.SW, Least: 1}, tiling.Bound{Name: "PH", N: s.PH, Least: 0}, tiling.Bound{Name: "PW", N: s.PW, Least: 0}, tiling.Bound{Name: "OH", N: s.OH, Least: 1}, tiling.Bound{Name: "OW", N: s.OW, Least: 1})
	if err == nil && (s.PH >= s.KH || s.PW >= s.KW) {
		err = fmt.Errorf("kernel: %v: padding must be smaller than windows", pooled(s))
	}
	return err
}

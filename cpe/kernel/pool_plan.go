package kernel

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// PoolMethod is how a window becomes one value.
type PoolMethod int

const (
	// PoolMax takes the largest value, of equals the first.
	PoolMax PoolMethod = iota
	// PoolAve takes the mean over the window inside the padded image.
	PoolAve
	// PoolStochastic draws a value with probability proportional to it in training, and takes the mean weighted by the
	// values otherwise (Zeiler and Fergus 2013).
	PoolStochastic
)

// PoolShape describes pooling of N x C planes of H x W into planes of OH x OW by windows of KH x KW, SH and SW apart, over
// planes padded by PH and PW.
type PoolShape struct {
	N, C, H, W     int
	KH, KW, SH, SW int
	PH, PW         int
	OH, OW         int
	Method         PoolMethod
	Train          bool
	// ReLU: outputs of PoolMax that are not above 0 become 0 and get no gradient, as if a ReLU layer came before the pooling.
	ReLU bool
	// Packed: nobody but Backward reads the mask, which may then be shorter than outputs are many; see Pool.MaskWords.
	Packed bool
	// InBlocks, OutBlocks: inputs, outputs and their gradients lie in blocks of channels (shape.BlockLanes); for shapes of Pool.Blocks.
	InBlocks, OutBlocks bool
}

// Masked reports whether outputs remember which input they took.
func (s *PoolShape) Masked() bool {
	return s.Method == PoolMax || s.Method == PoolStochastic && s.Train
}

// PoolPlan says which tiles of a plane a CPE takes: bands of whole rows while they fit, else strips of columns of one row
// (swCaffe, section IV-D). Forward tiles are of outputs, with the inputs that their windows meet; backward tiles are of
// inputs, with the outputs whose windows meet them. Natively a tile is a plane.
type PoolPlan struct {
	Rows, Cols             int // of outputs, forward
	BackwardRows, BackCols int // of inputs, backward
}

// String prints the plan on a line.
func (p PoolPlan) String() string {
	return fmt.Sprintf("forward %dx%d outputs, backward %dx%d inputs", p.Rows, p.Cols, p.BackwardRows, p.BackCols)
}

// PlanPool cuts planes so that two tiles, for double buffering, fit LDM.
func PlanPool(spec *cpe.Spec, s PoolShape) (PoolPlan, error) {
	p := PoolPlan{s.OH, s.OW, s.H, s.W}
	if spec.Native() {
		return p, nil
	}
	need := func(ih, iw, oh, ow int) int { return 2 * (ih*iw + 2*oh*ow) }
	forward := func(oh, ow int) int {
		return need(min(s.H, (oh-1)*s.SH+s.KH), min(s.W, (ow-1)*s.SW+s.KW), oh, ow)
	}
	backward := func(ih, iw int) int {
		return need(ih, iw, min(s.OH, (ih+s.KH-2)/s.SH+1), min(s.OW, (iw+s.KW-2)/s.SW+1))
	}
	var err error
	if p.Rows, p.Cols, err = cutPlane(spec, s.OH, s.OW, forward); err != nil {
		return p, err
	}
	p.BackwardRows, p.BackCols, err = cutPlane(spec, s.H, s.W, backward)
	return p, err
}

// cutPlane returns the largest tile of a plane of h x w that fits LDM.
func cutPlane(spec *cpe.Spec, h, w int, need func(rows, cols int) int) (rows, cols int, err error) {
	limit := spec.LDMFloats()
	if rows = tiling.Largest(h, func(n int) bool { return need(n, w) <= limit }); rows > 0 {
		return rows, w, nil
	}
	if cols = tiling.Largest(w, func(n int) bool { return need(1, n) <= limit }); cols > 0 {
		return 1, cols, nil
	}
	return 0, 0, &cpe.LDMError{Kernel: "pooling", Asked: 4 * need(1, 1), Have: spec.LDMBytes}
}

package cpe

// Single says how a CPE computes products in single precision.
type Single int

const (
	// SingleLikeDouble: as fast as double precision.
	SingleLikeDouble Single = iota
	// SingleConverted: operands are converted to double precision in LDM (swCaffe, section IV-A).
	SingleConverted
	// SingleDirect: computed in double-precision lanes; loads cannot broadcast (Fang 2019, table 3.2).
	SingleDirect
)

// PipeSpec describes how one CPE multiplies matrices in LDM (swDNN, section VI-A): a register block of BlockRows x BlockCols of C at a time.
// Without a register block, products run at the CPE's peak.
type PipeSpec struct {
	BlockRows, BlockCols int
	// A run of steps of K takes prologue + (steps-1)*step + epilogue cycles, plus the cycles to synchronise with the next owner of the
	// operands.
	StepCycles, PrologueCycles, EpilogueCycles, SyncCycles float64

	BlockCycles      float64 // for loading and storing a register block of C
	Single           Single
	ConvertCycles    float64 // for converting a value to double precision or back, if SingleConverted
	SingleStepCycles float64 // instead of StepCycles, if SingleDirect
	Fractional       bool    // partial register blocks cost a proportional part
}

// registerBlocks is the number of register blocks for m x n values. Partial ones count as whole, since vectors and unrolled rows are padded,
// unless Fractional.
func (p *PipeSpec) registerBlocks(m, n int) float64 {
	if p.Fractional {
		return float64(m*n) / float64(p.BlockRows*p.BlockCols)
	}
	return float64((m + p.BlockRows - 1) / p.BlockRows * ((n + p.BlockCols - 1) / p.BlockCols))
}

// MultiplyNs returns a CPE's time, in nanoseconds, for a run of k steps of a product of m x n values in LDM. first adds loading and storing
// C.
//
// The product is cut into register blocks; the last ones are padded. Values that arrive over the buses stay in registers, so that every
// register block has its own run of steps (swDNN, section VI-A).
func (s *Spec) MultiplyNs(m, n, k int, first bool) float64 {
	return s.multiplyNs(m, n, k, first, s.Pipe.Single == SingleDirect)
}

func (s *Spec) multiplyNs(m, n, k int, first, direct bool) float64 {
	p := &s.Pipe
	if p.StepCycles == 0 {
		return 2 * float64(m*n*k) / s.FlopsPerCycle / s.ClockGHz
	}
	step := p.StepCycles
	if direct && p.Single != SingleLikeDouble {
		step = p.SingleStepCycles
	}
	each := p.PrologueCycles + float64(k-1)*step + p.EpilogueCycles + p.SyncCycles
	if first {
		each += p.BlockCycles
	}
	return p.registerBlocks(m, n) * each / s.ClockGHz
}

// ConvertNs returns a CPE's time, in nanoseconds, to convert values from single precision to the precision of its products, or back.
func (s *Spec) ConvertNs(values int) float64 {
	if !s.doubles() {
		return 0
	}
	return float64(values) * s.Pipe.ConvertCycles / s.ClockGHz
}

// doubles reports whether the operands of products are in double precision in LDM.
func (s *Spec) doubles() bool { return s.Pipe.Single == SingleConverted }

package cpe

// Single says how a CPE computes products in single precision.
type Single int

const (
	// SingleLikeDouble: as fast as double precision.
	SingleLikeDouble Single = iota
	// SingleConverted: operands are converted to double precision in LDM (swCaffe, section IV-A).
	SingleConverted
	// SingleDirect: computed in double-precision lanes by the original's loop; loads cannot broadcast (Fang 2019, table 3.2).
	SingleDirect
)

// PipeSpec describes how one CPE multiplies matrices in LDM (swDNN, section VI-A): a register block of BlockRows x BlockCols of C at a time.
// Without a register block, products run at the CPE's peak.
type PipeSpec struct {
	BlockRows, BlockCols int
	// A run of steps of K takes prologue + (steps-1)*step + epilogue cycles, plus the cycles to synchronise with the next owner of the
	// operands.
	StepCycles, PrologueCycles, EpilogueCycles, SyncCycles float64

	BlockCycles   float64 // for loading and storing a register block of C
	Single        Single
	ConvertCycles float64       // for converting a value to double precision or back, if SingleConverted
	Original      OriginalLoops // of the original swCaffe
	Fractional    bool          // partial register blocks cost a proportional part
}

// Product is the kernel that multiplies blocks in LDM.
type Product int

const (
	// Scheduled is the hand-scheduled loop in double precision. Values in single precision are converted if SingleConverted, and multiplied by
	// OriginalSingle if SingleDirect.
	Scheduled Product = iota
	// OriginalSingle is the original's loop in single precision.
	OriginalSingle
	// OriginalDouble is the original's loop in double precision, to which it converts values of single precision by a loop of its own.
	OriginalDouble
)

// OriginalLoops are the loops of the original swCaffe's products. Package pipes counts their cycles.
type OriginalLoops struct {
	Single, Double Loop
	ConvertCycles  float64 // for converting a value; 0: as PipeSpec.ConvertCycles
}

// Loop is a loop over the steps of K of one register block: EndCycles for the first and the last step, with loading and storing the block of
// C, and StepCycles for each step between. The zero value is no loop.
type Loop struct{ EndCycles, StepCycles float64 }

// cycles returns the time of a register block of k steps.
func (l Loop) cycles(k int) float64 { return l.EndCycles + float64(max(0, k-2))*l.StepCycles }

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
	return s.multiplyNs(m, n, k, first, Scheduled)
}

func (s *Spec) multiplyNs(m, n, k int, first bool, product Product) float64 {
	p := &s.Pipe
	if p.StepCycles == 0 {
		return 2 * float64(m*n*k) / s.FlopsPerCycle / s.ClockGHz
	}
	if loop := s.loop(product); loop != (Loop{}) {
		return (p.registerBlocks(m, n)*loop.cycles(k) + s.Bus.LatencyCycles) / s.ClockGHz
	}
	each := p.PrologueCycles + float64(k-1)*p.StepCycles + p.EpilogueCycles + p.SyncCycles
	if first {
		each += p.BlockCycles
	}
	return p.registerBlocks(m, n) * each / s.ClockGHz
}

// loop returns the original's loop that a product runs, the zero value for the hand-scheduled one. The original's owners of operands change
// without synchronising; a change costs the buses' latency, once for all register blocks.
func (s *Spec) loop(product Product) Loop {
	p := &s.Pipe
	switch {
	case product == OriginalDouble:
		return p.Original.Double
	case p.Single == SingleLikeDouble:
		return Loop{}
	case product == OriginalSingle || p.Single == SingleDirect:
		return p.Original.Single
	case s.Software.Listed:
		return p.Original.Double
	}
	return Loop{}
}

// ConvertNs returns a CPE's time, in nanoseconds, to convert values from single precision to the precision of its products, or back.
func (s *Spec) ConvertNs(values int) float64 { return s.convertNs(values, Scheduled) }

func (s *Spec) convertNs(values int, product Product) float64 {
	cycles := s.Pipe.ConvertCycles
	switch {
	case !s.doubles() || product == OriginalSingle:
		return 0
	case (product == OriginalDouble || s.Software.Listed) && s.Pipe.Original.ConvertCycles > 0:
		cycles = s.Pipe.Original.ConvertCycles
	}
	return float64(values) * cycles / s.ClockGHz
}

// doubles reports whether the operands of products are in double precision in LDM.
func (s *Spec) doubles() bool { return s.Pipe.Single == SingleConverted }

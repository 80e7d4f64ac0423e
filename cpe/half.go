package cpe

import "fmt"

// InHalf returns the modelled machine with all values in two bytes, in memory and in LDM, and products at its rate for them. Costs alone can be
// modelled so (CostOnly). A register block holds as many more columns as products are faster. A net's master weights and their update are not
// told apart from its other values.
func (s Spec) InHalf() (Spec, error) {
	if s.HalfFlops == 0 {
		return s, fmt.Errorf("machine %q: its file has no half_flops_per_cycle", s.Name)
	}
	s.Pipe.BlockCols = max(1, int(float64(s.Pipe.BlockCols)*s.HalfFlops/s.FlopsPerCycle))
	s.FlopsPerCycle = s.HalfFlops
	s.Bus.ValueBytes = 2
	s.half = true
	return s, nil
}

// Bytes returns the size of values in memory and in LDM: of float32, or two bytes each (InHalf).
func (s *Spec) Bytes(values int) int {
	if s.half {
		return 2 * values
	}
	return 4 * values
}

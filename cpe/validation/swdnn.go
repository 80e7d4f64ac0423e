package validation

// SwDNN is the closed form of swDNN's performance model for a convolution in double precision on one core group (Fang et
// al. 2017, section IV and figure 2). Bandwidths are in GB/s, performances in GFLOP/s.
type SwDNN struct {
	Peak     float64 // peak of a core group: T
	MemoryBW float64 // bandwidth between memory and LDM: MBW
	Ni, No   int     // channels
	B, Kc    int     // batch, columns of the filter
	BB, BCo  int     // blocks of batch and of output columns, of the image-size-aware plan; 0: the batch-size-aware one
}

// RequiredBW is the bandwidth needed to compute at the peak: (1/(bCo*bB) + 1/No)*DS*T/2 image-size-aware, and (1/(Kc*No) + 1/B)*DS*T/2
// batch-size-aware, DS being 8 bytes.
func (m SwDNN) RequiredBW() float64 {
	perFlop := 1/float64(m.Kc*m.No) + 1/float64(m.B)
	if m.BB > 0 {
		perFlop = 1/float64(m.BCo*m.BB) + 1/float64(m.No)
	}
	return perFlop * 8 * m.Peak / 2
}

// Efficiency is the share of multiply-adds in the cycles of the reordered kernel: Ni/8 steps of 16 in
// 5 + (Ni/8-1)*17 + 16 cycles (section VI-A).
func (m SwDNN) Efficiency() float64 {
	steps := float64(m.Ni) / 8
	return 16 * steps / (5 + 17*(steps-1) + 16)
}

// Performance is Peak * Efficiency * min(1, MBW/RBW)^2. The register block needs 23.2 of the 46.4 GB/s between LDM and registers, so that
// this level does not limit.
func (m SwDNN) Performance() float64 {
	share := min(1, m.MemoryBW/m.RequiredBW())
	return m.Peak * m.Efficiency() * share * share
}

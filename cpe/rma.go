package cpe

import "fmt"

// RMASpec describes requests of a CPE to the LDM of another one. Figures are measured with one pair of CPEs; nothing is known of pairs that
// share a way, so that the model has no contention between them.
type RMASpec struct {
	Block         int     // rows and columns of CPEs that are equally near
	NearCycles    float64 // latency inside a block
	FarCycles     float64 // latency from corner to corner of the mesh
	RequestCycles float64 // of a small request that is waited for
	IssueCycles   float64 // between small requests, many of which are outstanding
	GapCycles     float64 // between requests, beside their bytes
	BytesPerCycle float64
	MaxPending    int // largest number of outstanding requests of a CPE
}

// HasRMA reports whether CPEs reach each other's LDM by requests, and not by register buses.
func (s *Spec) HasRMA() bool { return s.RMA.BytesPerCycle > 0 }

// RMALatency returns the cycles until a small request arrives at a CPE that is some rows and columns of the mesh away. They grow linearly
// with the blocks on the way.
func (s *Spec) RMALatency(rows, cols int) float64 {
	r := &s.RMA
	most := (s.Rows-1)/r.Block + (s.Cols-1)/r.Block
	if most == 0 {
		return r.NearCycles
	}
	return r.NearCycles + (r.FarCycles-r.NearCycles)*float64(rows/r.Block+cols/r.Block)/float64(most)
}

// RMACycles returns the cycles from one request to the next if a CPE makes requests of some bytes to another one, some rows and columns away,
// and has a number of them outstanding. That a longer way is waited for once is assumed: requests in series were measured of near CPEs.
func (s *Spec) RMACycles(bytes, outstanding, rows, cols int) float64 {
	r := &s.RMA
	transfer := float64(bytes) / r.BytesPerCycle
	each := r.RequestCycles + s.RMALatency(rows, cols) - r.NearCycles + transfer
	return max(each/float64(min(outstanding, r.MaxPending)), r.IssueCycles, r.GapCycles+transfer)
}

// sendNs returns a CPE's time, in nanoseconds, to write some bytes to the LDM of all others of a row or column, the last of which is some rows
// and columns away: one request to each, since no broadcast was measured.
func (s *Spec) sendNs(bytes, rows, cols int) float64 {
	n := rows + cols
	return float64(n) * s.RMACycles(bytes, n, rows, cols) / s.ClockGHz
}

// ExchangeNs is the time, in nanoseconds, in which the owners of some values of A and of B send them along their rows and columns (Exchange).
func (s *Spec) ExchangeNs(a, b int) float64 {
	bytes := s.Bus.valueBytes()
	return s.sendNs(bytes*a, 0, s.Cols-1) + s.sendNs(bytes*b, s.Rows-1, 0)
}

// slower returns the description with all times of requests multiplied by a factor.
func (r RMASpec) slower(by float64) RMASpec {
	for _, cycles := range []*float64{&r.NearCycles, &r.FarCycles, &r.RequestCycles, &r.IssueCycles, &r.GapCycles} {
		*cycles *= by
	}
	return r
}

// wrong returns the first invalid figure of a machine that has RMA, or nil.
func (r *RMASpec) wrong() *FigureError {
	if r.Block < 1 || r.MaxPending < 1 {
		return &FigureError{"rma", fmt.Sprintf("has block %d, max_pending %d: both must be positive", r.Block, r.MaxPending)}
	}
	if !(r.FarCycles >= r.NearCycles) {
		return &FigureError{"rma.far_cycles", fmt.Sprintf("must be at least near_cycles, %g; it is %g", r.NearCycles, r.FarCycles)}
	}
	return nil
}

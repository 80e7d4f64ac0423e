package cpe

import (
	"fmt"
	"math"
	"slices"
)

// FigureError reports an invalid figure of a machine's description.
type FigureError struct {
	Field string // as in the file: "ldm_bytes", "dma.point[3]"
	What  string
}

func (e *FigureError) Error() string { return e.Field + " " + e.What }

// maxCPEs is the largest number of cores of a machine; more is taken for a typing error.
const maxCPEs = 1 << 16

// These limits keep modelled times within VTime's 106 days: the smallest rate, in billions a second, and the largest time of one event, in
// cycles or nanoseconds.
const (
	leastRate  = 1e-6
	mostCycles = 1e6
	mostNs     = 1e9
)

// figure is a field of a machine's file with its value.
type figure struct {
	field string
	value float64
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

func usable(rate float64) bool { return rate >= leastRate && !math.IsInf(rate, 0) }

// Validate returns an error that names the first invalid figure, or nil.
func (s Spec) Validate() error {
	if err := s.wrong(); err != nil {
		return fmt.Errorf("machine %q: %w", s.Name, err)
	}
	return nil
}

// wrong returns the first invalid figure, or nil.
func (s Spec) wrong() *FigureError {
	for _, f := range slices.Concat(s.positives(), s.notNegatives(), s.rates()) {
		if math.IsNaN(f.value) || math.IsInf(f.value, 0) {
			return &FigureError{f.field, fmt.Sprintf("must be a finite number, it is %g", f.value)}
		}
	}
	for _, f := range s.positives() {
		if !positive(f.value) {
			return &FigureError{f.field, fmt.Sprintf("must be positive, it is %g", f.value)}
		}
	}
	for _, f := range s.notNegatives() {
		if f.value < 0 {
			return &FigureError{f.field, fmt.Sprintf("must not be negative, it is %g", f.value)}
		}
	}
	for _, f := range s.rates() {
		if f.value != 0 && f.value < leastRate {
			return &FigureError{f.field, fmt.Sprintf("must be at least %g, it is %g", leastRate, f.value)}
		}
	}
	for _, f := range s.durations() {
		if f.value > f.most {
			return &FigureError{f.field, fmt.Sprintf("must be at most %g, it is %g", f.most, f.value)}
		}
	}
	if n := s.CoreGroups * s.CPEs(); max(s.CoreGroups, s.Rows, s.Cols) > maxCPEs || n > maxCPEs {
		return &FigureError{"core_groups", fmt.Sprintf("%d of %d x %d CPEs are too many: at most %d CPEs", s.CoreGroups, s.Rows, s.Cols, maxCPEs)}
	}
	if p := s.Pipe; p.StepCycles != 0 && (p.BlockRows < 1 || p.BlockCols < 1) {
		return &FigureError{"pipe", fmt.Sprintf("with step_cycles %g, block_rows %d, block_cols %d: all must be positive", p.StepCycles, p.BlockRows, p.BlockCols)}
	}
	if s.Pipe.Single == SingleDirect && !positive(s.Pipe.Original.Single.StepCycles) {
		return &FigureError{"pipe.original.single.step_cycles", fmt.Sprintf("must be positive where pipe.single is DIRECT, it is %g", s.Pipe.Original.Single.StepCycles)}
	}
	if s.native && s.CPEs() != 1 {
		return &FigureError{"native", fmt.Sprintf("machines have a mesh of 1 x 1, not %d x %d", s.Rows, s.Cols)}
	}
	if s.native && s.HasDMA() {
		return &FigureError{"dma.point", "stands in the file of a native machine, which computes in main memory without DMA"}
	}
	if err := s.DMA.strided.validate("dma.point"); err != nil {
		return err
	}
	for _, c := range s.DMA.curves {
		if err := c.validate("dma.curve." + c.name); err != nil {
			return err
		}
	}
	if one := s.DMA.single; s.DMA.Queued && len(one) > 0 && (len(one) > 1 || one[0].cpes != 1) {
		return &FigureError{"dma.request_point", "must be of 1 CPE where dma.queued is true"}
	}
	if s.HasRMA() {
		if err := s.RMA.wrong(); err != nil {
			return err
		}
	}
	return s.DMA.single.validate("dma.request_point")
}

// positives lists the figures that every machine of this kind must have.
func (s Spec) positives() []figure {
	list := []figure{
		{"core_groups", float64(s.CoreGroups)}, {"mesh_rows", float64(s.Rows)}, {"mesh_cols", float64(s.Cols)},
		{"ldm_bytes", float64(s.LDMBytes)}, {"clock_ghz", s.ClockGHz}, {"flops_per_cycle", s.FlopsPerCycle},
	}
	if s.native {
		return list
	}
	list = append(list, figure{"dma.latency_ns", s.DMA.LatencyNs}, figure{"dma.transaction_bytes", float64(s.DMA.TransactionBytes)},
		figure{"dma.point (how many)", float64(len(s.DMA.strided))}, figure{"dma.max_pending", float64(s.DMA.MaxPending)})
	if s.Memory.Shared {
		list = append(list, figure{"memory.gbytes_per_s", s.Memory.GBps})
	}
	switch r := &s.RMA; {
	case s.HasRMA():
		list = append(list, figure{"rma.near_cycles", r.NearCycles}, figure{"rma.request_cycles", r.RequestCycles}, figure{"rma.issue_cycles", r.IssueCycles})
	case s.CPEs() > 1:
		list = append(list, figure{"bus.word_bytes", float64(s.Bus.WordBytes)}, figure{"bus.fifo_depth", float64(s.Bus.FIFODepth)},
			figure{"bus.broadcast_gbytes_per_s", s.Bus.BroadcastGBps}, figure{"bus.p2p_gbytes_per_s", s.Bus.P2PGBps})
	}
	return list
}

// notNegatives lists the figures that a machine may leave out.
func (s Spec) notNegatives() []figure {
	return append(s.Pipe.Original.figures(), []figure{
		{"rma.gap_cycles", s.RMA.GapCycles}, {"rma.bytes_per_cycle", s.RMA.BytesPerCycle},
		{"dma.partial_put.one_ns", s.DMA.PartialPut.OneNs}, {"dma.partial_put.two_ns", s.DMA.PartialPut.TwoNs},
		{"half_flops_per_cycle", s.HalfFlops}, {"special_cycles", s.SpecialCycles}, {"memory_bytes", float64(s.MemoryBytes)}, {"memory.bytes", float64(s.Memory.Bytes)},
		{"pipe.step_cycles", s.Pipe.StepCycles}, {"pipe.prologue_cycles", s.Pipe.PrologueCycles}, {"pipe.epilogue_cycles", s.Pipe.EpilogueCycles},
		{"pipe.sync_cycles", s.Pipe.SyncCycles}, {"pipe.block_cycles", s.Pipe.BlockCycles}, {"pipe.convert_cycles", s.Pipe.ConvertCycles},
		{"bus.latency_cycles", s.Bus.LatencyCycles}, {"mpe.gflops", s.MPE.GFlops}, {"mpe.copy_gbytes_per_s", s.MPE.CopyGBps},
		{"mpe.cache_bytes", float64(s.MPE.CacheBytes)}, {"mpe.start_us", s.MPE.StartUs},
	}...)
}

// rates lists the figures by which times are divided; 0 means that the machine leaves one out.
func (s Spec) rates() []figure {
	return []figure{
		{"clock_ghz", s.ClockGHz}, {"flops_per_cycle", s.FlopsPerCycle}, {"memory.gbytes_per_s", s.Memory.GBps},
		{"bus.broadcast_gbytes_per_s", s.Bus.BroadcastGBps}, {"bus.p2p_gbytes_per_s", s.Bus.P2PGBps},
		{"mpe.gflops", s.MPE.GFlops}, {"mpe.copy_gbytes_per_s", s.MPE.CopyGBps}, {"rma.bytes_per_cycle", s.RMA.BytesPerCycle},
	}
}

// duration is a figure that is a time, and its upper limit.
type duration struct {
	figure
	most float64
}

func (s Spec) durations() []duration {
	list := []duration{{figure{"dma.latency_ns", s.DMA.LatencyNs}, mostNs}, {figure{"mpe.start_us", s.MPE.StartUs}, mostNs / 1000},
		{figure{"dma.partial_put.one_ns", s.DMA.PartialPut.OneNs}, mostNs}, {figure{"dma.partial_put.two_ns", s.DMA.PartialPut.TwoNs}, mostNs}}
	for _, f := range append(s.Pipe.Original.figures(), []figure{
		{"special_cycles", s.SpecialCycles}, {"bus.latency_cycles", s.Bus.LatencyCycles},
		{"rma.near_cycles", s.RMA.NearCycles}, {"rma.far_cycles", s.RMA.FarCycles}, {"rma.request_cycles", s.RMA.RequestCycles},
		{"rma.issue_cycles", s.RMA.IssueCycles}, {"rma.gap_cycles", s.RMA.GapCycles},
		{"pipe.step_cycles", s.Pipe.StepCycles}, {"pipe.prologue_cycles", s.Pipe.PrologueCycles}, {"pipe.epilogue_cycles", s.Pipe.EpilogueCycles},
		{"pipe.sync_cycles", s.Pipe.SyncCycles}, {"pipe.block_cycles", s.Pipe.BlockCycles}, {"pipe.convert_cycles", s.Pipe.ConvertCycles},
	}...) {
		list = append(list, duration{f, mostCycles})
	}
	return list
}

// figures lists the cycles of the original's loops.
func (l *OriginalLoops) figures() []figure {
	return []figure{
		{"pipe.original.single.end_cycles", l.Single.EndCycles}, {"pipe.original.single.step_cycles", l.Single.StepCycles},
		{"pipe.original.double.end_cycles", l.Double.EndCycles}, {"pipe.original.double.step_cycles", l.Double.StepCycles},
		{"pipe.original.convert_cycles", l.ConvertCycles},
	}
}

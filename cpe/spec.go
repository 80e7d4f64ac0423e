package cpe

import (
	"fmt"
	"strings"
)

// Spec describes a machine. It is a value: copy it and change a figure to describe another one.
type Spec struct {
	Name        string
	Description string

	CoreGroups int // core groups that share the main memory
	Rows, Cols int // the mesh of one core group

	ClockGHz      float64
	FlopsPerCycle float64 // of one CPE; a multiply-add is two
	SpecialCycles float64 // for an exponential, logarithm, division or root

	LDMBytes    int // scratchpad of one CPE
	L1Bytes     int // cache below the LDM's place on a native machine; 0: none
	L3Bytes     int // cache that core groups share on a native machine; 0: none
	MemoryBytes int // main memory of one core group; 0: not stated

	DMA  DMASpec
	Bus  BusSpec
	Pipe PipeSpec
	MPE  MPESpec

	Software Software // whose kernels are modelled

	native bool
	onMPE  bool
}

// BusSpec describes the register buses along rows and columns.
type BusSpec struct {
	WordBytes     int // moved by one instruction
	FIFODepth     int // words a receiver can hold
	LatencyCycles float64
	P2PGBps       float64 // of a whole core group
	BroadcastGBps float64 // of a whole core group, as received
	ValueBytes    int     // a float32 takes on the buses; 0: 4
}

// valueBytes is what one value takes on the buses.
func (b *BusSpec) valueBytes() int {
	if b.ValueBytes == 0 {
		return 4
	}
	return b.ValueBytes
}

// MPESpec describes the management core.
type MPESpec struct {
	GFlops     float64
	CopyGBps   float64
	CacheBytes int
}

// CPEs returns the number of CPEs of a core group.
func (s Spec) CPEs() int { return s.Rows * s.Cols }

// PeakGFlops returns the peak of one core group in GFLOP/s.
func (s Spec) PeakGFlops() float64 { return float64(s.CPEs()) * s.FlopsPerCycle * s.ClockGHz }

// LDMFloats returns how many float32 values fit the LDM of one CPE.
func (s Spec) LDMFloats() int { return s.LDMBytes / 4 }

// String is the machine's name and outline.
func (s Spec) String() string {
	return fmt.Sprintf("%s: %d core groups of %dx%d CPEs, %d KB LDM", s.Name, s.CoreGroups, s.Rows, s.Cols, s.LDMBytes>>10)
}

// Describe lists the figures, a line each.
func (s Spec) Describe() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-21s %s\n", name+":", fmt.Sprintf(format, args...))
	}
	line("Machine", "%s", s.Name)
	if s.Description != "" {
		line("Description", "%s", s.Description)
	}
	line("Core groups", "%d", s.CoreGroups)
	line("Mesh", "%d x %d CPEs", s.Rows, s.Cols)
	line("LDM", "%d KB a CPE", s.LDMBytes>>10)
	if s.ClockGHz > 0 {
		line("Clock", "%.4g GHz", s.ClockGHz)
		line("Peak", "%.1f GFLOP/s a core group", s.PeakGFlops())
	}
	if s.DMA.LatencyNs > 0 {
		line("DMA latency", "%.4g ns", s.DMA.LatencyNs)
		line("DMA bandwidth", "%.4g GB/s a core group at most", s.DMA.strided.peak())
	}
	if s.Bus.BroadcastGBps > 0 {
		line("Register buses", "%.4g GB/s a core group broadcasting", s.Bus.BroadcastGBps)
	}
	if s.MemoryBytes > 0 {
		line("Memory", "%d GB a core group", s.MemoryBytes>>30)
	}
	return b.String()
}

// validate names the figure that cannot be.
func (s Spec) validate() error {
	positive := []struct {
		name  string
		value float64
	}{
		{"core_groups", float64(s.CoreGroups)}, {"mesh_rows", float64(s.Rows)}, {"mesh_cols", float64(s.Cols)},
		{"ldm_bytes", float64(s.LDMBytes)}, {"clock_ghz", s.ClockGHz}, {"flops_per_cycle", s.FlopsPerCycle},
	}
	if !s.native {
		positive = append(positive, []struct {
			name  string
			value float64
		}{
			{"dma.latency_ns", s.DMA.LatencyNs}, {"dma.transaction_bytes", float64(s.DMA.TransactionBytes)},
			{"dma.point (how many)", float64(len(s.DMA.strided))}, {"dma.max_pending", float64(s.DMA.MaxPending)},
		}...)
		if s.CPEs() > 1 {
			positive = append(positive, []struct {
				name  string
				value float64
			}{
				{"bus.word_bytes", float64(s.Bus.WordBytes)}, {"bus.fifo_depth", float64(s.Bus.FIFODepth)},
				{"bus.broadcast_gbytes_per_s", s.Bus.BroadcastGBps}, {"bus.p2p_gbytes_per_s", s.Bus.P2PGBps},
			}...)
		}
	}
	for _, p := range positive {
		if !(p.value > 0) {
			return fmt.Errorf("machine %q: %s must be positive, it is %g", s.Name, p.name, p.value)
		}
	}
	if p := s.Pipe; p.StepCycles != 0 && (p.BlockRows < 1 || p.BlockCols < 1 || p.StepCycles < 0) {
		return fmt.Errorf("machine %q: pipe with step_cycles %g, block_rows %d, block_cols %d: all must be positive",
			s.Name, p.StepCycles, p.BlockRows, p.BlockCols)
	}
	if s.native && s.CPEs() != 1 {
		return fmt.Errorf("machine %q: a native machine has a mesh of 1 x 1, not %d x %d", s.Name, s.Rows, s.Cols)
	}
	return s.DMA.validate(s.Name)
}

// Native reports whether the machine is the computer that this program runs on. Only plans ask.
func (s Spec) Native() bool { return s.native }

package cpe

import (
	"fmt"
	"strings"
)

// Spec describes a machine. It is a value: copy it and change a figure to describe another one. Its fields are those of the machine's file
// (proto/machine.proto), where a figure stands beside its source; further levels would only lengthen its uses.
type Spec struct {
	Name        string
	Description string

	CoreGroups int // core groups that share the main memory
	Rows, Cols int // the mesh of one core group

	ClockGHz      float64
	FlopsPerCycle float64 // of one CPE; a multiply-add is two
	HalfFlops     float64 // FlopsPerCycle on values of two bytes; 0: the machine has none
	SpecialCycles float64 // for an exponential, logarithm, division or root

	LDMBytes    int   // scratchpad of one CPE
	L1Bytes     int   // cache below the LDM's place on a native machine; 0: none
	L3Bytes     int   // cache that core groups share on a native machine; 0: none
	MemoryBytes int64 // main memory of one core group; 0: not stated

	Memory MemorySpec // memory that core groups share

	DMA  DMASpec
	Bus  BusSpec
	RMA  RMASpec // in the place of buses
	Pipe PipeSpec
	MPE  MPESpec

	Software Software // the program whose kernels are modelled

	native    bool
	onMPE     bool
	half      bool     // values have two bytes: InHalf
	leftOut   []string // names of algorithms that kernels do not choose
	precision string   // of products, see WithPrecision
}

// MemorySpec describes main memory that core groups share. The zero value says that each has its own.
type MemorySpec struct {
	Shared bool
	GBps   float64 // bandwidth of all core groups together
	Bytes  int64   // 0: not stated
}

// BusSpec describes the register buses along rows and columns.
type BusSpec struct {
	WordBytes     int // moved by one instruction
	FIFODepth     int // words a receiver can hold
	LatencyCycles float64
	P2PGBps       float64 // of a whole core group
	BroadcastGBps float64 // of a whole core group, as received
	ValueBytes    int     // bytes of a float32 on the buses; 0: 4
}

// valueBytes returns the number of bytes of a value on the buses.
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
	StartUs    float64 // to start the CPEs' threads for one kernel and to join them
}

// CPEs returns the number of CPEs of a core group.
func (s Spec) CPEs() int { return s.Rows * s.Cols }

// PeakGFlops returns the peak of one core group in GFLOP/s.
func (s Spec) PeakGFlops() float64 { return float64(s.CPEs()) * s.FlopsPerCycle * s.ClockGHz }

// LDMFloats returns how many values fit the LDM of one CPE.
func (s Spec) LDMFloats() int { return s.LDMBytes / s.Bytes(1) }

// TotalMemoryBytes returns the main memory of all core groups; 0: not stated.
func (s Spec) TotalMemoryBytes() int64 {
	if s.Memory.Shared {
		return s.Memory.Bytes
	}
	return s.MemoryBytes * int64(s.CoreGroups)
}

// BandwidthGBps returns the highest bandwidth at which all core groups together read main memory, in GB/s; 0: not stated.
func (s Spec) BandwidthGBps() float64 {
	all := s.DMA.Peak() * float64(s.CoreGroups)
	if s.Memory.Shared {
		return min(all, s.Memory.GBps)
	}
	return all
}

// Groups returns a number of core groups in words: "one core group", "2 core groups".
func Groups(n int) string {
	if n == 1 {
		return "one core group"
	}
	return fmt.Sprintf("%d core groups", n)
}

// String returns the machine's name and main figures.
func (s Spec) String() string {
	if s.CPEs() == 1 && !s.native {
		return fmt.Sprintf("%s: %s of one core, %d KB of cache each", s.Name, Groups(s.CoreGroups), s.LDMBytes>>10)
	}
	return fmt.Sprintf("%s: %s of %dx%d CPEs, %d KB LDM", s.Name, Groups(s.CoreGroups), s.Rows, s.Cols, s.LDMBytes>>10)
}

// Describe lists the figures, one per line.
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
		line("DMA bandwidth", "%.4g GB/s a core group at most", s.DMA.Peak())
	}
	if s.Bus.BroadcastGBps > 0 {
		line("Register buses", "%.4g GB/s a core group broadcasting", s.Bus.BroadcastGBps)
	}
	if s.HasRMA() {
		line("Remote LDM access", "%g to %g cycles, then %.4g GB/s between two CPEs", s.RMA.NearCycles, s.RMA.FarCycles, s.RMA.BytesPerCycle*s.ClockGHz)
	}
	if s.Memory.Shared {
		line("Shared memory", "%.4g GB/s", s.Memory.GBps)
	}
	if s.Memory.Bytes > 0 {
		line("Memory", "%d GB", s.Memory.Bytes>>30)
	}
	if s.MemoryBytes > 0 {
		line("Memory", "%d GB a core group", s.MemoryBytes>>30)
	}
	return b.String()
}

// Native reports whether the machine is the computer that this program runs on. Kernels ask for what they depend on instead, such as HasDMA.
func (s Spec) Native() bool { return s.native }

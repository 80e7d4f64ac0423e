package cpe

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// Parameter is a figure of a machine that a sweep can vary.
type Parameter struct {
	Name  string
	Unit  string
	Whole bool // only whole numbers
	Help  string

	get func(s *Spec) float64
	set func(s *Spec, v float64)
}

// parameters lists all parameters in alphabetical order. If a machine has several figures of a kind, such as the points of a bandwidth curve,
// setting the parameter scales all of them so that the largest has the value.
var parameters = suggest.Table[Parameter]{Kind: "machine parameter", Kinds: "parameters", Name: func(p Parameter) string { return p.Name }, Entries: []Parameter{
	{"bus_gbytes_per_s", "GB/s", false, "register buses of a core group, broadcasting; point to point in proportion",
		func(s *Spec) float64 { return s.Bus.BroadcastGBps },
		func(s *Spec, v float64) { s.Bus.P2PGBps *= v / s.Bus.BroadcastGBps; s.Bus.BroadcastGBps = v }},
	{"clock_ghz", "GHz", false, "clock; buses and DMA keep their bandwidth",
		func(s *Spec) float64 { return s.ClockGHz }, func(s *Spec, v float64) { s.ClockGHz = v }},
	{"core_groups", "", true, "core groups that share the work",
		func(s *Spec) float64 { return float64(s.CoreGroups) }, func(s *Spec, v float64) { s.CoreGroups = int(v) }},
	{"dma_gbytes_per_s", "GB/s", false, "best DMA bandwidth of a core group; the measured curves keep their shape",
		func(s *Spec) float64 { return s.DMA.Peak() }, func(s *Spec, v float64) { s.DMA = s.DMA.scaled(v / s.DMA.Peak()) }},
	{"dma_latency_ns", "ns", false, "latency of DMA requests where no measurement of single requests includes it",
		func(s *Spec) float64 { return s.DMA.LatencyNs }, func(s *Spec, v float64) { s.DMA.LatencyNs = v }},
	{"dma_max_pending", "", true, "requests that a CPE can have under way",
		func(s *Spec) float64 { return float64(s.DMA.MaxPending) }, func(s *Spec, v float64) { s.DMA.MaxPending = int(v) }},
	{"dma_transaction_bytes", "bytes", true, "bytes to which DMA rounds unaligned blocks",
		func(s *Spec) float64 { return float64(s.DMA.TransactionBytes) }, func(s *Spec, v float64) { s.DMA.TransactionBytes = int(v) }},
	{"flops_per_cycle", "", false, "operations a cycle of a CPE; products that know the pipes keep their cycles a step",
		func(s *Spec) float64 { return s.FlopsPerCycle }, func(s *Spec, v float64) { s.FlopsPerCycle = v }},
	{"ldm_kb", "KB", false, "LDM of a CPE, or the cache in its place",
		func(s *Spec) float64 { return float64(s.LDMBytes) / 1024 }, func(s *Spec, v float64) { s.LDMBytes = int(v * 1024) }},
	{"memory_gbytes_per_s", "GB/s", false, "memory that core groups share",
		func(s *Spec) float64 { return s.Memory.GBps }, func(s *Spec, v float64) { s.Memory.GBps = v }},
	{"mesh_cols", "", true, "columns of a core group's mesh",
		func(s *Spec) float64 { return float64(s.Cols) }, func(s *Spec, v float64) { s.Cols = int(v) }},
	{"mesh_rows", "", true, "rows of a core group's mesh",
		func(s *Spec) float64 { return float64(s.Rows) }, func(s *Spec, v float64) { s.Rows = int(v) }},
	{"rma_bytes_per_cycle", "bytes", false, "remote access to LDM between two CPEs, in long requests",
		func(s *Spec) float64 { return s.RMA.BytesPerCycle }, func(s *Spec, v float64) { s.RMA.BytesPerCycle = v }},
	{"rma_far_cycles", "cycles", false, "latency of remote access to LDM from corner to corner; its other times in proportion",
		func(s *Spec) float64 { return s.RMA.FarCycles }, func(s *Spec, v float64) { s.RMA = s.RMA.slower(v / s.RMA.FarCycles) }},
	{"special_cycles", "cycles", false, "cycles of an exponential, a logarithm, a division or a root",
		func(s *Spec) float64 { return s.SpecialCycles }, func(s *Spec, v float64) { s.SpecialCycles = v }},
	{"start_us", "us", false, "time to start the CPEs' threads for one kernel and to join them",
		func(s *Spec) float64 { return s.MPE.StartUs }, func(s *Spec, v float64) { s.MPE.StartUs = v }},
	{"step_cycles", "cycles", false, "cycles of a step of K of a product, once the pipes are full",
		func(s *Spec) float64 { return s.Pipe.StepCycles }, func(s *Spec, v float64) { s.Pipe.StepCycles = v }},
}}

// Parameters returns all parameters in alphabetical order.
func Parameters() []Parameter { return parameters.Entries }

// ParameterNames returns the names of all parameters.
func ParameterNames() []string { return parameters.Names() }

// FindParameter returns the parameter of a name.
func FindParameter(name string) (Parameter, error) {
	return parameters.Find(name)
}

// Of returns the parameter's value on a machine, 0 if the machine has no such part.
func (p Parameter) Of(s Spec) float64 { return p.get(&s) }

// largestValue keeps figures within integers.
const largestValue = 1e12

// Check returns an error if the parameter cannot have this value on a machine.
func (p Parameter) Check(s Spec, value float64) error {
	switch {
	case !positive(value):
		return fmt.Errorf("%s=%g: must be positive and finite", p.Name, value)
	case value > largestValue:
		return fmt.Errorf("%s=%g: must be at most %g", p.Name, value, largestValue)
	case p.Whole && value != math.Trunc(value):
		return fmt.Errorf("%s=%g: must be a whole number", p.Name, value)
	case p.get(&s) == 0:
		return fmt.Errorf("%s: machine %q has none", p.Name, s.Name)
	case s.native:
		return fmt.Errorf("machine %q is this computer; only modelled machines can be varied", s.Name)
	}
	return p.With(s, value).Validate()
}

// With returns the machine with another value of the parameter, which Check must have accepted.
func (p Parameter) With(s Spec, value float64) Spec {
	p.set(&s, value)
	return s
}

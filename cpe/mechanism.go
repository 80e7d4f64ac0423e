package cpe

import (
	"errors"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// Mechanism is a part of a machine's model that can be switched off, to see how much of a figure it accounts for.
type Mechanism struct {
	Name  string
	Doc   string // what the model then does, beginning with "then"
	Helps bool   // it saves time, so that leaving it out makes a program slower; else it costs time
	// Against says why leaving it out can have the opposite effect; "" if it should not.
	Against string

	leave func(s *Spec)
}

// replans is a reason that many mechanisms share.
const replans = "plans were chosen by their modelled times, and other ones may be chosen without the mechanism"

var mechanisms = suggest.Table[Mechanism]{Kind: "mechanism", Kinds: "mechanisms", Name: func(m Mechanism) string { return m.Name }, Entries: []Mechanism{
	{"awaiting", "then im2col and col2im of the original do not wait for every request", false, "",
		func(s *Spec) { s.Software.Awaited = false }},
	{"batching", "then im2col of the original makes a request for the line of each image, not for all images together", true,
		"short lines together take three requests' time side by side, and one long request only its own",
		func(s *Spec) { s.Software.Batched = false }},
	{"grouping", "then col2im of the original makes a request for every line, not for the consecutive lines that a CPE has of a channel", true, "",
		func(s *Spec) { s.Software.Grouped = false }},
	{"chaining", "then products wait until a block of results is stored, where remote access to LDM leaves room for a second block", true, replans,
		func(s *Spec) { s.Software.Unchained = true }},
	{"alignment", "then blocks that do not start at transaction boundaries take no longer", false, replans,
		func(s *Spec) { s.DMA.Aligned = true }},
	{"data_parallel", "then core groups share the columns of inner products, and not their images as in the original", false,
		"the gradient of the inputs is then summed over core groups",
		func(s *Spec) { s.Software.DataParallel = false }},
	{"mpe", "then no loop runs on the management cores", false, "",
		func(s *Spec) { s.Software.OnMPE = false }},
	{"line_norm", "then BatchNorm of the original is our own, which moves less and hides transfers", false, "",
		func(s *Spec) { s.Software.LineNorm = false }},
	{"listings", "then products of the original take the cycles of the hand-scheduled loop, and not those of their listings", false, replans,
		func(s *Spec) { s.Pipe.Original = OriginalLoops{} }},
	{"overlap", "then no transfer is hidden behind the work on the previous tile", true, replans,
		func(s *Spec) { s.DMA.NeverOverlaps = true }},
	{"padding", "then partial register blocks cost their part of a whole one", false, replans,
		func(s *Spec) { s.Pipe.Fractional = true }},
	{"pending", "then a CPE has one request under way, not several that share their start-up", true, replans,
		func(s *Spec) { s.DMA.MaxPending = 1 }},
	{"requests", "then a request costs its latency and its bytes at the bandwidth of long ones, not its measured time", false,
		"a long request's measured time holds its start-up, which is then added once more as latency",
		func(s *Spec) { s.DMA.single = nil }},
	{"scalar", "then loops of the original that go value by value use vectors", false, "",
		func(s *Spec) { s.Software.ScalarCycles = 0 }},
	{"single", "then products in single precision cost what they cost in double precision, without conversion", false, replans,
		func(s *Spec) { s.Pipe.Single, s.Bus.ValueBytes = SingleLikeDouble, 4 }},
	{"start", "then starting and joining the CPEs' threads takes no time", false, "",
		func(s *Spec) { s.MPE.StartUs = 0 }},
	{"stall", "then transfers overlap accumulating products too", false, replans,
		func(s *Spec) { s.DMA.OverlapsBuses = true }},
	{"unbuffered", "then the implicit convolution of the original keeps the weights of a kernel offset, and overlaps", false, replans,
		func(s *Spec) { s.Software.Unbuffered = false }},
}}

// FindMechanism returns the mechanism of a name.
func FindMechanism(name string) (Mechanism, error) { return mechanisms.Find(name) }

// Mechanisms returns the names that Without accepts.
func Mechanisms() []string { return mechanisms.Names() }

// WithoutAlgorithms returns the machine with algorithms of kernels left out, by name. Kernels then choose as if their lists lacked them.
func (s Spec) WithoutAlgorithms(names ...string) Spec {
	s.leftOut = append(slices.Clone(s.leftOut), names...)
	return s
}

// LeavesOut reports whether an algorithm is left out.
func (s *Spec) LeavesOut(name string) bool { return slices.Contains(s.leftOut, name) }

// The precisions that WithPrecision accepts: what factors of products are rounded to before they are multiplied.
const (
	FP32 = "fp32" // nothing
	BF16 = "bf16" // bfloat16
	INT8 = "int8" // integers of 8 bits, in layers that have scales for them, in inference
)

// Precisions lists them.
var Precisions = []string{FP32, BF16, INT8}

// WithPrecision returns the machine with a named precision; "" leaves it to nets.
func (s Spec) WithPrecision(name string) (Spec, error) {
	if name != "" && !slices.Contains(Precisions, name) {
		return s, suggest.Unknown("precision", name, "precisions", Precisions)
	}
	s.precision = name
	return s, nil
}

// Precision returns the name of the precision, "" if it is left to nets.
func (s *Spec) Precision() string { return s.precision }

// Computes returns nil, or the reason why kernels on the machine do not compute in a precision.
func (s *Spec) Computes(precision string) error {
	if precision == FP32 || s.native {
		return nil
	}
	return errors.New("modelled machines compute in fp32")
}

// RoundingFactors returns the machine with precision BF16.
func (s Spec) RoundingFactors() Spec {
	s.precision = BF16
	return s
}

// Without returns the machine with one mechanism switched off.
func (s Spec) Without(mechanism string) (Spec, error) {
	m, err := mechanisms.Find(mechanism)
	if err != nil {
		return s, err
	}
	m.leave(&s)
	return s, nil
}

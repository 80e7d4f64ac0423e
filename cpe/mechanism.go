package cpe

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/suggest"
)

// mechanism is a part of a machine's model that can be switched off, to see how much of a figure it accounts for.
type mechanism struct {
	name  string
	leave func(s *Spec)
}

var mechanisms = suggest.Table[mechanism]{Kind: "mechanism", Kinds: "mechanisms", Name: func(m mechanism) string { return m.name }, Entries: []mechanism{
	// im2col and col2im wait for every request (original swCaffe).
	{"awaiting", func(s *Spec) { s.Software.Awaited = false }},
	// im2col transfers a line of all images at once (original swCaffe).
	{"batching", func(s *Spec) { s.Software.Batched = false }},
	// Blocks that do not start at transaction boundaries take longer.
	{"alignment", func(s *Spec) { s.DMA.Aligned = true }},
	// Core groups share the images of inner products (original swCaffe).
	{"data_parallel", func(s *Spec) { s.Software.DataParallel = false }},
	// Some loops run on the management cores (original swCaffe).
	{"mpe", func(s *Spec) { s.Software.OnMPE = false }},
	// Products of the original's kernels take the cycles of their listings, and not of the hand-scheduled loop (original swCaffe).
	{"listings", func(s *Spec) { s.Pipe.Original = OriginalLoops{} }},
	// Transfers overlap the work on the previous tile.
	{"overlap", func(s *Spec) { s.DMA.NeverOverlaps = true }},
	// Partial register blocks cost as much as whole ones.
	{"padding", func(s *Spec) { s.Pipe.Fractional = true }},
	// Several requests of a CPE share their start-up.
	{"pending", func(s *Spec) { s.DMA.MaxPending = 1 }},
	// A short request takes its measured time, however little it transfers; without this, it costs only its latency.
	{"requests", func(s *Spec) { s.DMA.single = nil }},
	// Some loops go value by value (original swCaffe).
	{"scalar", func(s *Spec) { s.Software.ScalarCycles = 0 }},
	// Products in single precision are computed in double precision.
	{"single", func(s *Spec) { s.Pipe.Single, s.Bus.ValueBytes = SingleLikeDouble, 4 }},
	// Transfers do not overlap accumulating products.
	{"stall", func(s *Spec) { s.DMA.OverlapsBuses = true }},
	// The implicit convolution fetches the weights of every kernel offset again (original swCaffe).
	{"unbuffered", func(s *Spec) { s.Software.Unbuffered = false }},
}}

// Mechanisms returns the names that Without accepts.
func Mechanisms() []string { return mechanisms.Names() }

// WithoutAlgorithms returns the machine with algorithms of kernels left out, by name. Kernels then choose as if their lists lacked them.
func (s Spec) WithoutAlgorithms(names ...string) Spec {
	s.leftOut = append(slices.Clone(s.leftOut), names...)
	return s
}

// LeavesOut reports whether an algorithm is left out.
func (s *Spec) LeavesOut(name string) bool { return slices.Contains(s.leftOut, name) }

// Without returns the machine with one mechanism switched off.
func (s Spec) Without(mechanism string) (Spec, error) {
	m, err := mechanisms.Find(mechanism)
	if err != nil {
		return s, err
	}
	m.leave(&s)
	return s, nil
}

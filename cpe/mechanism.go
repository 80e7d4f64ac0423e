package cpe

import "github.com/swcaffe/swcaffe/internal/suggest"

// mechanism is something that can be left out of a machine, to see its share of a figure.
type mechanism struct {
	name  string
	leave func(s *Spec)
}

var mechanisms = suggest.Table[mechanism]{Kind: "mechanism", Kinds: "mechanisms", Name: func(m mechanism) string { return m.name }, Entries: []mechanism{
	// im2col and col2im await every request (the original).
	{"awaiting", func(s *Spec) { s.Software.Awaited = false }},
	// im2col takes a line of all images at once (the original).
	{"batching", func(s *Spec) { s.Software.Batched = false }},
	// Blocks that do not start where transactions do take longer.
	{"alignment", func(s *Spec) { s.DMA.Aligned = true }},
	// Core groups share the images of inner products (the original).
	{"data_parallel", func(s *Spec) { s.Software.DataParallel = false }},
	// Loops that are left to the management cores (the original).
	{"mpe", func(s *Spec) { s.Software.OnMPE = false }},
	// Transfers hide behind the work on the tile before.
	{"overlap", func(s *Spec) { s.DMA.NeverOverlaps = true }},
	// Parts of register blocks cost as much as whole ones.
	{"padding", func(s *Spec) { s.Pipe.Fractional = true }},
	// Several requests of a CPE share their start-up.
	{"pending", func(s *Spec) { s.DMA.MaxPending = 1 }},
	// A short request takes its measured time however little it brings; without, it only costs its latency.
	{"requests", func(s *Spec) { s.DMA.single = nil }},
	// Loops that go value by value (the original).
	{"scalar", func(s *Spec) { s.Software.ScalarCycles = 0 }},
	// Products of single precision are computed in double.
	{"single", func(s *Spec) { s.Pipe.Single, s.Bus.ValueBytes = SingleLikeDouble, 4 }},
	// Transfers do not hide behind products that accumulate.
	{"stall", func(s *Spec) { s.DMA.OverlapsBuses = true }},
	// The implicit convolution fetches weights for every tap (the original).
	{"unbuffered", func(s *Spec) { s.Software.Unbuffered = false }},
}}

// Mechanisms returns the names that Without knows.
func Mechanisms() []string { return mechanisms.Names() }

// Without describes the machine without one of its mechanisms.
func (s Spec) Without(mechanism string) (Spec, error) {
	m, err := mechanisms.Find(mechanism)
	if err != nil {
		return s, err
	}
	m.leave(&s)
	return s, nil
}

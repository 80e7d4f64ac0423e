package cpe

import "github.com/swcaffe/swcaffe/internal/suggest"

// Software says what the kernels of a publication do otherwise than this program's own, which its plans choose freely. The zero
// value is this program's.
//
// Times of a machine are those of a program on it. The SW26010's by layer were published in 2018, those of whole nets again
// in 2019 and up to 2.6 times better, on the same chips. What the program of 2018 did stands in its source, which is quoted as
// [CODE] in DEVIATIONS.md.
type Software struct {
	Name string
	// BatchOnly: the implicit convolution takes one position of the images at a time, and wants 128 images of a core group forward
	// and 64 backward; where it has fewer, it is the one whose core groups share rows.
	BatchOnly bool
	// Unbuffered: the implicit convolution fetches the weights of every tap where it uses them, multiplies in single precision,
	// awaits every request and does nothing meanwhile.
	Unbuffered bool
	// Awaited: im2col and col2im await each of their requests before they make the next.
	Awaited bool
	// Batched: im2col takes a line of all images in one request where they fit LDM.
	Batched bool
	// ScalarCycles: im2col, col2im and pooling go value by value, with nothing beside, and an operation takes so many cycles; 0: they
	// use vectors.
	ScalarCycles float64
	// DataParallel: core groups share the images of every layer, and so each goes through all weights (algorithm 1).
	DataParallel bool
	// OnMPE: batch normalisation, scaling, dropout, biases and products with short sums are left to the management cores.
	OnMPE bool
}

// softwares are the programs that WithSoftware knows. 11 cycles are a load, 4, and a floating-point operation that needs it, 7
// (Fang 2019, table 3.2).
var softwares = suggest.Table[Software]{Kind: "software", Kinds: "software", Name: func(s Software) string { return s.Name }, Entries: []Software{
	{Name: "swcaffe"},
	{Name: "swcaffe-2019", BatchOnly: true},
	{Name: "swcaffe-2018", BatchOnly: true, Unbuffered: true, Awaited: true, Batched: true, ScalarCycles: 11, DataParallel: true, OnMPE: true},
}}

// Softwares returns the names that WithSoftware knows, this program's own first.
func Softwares() []string { return softwares.Names() }

// WithSoftware describes the machine running a published program.
func (s Spec) WithSoftware(name string) (Spec, error) {
	w, err := softwares.Find(name)
	if err != nil {
		return s, err
	}
	s.Software = w
	return s, nil
}

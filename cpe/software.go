package cpe

import "github.com/swcaffe/swcaffe/internal/base/suggest"

// Software describes how the kernels of a publication differ from this program's own kernels, whose plans are free. The zero value is this
// program.
//
// Measured times of a machine are those of some program on it. The SW26010's times by layer were published in 2018. Those of whole nets were
// published again in 2019, up to 2.6 times better, on the same chips. What the program of 2018 did is known from its source, which
// DEVIATIONS.md quotes as [CODE]. It is a list of differences, one a field.
type Software struct {
	Name string
	// StandIn: its kernels are not known, and those of swcaffe-2018 are modelled in their place. What is known are published times, of which package
	// trust makes ranges of its own.
	StandIn bool
	// BatchOnly: the implicit convolution computes one position of the images at a time, and needs 128 images per core group forward and 64
	// backward. With fewer, core groups share rows.
	BatchOnly bool
	// Unbuffered: the implicit convolution fetches the weights of every kernel offset when it uses them, multiplies in single precision,
	// waits for every request, and overlaps nothing.
	Unbuffered bool
	// Listed: products run the original's loop in double precision, which loads and stores C in every step of the mesh, and convert value by
	// value.
	Listed bool
	// Unchained: where CPEs have remote access to LDM, products wait until a block of results is stored, too.
	Unchained bool
	// Awaited: im2col and col2im wait for each request before they make the next.
	Awaited bool
	// Grouped: col2im gets several lines of the column matrix in one request where strides are 1, and deals lines to CPEs in runs. The paper of
	// 2018 describes one line at a time, all public versions of the source group them; DEVIATIONS.md (A) compares both.
	Grouped bool
	// Batched: im2col transfers a line of all images in one request if they fit LDM.
	Batched bool
	// ByImage: explicit convolutions start the CPEs' threads anew for the im2col, the col2im and every product of an image.
	ByImage bool
	// ByPoint: Winograd's convolution starts the CPEs' threads anew for every product of a point.
	ByPoint bool
	// ScalarCycles: im2col, col2im and pooling go value by value, overlap nothing, and take this many cycles for an operation; 0: they use
	// vectors.
	ScalarCycles float64
	// DataParallel: core groups share the images of every layer, so that each reads all weights (algorithm 1).
	DataParallel bool
	// LineNorm: BatchNorm deals lines to the CPEs, waits for every request, and keeps its results and deviations in memory.
	LineNorm bool
	// OnMPE: batch normalisation, scaling, dropout, biases and products with short sums run on the management cores.
	OnMPE bool
}

// softwares lists the programs that WithSoftware accepts. 11 cycles are a load, 4, and a dependent floating-point operation, 7 (Fang 2019,
// table 3.2).
var softwares = suggest.Table[Software]{Kind: "software", Kinds: "software", Name: func(s Software) string { return s.Name }, Entries: []Software{
	{Name: "swcaffe"},
	{Name: "swcaffe-2019", BatchOnly: true, ByPoint: true, LineNorm: true},
	published2018,
	grouped2018(),
	standIn2017(),
}}

// published2018 is the program of the paper's tables.
var published2018 = Software{
	Name: "swcaffe-2018", BatchOnly: true, Unbuffered: true, Listed: true, Awaited: true, Batched: true, ByImage: true, ScalarCycles: 11,
	DataParallel: true, OnMPE: true,
}

// grouped2018 is the same program with the col2im of the public source.
func grouped2018() Software {
	s := published2018
	s.Name, s.Grouped = "swcaffe-source", true
	return s
}

// standIn2017 stands for the programs of two logs of 2017, with older kernels and the products of the vendor's library.
func standIn2017() Software {
	s := published2018
	s.Name, s.StandIn = "swcaffe-2017", true
	return s
}

// Softwares returns the names that WithSoftware accepts, this program's own first.
func Softwares() []string { return softwares.Names() }

// WithSoftware returns the machine with a published program's software.
func (s Spec) WithSoftware(name string) (Spec, error) {
	w, err := softwares.Find(name)
	if err != nil {
		return s, err
	}
	s.Software = w
	return s, nil
}

// Measured returns the name under which package trust keeps the errors of this machine's modelled times: the machine's, with the program's where
// its kernels are not known.
func (s Spec) Measured() string {
	if s.Software.StandIn {
		return s.Name + ":" + s.Software.Name
	}
	return s.Name
}

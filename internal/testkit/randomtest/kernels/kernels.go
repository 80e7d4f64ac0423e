// Package kernels draws random problems for single kernels: products, convolutions, pooling, normalisation and streams.
//
// A problem is a line of text: the kernel's shape, the method, the layouts, the seed of the values, and the core groups. Check
// first runs the kernel on one core group and compares the results with a plain reference in float64: direct loops that share no
// code with package kernel. It then runs the kernel a second time, and with every other number of core groups, and expects the
// same bits. Before a run, results hold NaN, unless the kernel adds to them. Guard values surround every array, and the inputs of
// a kernel must not change. On a modelled machine, a problem compares values too, and compares the ledger with that of a machine
// that only counts costs.
//
// The tolerance of a sum of n products is relative to the sum of the products' absolute values. The factor is half a unit in the
// last place, 2^-24, times 8 + 8*sqrt(n), since rounding errors add up like a random walk. Sums of coarse values, multiples of
// 1/4, are exact, with tolerance 0. Winograd convolutions have the tolerance that package kernel states for them.
package kernels

import (
	"math/rand/v2"
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
)

// Kinds returns the kinds of problems, one per family of kernels.
func Kinds() []randomtest.Kind {
	return []randomtest.Kind{
		kind("product", drawProduct, func() form { return &product{} }),
		kind("conv", drawConv, func() form { return &convForm{} }),
		kind("pool", drawPool, func() form { return &poolForm{} }),
		kind("norm", drawNorm, func() form { return &normForm{} }),
		kind("stream", drawStream, func() form { return &streamForm{} }),
	}
}

// On returns the kinds with problems on modelled machines. Theirs are all on the machine of that name, one of Machines.
func On(machine string) []randomtest.Kind {
	kinds := slices.DeleteFunc(Kinds(), func(k randomtest.Kind) bool { return k.Name == "norm" })
	for i := range kinds {
		draw := kinds[i].Random
		kinds[i].Random = func(r *rand.Rand) randomtest.Problem {
			for {
				if p := draw(r).(problem); p.shape.base().Model == machine {
					return p
				}
			}
		}
	}
	return kinds
}

// Machines are the modelled machines of problems.
var Machines = []string{"sw26010", "sw26010_pro", "sw39000"}

// form holds the fields of a problem. It is a pointer to a struct that embeds common; text.go lists the permitted types of
// fields.
type form interface {
	// job prepares the arrays and the reference.
	job() (*job, error)
	base() *common
	// tidy repairs fields that contradict each other after one was made smaller. It is false where this is impossible.
	tidy() bool
	// valid is false for problems that a kernel must refuse.
	valid() bool
}

// common are the fields of all problems.
type common struct {
	Seed    uint64
	Values  string `of:"ordinary,coarse,zeros,special,rounded,stepped"`
	Rounds  bool   // kernels may round factors to bfloat16, if that changes no value
	Bytes   bool   // factors are rounded to 8 bits, if that changes no value, in inference
	Cache   int    // KB of cache of a core group, or of modelled LDM; 0: the machine's
	Shift   int    // offset of arrays from a cache line boundary, in values
	Lend    bool   // lend scratch of the size that the kernel asks for
	Model   string `of:"native,sw26010,sw26010_pro,sw39000"`
	Program string `of:"swcaffe,swcaffe-2019,swcaffe-2018"` // the program that the modelled machine runs
	Threads []randomtest.Threads
}

func (c *common) base() *common { return c }
func (c *common) tidy() bool    { return true }
func (c *common) valid() bool   { return true }

func (c *common) native() bool { return c.Model == "" || c.Model == "native" }

// rounds reports whether kernels may round factors.
func (c *common) rounds() bool { return c.Rounds && (c.Values == "rounded" || exact(c.Values)) }

// bytes reports whether factors are integers.
func (c *common) bytes() bool {
	return c.Bytes && c.native() && (c.Values == "stepped" || c.Values == "coarse")
}

// scales are those that change neither stepped nor coarse values, for some output channels.
func scales(outputs int) *quant.Scales {
	s, err := quant.New(1./64, 100, []float32{1. / 64}, max(0, outputs))
	if err != nil {
		panic(err)
	}
	return s
}

// drawCommon draws the common fields. modelled is the share of problems on modelled machines.
func drawCommon(r *rand.Rand, modelled float64) common {
	c := common{Seed: r.Uint64N(1 << 32), Values: pick(r, "ordinary", "ordinary", "coarse", "coarse", "zeros", "rounded", "stepped")}
	if r.Float64() < modelled {
		c.Model, c.Program = pick(r, "sw26010", "sw26010", "sw26010_pro", "sw39000"), pick(r, "swcaffe", "swcaffe", "swcaffe-2019", "swcaffe-2018")
		c.Cache = pick(r, 0, 0, 0, 32, 8)
		return c
	}
	c.Cache = pick(r, 0, 0, 1024, 256, 48, 2048)
	c.Bytes = c.Values == "stepped" || r.IntN(4) == 0
	c.Rounds = c.Values == "rounded" || r.IntN(4) == 0
	if r.IntN(8) == 0 {
		c.Shift = 1 + r.IntN(15)
	}
	c.Lend = r.IntN(2) == 0
	for range 1 + r.IntN(4)/3 {
		t := randomtest.RandomThreads(r)
		for len(t) > 4 && r.IntN(4) > 0 { // many threads on few processors are slow
			t = randomtest.RandomThreads(r)
		}
		c.Threads = append(c.Threads, t)
	}
	return c
}

// problem implements randomtest.Problem.
type problem struct {
	kind  string
	empty func() form
	shape form
}

func kind(name string, draw func(r *rand.Rand) form, empty func() form) randomtest.Kind {
	return randomtest.Kind{
		Name:   name,
		Random: func(r *rand.Rand) randomtest.Problem { return problem{name, empty, draw(r)} },
		Parse: func(text string) (randomtest.Problem, error) {
			s := empty()
			if err := parse(name, text, s); err != nil {
				return nil, err
			}
			return problem{name, empty, s}, nil
		},
	}
}

// String returns the problem as a line of text.
func (p problem) String() string { return write(p.kind, p.shape) }

// Check implements randomtest.Problem.
func (p problem) Check() error {
	j, err := p.shape.job()
	if err != nil {
		return err
	}
	return j.check(p.shape.base())
}

// Smaller implements randomtest.Problem. A valid problem stays valid.
func (p problem) Smaller() []randomtest.Problem {
	var list []randomtest.Problem
	seen := map[string]bool{p.String(): true}
	for _, change := range changes(p.shape) {
		s := p.empty()
		assign(s, p.shape)
		change(s)
		if !s.tidy() || p.shape.valid() && !s.valid() {
			continue
		}
		q := problem{p.kind, p.empty, s}
		if text := q.String(); !seen[text] {
			seen[text] = true
			list = append(list, q)
		}
	}
	return list
}

// pick draws an element of a list.
func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// extent draws a number from 1 to most. It favours small numbers, and multiples of a vector length and their neighbours.
func extent(r *rand.Rand, most int) int {
	n := 1
	for n < most && r.IntN(5) > 0 {
		n *= 2
	}
	n = 1 + r.IntN(min(n, most))
	if r.IntN(3) == 0 {
		unit := pick(r, 4, 6, 8, 12, 16, 16, 32, 64)
		n = (n+unit-1)/unit*unit + pick(r, 0, 0, 1, -1)
	}
	return max(1, min(n, most))
}

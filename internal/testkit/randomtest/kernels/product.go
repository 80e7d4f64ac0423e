package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
)

// product is a matrix product: C (M x N) = op(A) * op(B), with a bias for every column, or added to C.
type product struct {
	M, N, K        int
	TransA, TransB bool
	Bias           bool
	Entry          string `of:"run,multiplier,inference,sum,start"` // run: Blocked.Run; sum: Sum, adding; start: Sum, overwriting; multiplier: New; inference: NewInference
	common
}

// drawProduct draws any product, or one of an inner product layer: forward, images x outputs, or one of its gradients.
func drawProduct(r *rand.Rand) form {
	p := &product{common: drawCommon(r, 0.1), Entry: pick(r, "run", "multiplier", "multiplier", "inference", "inference", "sum", "start")}
	most := work(r, p.native())
	images, outputs, inputs := extent(r, 10000), extent(r, 4096), extent(r, 10000)
	if r.IntN(2) == 0 {
		outputs = extent(r, 40)
	}
	if most > 10_000_000 { // enough for splitting K among core groups, with few outputs and many images
		outputs, images = 6+r.IntN(60), 300+r.IntN(500)
		inputs = min(10000, 1+(17_000_000+r.IntN(8_000_000))/outputs/images)
		if r.IntN(3) == 0 { // enough for weights to come from memory
			p.M, p.N, p.K = 3+r.IntN(12), 1000+r.IntN(1000), 1100
			p.Bias = r.IntN(2) == 0
			p.tidy()
			return p
		}
	}
	for images*outputs*inputs > most {
		switch n := pick(r, &images, &outputs, &inputs, &inputs); {
		case *n > 20 || images*outputs*inputs > 8*most:
			*n = (*n*3 + 3) / 4
		}
	}
	p.Bias = r.IntN(2) == 0
	of := r.IntN(5)
	if most > 10_000_000 && r.IntN(2) == 0 {
		of = 2
	}
	switch of {
	case 0, 1:
		p.M, p.N, p.K, p.TransB = images, outputs, inputs, r.IntN(4) > 0
	case 2:
		p.M, p.N, p.K, p.TransA, p.Entry = outputs, inputs, images, true, pick(r, "sum", "start")
		if r.IntN(4) == 0 {
			p.M, p.N = p.N, p.M
		}
	case 3:
		p.M, p.N, p.K, p.TransB = images, inputs, outputs, r.IntN(4) == 0
	default:
		p.M, p.N, p.K = images, outputs, inputs
		p.TransA, p.TransB = r.IntN(2) == 0, r.IntN(2) == 0
	}
	if r.IntN(40) == 0 {
		*pick(r, &p.M, &p.N, &p.K) = 0
	}
	if r.IntN(300) == 0 {
		*pick(r, &p.M, &p.N, &p.K) = -1 - r.IntN(20)
	}
	p.tidy()
	return p
}

// work draws the largest number of multiply-adds in a problem, on this computer or a modelled one.
func work(r *rand.Rand, native bool) int {
	switch n := r.IntN(200); {
	case !native:
		return 100_000
	case n < 4:
		return 30_000_000
	case n < 30:
		return 3_000_000
	default:
		return 300_000
	}
}

func (p *product) tidy() bool {
	if p.Entry == "sum" || p.Entry == "start" {
		p.Bias = false
	}
	return true
}

func (p *product) valid() bool { return min(p.M, p.N, p.K) >= 0 }

// sampled is the largest number of multiply-adds in a problem's reference.
const sampled = 2_000_000

func (p *product) job() (*job, error) {
	if !p.valid() {
		return &job{invalid: true, build: func(m *cpe.Machine) (*run, error) { return p.build(m, nil, nil, nil, nil) }}, nil
	}
	r := rand.New(rand.NewPCG(p.Seed, 1))
	a := &array{name: "A", n: p.M * p.K, start: values(r, p.Values, p.M*p.K)}
	b := &array{name: "B", n: p.K * p.N, start: values(r, p.Values, p.K*p.N)}
	c := &array{name: "C", n: p.M * p.N, written: true}
	bias := &array{name: "bias", n: p.N}
	j := &job{arrays: []*array{a, b, c}}
	if p.Bias {
		bias.start = values(r, p.Values, p.N)
		j.arrays = append(j.arrays, bias)
	}
	if p.Entry == "sum" {
		c.start = values(r, p.Values, p.M*p.N)
	}
	p.reference(r, a.start, b.start, bias.start, c)
	j.build = func(m *cpe.Machine) (*run, error) { return p.build(m, a, b, bias, c) }
	return j, nil
}

// reference sets the expected values of C. For a large product these are some elements; the others must be finite numbers.
func (p *product) reference(r *rand.Rand, a, b, bias []float32, c *array) {
	c.want, c.allowed = make([]float64, c.n), make([]float64, c.n)
	every := 1 + c.n*p.K/sampled
	next := 0
	for i := range c.n {
		if c.allowed[i] = math.Inf(1); i < next && i < c.n-1 {
			continue
		}
		next = i + 1 + r.IntN(2*every-1)
		row, col := i/p.N, i%p.N
		var value, size float64
		if c.start != nil {
			value = float64(c.start[i])
		}
		if bias != nil {
			value = float64(bias[col])
		}
		size = math.Abs(value)
		ai, ak, bj, bk := row*p.K, 1, col, p.N
		if p.TransA {
			ai, ak = row, p.M
		}
		if p.TransB {
			bj, bk = col*p.K, 1
		}
		for k := range p.K {
			v := float64(a[ai+k*ak]) * float64(b[bj+k*bk])
			value, size = value+v, size+math.Abs(v)
		}
		if c.want[i], c.allowed[i] = value, 0; !exact(p.Values) {
			c.allowed[i] = rounding(p.K+1, size)
		}
	}
}

func (p *product) build(m *cpe.Machine, a, b, bias, c *array) (*run, error) {
	s := gemm.Shape{M: p.M, N: p.N, K: p.K, TransA: p.TransA, TransB: p.TransB, Accumulate: p.Entry == "sum" || p.Entry == "start"}
	if p.Entry == "multiplier" || p.Entry == "inference" {
		plan := gemm.New
		if p.Entry == "inference" {
			plan = gemm.NewInference
		}
		if p.Entry == "inference" && p.bytes() && !p.TransA {
			plan = func(m *cpe.Machine, s gemm.Shape) (gemm.Kernel, error) {
				return gemm.NewIn(m, s, true, op.Quantised, scales(p.N))
			}
		}
		k, err := plan(m, s)
		if err != nil {
			return nil, err
		}
		return &run{func() error { return k.Run(a.data, b.data, p.biases(bias), c.data) }, k.Scratch()}, nil
	}
	k, err := gemm.NewBlocked(m, s)
	if err != nil {
		return nil, err
	}
	if p.Entry == "run" {
		return &run{func() error { return k.Run(a.data, b.data, p.biases(bias), c.data) }, k.Scratch()}, nil
	}
	return &run{func() error { return k.Sum(a.data, b.data, c.data, p.Entry == "sum") }, k.Scratch()}, nil
}

// biases returns the biases, or nil without biases.
func (p *product) biases(a *array) []float32 {
	if !p.Bias {
		return nil
	}
	return a.data
}

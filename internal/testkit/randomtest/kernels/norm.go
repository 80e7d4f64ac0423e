package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/norm"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
)

// normForm is local response normalisation across channels followed by maximum pooling, forward and backward.
type normForm struct {
	N                   int `least:"1"`
	C                   int `least:"16"`
	H, W                int `least:"1"`
	K, S                int `least:"1"`
	P                   int
	Size                int  `least:"1"`
	Beta                int  `least:"1"` // in hundredths
	ReLU                bool // apply ReLU to outputs
	Before              bool // inputs are the results of a ReLU layer, and its gradient is computed too
	InBlocks, OutBlocks bool
	common
}

func drawNorm(r *rand.Rand) form {
	n := &normForm{common: drawCommon(r, 0), N: extent(r, 6), C: 16 * extent(r, 6), Size: pick(r, 3, 5), Beta: pick(r, 75, 75, 50, 100, 60)}
	side := pick(r, 4, 12, 30, 60)
	n.H, n.W = extent(r, side), extent(r, side)
	n.K, n.S = pick(r, 1, 2, 3, 3, 4, 5), pick(r, 1, 1, 2, 2, 3)
	if r.IntN(2) == 0 {
		n.P = r.IntN(n.K)
	}
	n.ReLU, n.Before = r.IntN(2) == 0, r.IntN(2) == 0
	n.InBlocks, n.OutBlocks = r.IntN(2) == 0, r.IntN(2) == 0
	for most := work(r, true) / 8; n.N*n.C*n.H*n.W > most && max(n.N, n.H, n.W) > 1; {
		*pick(r, &n.N, &n.H, &n.W) /= 2
		n.N, n.H, n.W = max(1, n.N), max(1, n.H), max(1, n.W)
	}
	return n
}

// pool returns the pooling part.
func (n *normForm) pool() *poolForm {
	return &poolForm{
		N: n.N, C: n.C, H: n.H, W: n.W, KH: n.K, KW: n.K, SH: n.S, SW: n.S, PH: n.P, PW: n.P, Method: "max",
		ReLU: n.ReLU, InBlocks: n.InBlocks, OutBlocks: n.OutBlocks,
	}
}

// normJob holds the arrays of a problem.
type normJob struct {
	*normForm
	near               norm.LRN
	p                  *poolForm
	x, y, mask, dy, dx *array
	known              bool // the machine has a kernel for it
}

func (n *normForm) job() (*job, error) {
	p := n.pool()
	j := &normJob{normForm: n, p: p, near: norm.LRN{Size: n.Size, Alpha: 0.5, Beta: float32(n.Beta) / 100, K: 1}}
	if !p.valid() {
		return &job{build: func(*cpe.Machine) (*run, error) { return nil, nil }}, nil
	}
	r := rand.New(rand.NewPCG(n.Seed, 1))
	oh, ow := p.outputs()
	in, out := n.N*n.C*n.H*n.W, n.N*n.C*oh*ow
	j.x = &array{name: "x", n: in, start: values(r, n.Values, in)}
	j.dy = &array{name: "dy", n: out, start: values(r, n.Values, out)}
	j.y, j.dx = &array{name: "y", n: out, written: true}, &array{name: "dx", n: in, written: true}
	j.mask = &array{name: "mask", written: true, open: true}
	return &job{arrays: []*array{j.x, j.y, j.mask, j.dy, j.dx}, build: j.build, judge: j.judge}, nil
}

func (j *normJob) build(m *cpe.Machine) (*run, error) {
	k, err := norm.NewPooled(m, j.near, j.p.shape(j.InBlocks, j.OutBlocks))
	if k == nil || err != nil {
		return nil, err
	}
	j.known = true
	oh, ow := j.p.outputs()
	for _, a := range []*array{j.x, j.dx} {
		if a.whole, a.plane = nil, 0; j.InBlocks {
			a.plane = j.H * j.W
		}
	}
	for _, a := range []*array{j.y, j.dy} {
		if a.whole, a.plane = nil, 0; j.OutBlocks {
			a.plane = oh * ow
		}
	}
	j.mask.n, j.mask.whole = k.MaskWords(), nil
	forward, backward := k.Scratch()
	return &run{func() error {
		mask := pool.Indices(j.mask.data)
		if err := k.Forward(j.x.data, j.y.data, mask); err != nil {
			return err
		}
		return k.Backward(j.x.data, j.dy.data, mask, j.dx.data, j.Before)
	}, max(forward, backward)}, nil
}

// around visits the values in the channel window around value i.
func (j *normJob) around(i int, visit func(k int)) {
	plane := j.H * j.W
	for d := -(j.Size / 2); d <= j.Size/2; d++ {
		if c := i/plane%j.C + d; c >= 0 && c < j.C {
			visit(i + d*plane)
		}
	}
}

// normed returns the scales of all inputs and the results of normalisation.
func (j *normJob) normed() (scale, y []float64) {
	scale, y = make([]float64, j.x.n), make([]float64, j.x.n)
	for i, v := range j.x.start {
		var sum float64
		j.around(i, func(k int) { sum += float64(j.x.start[k]) * float64(j.x.start[k]) })
		scale[i] = float64(j.near.K) + float64(j.near.Alpha)/float64(j.Size)*sum
		y[i] = float64(v) * math.Pow(scale[i], -float64(j.near.Beta))
	}
	return scale, y
}

// powerError is the tolerance of powers, and of values computed from them, in units in the last place.
const powerError = 64

// judge compares maxima and the gradient. If two values of a window differ by less than rounding, either may be the maximum. The
// gradients of both, and of their neighbours, may then be off by the output's gradient.
func (j *normJob) judge() error {
	if !j.known {
		return nil
	}
	scale, y := j.normed()
	const near = powerError * unit
	dn, doubt := newSums(j.x.n), make([]float64, j.x.n)
	j.y.want, j.y.allowed = make([]float64, j.y.n), make([]float64, j.y.n)
	j.p.windows(func(plane, out int, w window) {
		best, at := math.Inf(-1), -1
		w.each(j.W, func(k int) {
			if v := y[plane+k]; v > best {
				best, at = v, k
			}
		})
		dy := float64(j.dy.start[out])
		if at < 0 {
			j.y.want[out] = -math.MaxFloat32
			return
		}
		if best = j.maximum(best, &at); at >= 0 {
			dn.put(plane+at, dy)
		}
		if j.y.want[out], j.y.allowed[out] = best, near*math.Abs(best); at < 0 {
			return // signs are those of the inputs, hence certain
		}
		w.each(j.W, func(k int) {
			if v := y[plane+k]; k != at && best-v <= 2*near*math.Abs(best) && !j.equal(plane+k, plane+at) {
				doubt[plane+k] += math.Abs(dy)
				doubt[plane+at] += math.Abs(dy)
			}
		})
	})
	if err := j.y.compare(); err != nil {
		return err
	}
	j.y.want = nil
	j.gradient(scale, y, dn, doubt)
	err := j.dx.compare()
	j.dx.want = nil
	return err
}

// maximum returns the maximum of a window after ReLU, and its position, -1 if it has none.
func (j *normJob) maximum(best float64, at *int) float64 {
	if j.ReLU && best <= 0 {
		*at = -1
		return 0
	}
	return best
}

// equal reports whether two results are computed from the same values, so that neither can be larger.
func (j *normJob) equal(a, b int) bool {
	if j.x.start[a] != j.x.start[b] {
		return false
	}
	var left, right []float32
	j.around(a, func(k int) { left = append(left, j.x.start[k]*j.x.start[k]) })
	j.around(b, func(k int) { right = append(right, j.x.start[k]*j.x.start[k]) })
	for i := range left {
		if left[i] != right[i] {
			return false
		}
	}
	return true
}

// gradient sets the expected gradient of the inputs.
func (j *normJob) gradient(scale, y []float64, dn sums, doubt []float64) {
	beta, share := float64(j.near.Beta), 2*float64(j.near.Alpha)*float64(j.near.Beta)/float64(j.Size)
	j.dx.want, j.dx.allowed = make([]float64, j.x.n), make([]float64, j.x.n)
	for i, v := range j.x.start {
		power, x := math.Pow(scale[i], -beta), float64(v)
		want, size, open := dn.value[i]*power, dn.size[i]*power, doubt[i]*power
		j.around(i, func(k int) {
			part := share * x * y[k] / scale[k]
			want -= part * dn.value[k]
			size += math.Abs(part) * dn.size[k]
			open += math.Abs(part) * doubt[k]
		})
		if j.dx.want[i], j.dx.allowed[i] = want, powerError*unit*(size+open)+1.01*open; j.Before && !(v > 0) {
			j.dx.want[i], j.dx.allowed[i] = 0, 0
		}
	}
}

package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// poolJob holds the arrays of a pooling.
type poolJob struct {
	*poolForm
	x, y, mask, dy, dx *array
	indices            bool // the mask holds indices
	key                uint64
}

func (p *poolForm) job() (*job, error) {
	if !p.valid() {
		return &job{invalid: true, build: func(m *cpe.Machine) (*run, error) {
			_, err := pool.New(m, p.shape(false, false))
			return nil, err
		}}, nil
	}
	r := rand.New(rand.NewPCG(p.Seed, 1))
	oh, ow := p.outputs()
	in, out := p.N*p.C*p.H*p.W, p.N*p.C*oh*ow
	j := &poolJob{poolForm: p, key: r.Uint64()}
	j.x = &array{name: "x", n: in, start: values(r, p.Values, in)}
	j.dy = &array{name: "dy", n: out, start: values(r, p.Values, out)}
	j.y = &array{name: "y", n: out, written: true}
	j.dx = &array{name: "dx", n: in, written: true}
	j.mask = &array{name: "mask", written: true}
	for i, v := range j.x.start {
		if p.Method == "stochastic" {
			j.x.start[i] = max(v, -v)
		}
		if p.Values == "special" && r.IntN(30) == 0 {
			j.x.start[i] = pick(r, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -math.MaxFloat32, float32(math.Copysign(0, -1)))
		}
	}
	j.expect()
	return &job{arrays: []*array{j.x, j.y, j.mask, j.dy, j.dx}, build: j.build, judge: j.judge}, nil
}

// expect sets the expected results, except for those that depend on random draws.
func (j *poolJob) expect() {
	p := j.poolForm
	s, grads := newSums(j.y.n), newSums(j.dx.n)
	switch {
	case p.Method == "max":
		var places []int
		s.value, places = p.largest(j.x.start)
		grads = p.spread(places, j.dy.start)
	case p.Method == "ave":
		p.windows(func(plane, out int, w window) {
			w.each(p.W, func(at int) {
				s.put(out, float64(j.x.start[plane+at])/float64(w.size))
				grads.put(plane+at, float64(j.dy.start[out])/float64(w.size))
			})
			s.value[out] += 0 / float64(w.size) // NaN for windows without area, as in Caffe
			s.terms[out]++
		})
	case !p.Train:
		j.weighted(s)
	default:
		return
	}
	exact := p.Method == "max" && exact(p.Values)
	j.y.want, j.y.allowed = s.value, s.allowed(p.Method == "max")
	if !p.Train && p.Method == "stochastic" {
		return // this method has no gradient
	}
	j.dx.want, j.dx.allowed = grads.value, grads.allowed(exact)
}

// weighted expects means weighted by the values.
func (j *poolJob) weighted(s sums) {
	j.poolForm.windows(func(plane, out int, w window) {
		var sum, squares float64
		w.each(j.W, func(at int) {
			v := float64(j.x.start[plane+at])
			sum, squares = sum+v, squares+v*v
			s.terms[out] += 2
		})
		if sum > 0 {
			s.value[out], s.size[out] = squares/sum, squares/sum
		}
	})
}

func (j *poolJob) build(m *cpe.Machine) (*run, error) {
	k, err := pool.New(m, j.shape(false, false))
	if err != nil {
		return nil, err
	}
	in, out := j.InBlocks && k.Blocks(), j.OutBlocks && k.Blocks()
	if in || out {
		if k, err = pool.New(m, j.shape(in, out)); err != nil {
			return nil, err
		}
	}
	lay := func(plane int, blocked bool, arrays ...*array) {
		for _, a := range arrays {
			if a.whole, a.plane = nil, 0; blocked {
				a.plane = plane
			}
		}
	}
	oh, ow := j.outputs()
	lay(j.H*j.W, in, j.x, j.dx)
	lay(oh*ow, out, j.y, j.dy)
	j.mask.n, j.mask.whole = k.MaskWords(), nil
	j.indices = j.mask.n == j.y.n && !j.Packed && !in && !out
	j.mask.open = !j.indices
	backward := j.Method != "stochastic" || j.Train
	j.dx.written = backward
	return &run{func() error {
		if err := k.Forward(j.x.data, j.y.data, pool.Indices(j.mask.data), j.key); err != nil || !backward {
			return err
		}
		return k.Backward(j.dy.data, pool.Indices(j.mask.data), j.dx.data)
	}, k.Scratch()}, nil
}

// judge checks the positions that outputs took, and the random draws.
func (j *poolJob) judge() error {
	if !j.indices || j.Method == "ave" || j.Method == "stochastic" && !j.Train {
		return nil
	}
	taken := pool.Indices(j.mask.data)
	var err error
	note := func(out int, format string, args ...any) {
		if err == nil {
			err = fmt.Errorf("output %d: %s", out, fmt.Sprintf(format, args...))
		}
	}
	if j.Method == "max" {
		_, places := j.largest(j.x.start)
		for out, place := range places {
			if int(taken[out]) != place {
				note(out, "took place %d, the reference %d", taken[out], place)
			}
		}
		return err
	}
	grads := newSums(j.dx.n)
	j.windows(func(plane, out int, w window) {
		place, share := int(taken[out]), float64(stream.Uniform(j.key, uint64(out)))
		if w.y0 >= w.y1 || w.x0 >= w.x1 {
			if place != -1 || j.y.data[out] != 0 {
				note(out, "took place %d, value %g, of no input", place, j.y.data[out])
			}
			return
		}
		var all, before, upTo float64
		n, met := 0, false
		w.each(j.W, func(at int) {
			v := float64(j.x.start[plane+at])
			if all, n = all+v, n+1; at < place {
				before += v
			}
			if at <= place {
				upTo += v
			}
			met = met || at == place
		})
		slack := 2 * rounding(n, all)
		if !met || j.y.data[out] != j.x.start[plane+place] || before > share*all+slack || upTo < share*all-slack {
			note(out, "took place %d, value %g; at %g of %g, inputs up to there add up to %g and %g", place, j.y.data[out], share*all, all, before, upTo)
			return
		}
		grads.put(plane+place, float64(j.dy.start[out]))
	})
	j.dx.want, j.dx.allowed = grads.value, grads.allowed(exact(j.Values))
	if err == nil {
		err = j.dx.compare()
	}
	j.dx.want = nil
	return err
}

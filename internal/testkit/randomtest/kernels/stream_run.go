package kernels

import (
	"fmt"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// streamJob holds a Stream's arrays.
type streamJob struct {
	*streamForm
	all       int
	ins, outs []*array
	v, size   []float64 // of all elements: v, and the sum of its terms' absolute values
	kernel    *stream.Kernel
	sums      *array // each as two float32, so that bits are compared as in other arrays
}

func (j *streamJob) inPlace() int {
	if j.InPlace {
		return 1
	}
	return 0
}

// laneCount is the number of values in Row arrays and sums for one index of mid.
func (s *streamForm) laneCount() int {
	if s.InLanes {
		return lanes
	}
	return 1
}

// shapes lists inputs and outputs.
func (s *streamForm) shapes() (ins, outs []stream.Array) {
	for _, list := range []struct {
		n  int
		of stream.Array
	}{{s.Full, stream.Full}, {s.Plane, stream.Plane}, {s.Row, stream.Row}} {
		for range list.n {
			ins = append(ins, list.of)
		}
	}
	for range s.FullOut {
		outs = append(outs, stream.Full)
	}
	for range s.PlaneOut {
		outs = append(outs, stream.Plane)
	}
	return ins, outs
}

// length is the number of values in an array; place is the index of an element's value in it.
func (s *streamForm) length(a stream.Array) int {
	switch a {
	case stream.Plane:
		return s.Outer * s.Inner
	case stream.Row:
		return s.Mid * s.laneCount()
	}
	return s.Outer * s.Mid * s.Inner
}

func (s *streamForm) place(a stream.Array, o, m, i int) int {
	switch a {
	case stream.Plane:
		return o*s.Inner + i
	case stream.Row:
		return m*s.laneCount() + i%s.laneCount()
	}
	return (o*s.Mid+m)*s.Inner + i
}

// prepare makes the arrays and the reference.
func (j *streamJob) prepare(r *rand.Rand) {
	ins, outs := j.shapes()
	for k, a := range ins {
		n := j.length(a)
		j.ins = append(j.ins, &array{name: fmt.Sprintf("input %d", k), n: n, start: values(r, j.Values, n)})
	}
	for k, a := range outs {
		j.outs = append(j.outs, &array{name: fmt.Sprintf("output %d", k), n: j.length(a), written: true})
	}
	if j.InPlace {
		j.ins[0].written = true
		j.outs[0] = j.ins[0]
	}
	j.v = make([]float64, j.all)
	j.size = make([]float64, j.all)
	j.each(func(o, m, i int) {
		at := j.place(stream.Full, o, m, i)
		for k, a := range ins {
			v := float64(k+1) * float64(j.ins[k].start[j.place(a, o, m, i)])
			j.v[at] += v
			j.size[at] += max(v, -v)
		}
	})
	for k, a := range outs {
		s := newSums(j.outs[k].n)
		j.each(func(o, m, i int) {
			at, to := j.place(stream.Full, o, m, i), j.place(a, o, m, i)
			add := func(from int, times float64) {
				s.value[to] += times * j.v[from]
				s.size[to] += times * j.size[from]
				s.terms[to] += len(ins)
			}
			if a == stream.Plane {
				add(at, 1)
				return
			}
			add(at, float64(k+1))
			if j.Near && m > 0 {
				add(at-j.Inner, float64(k+1))
			}
		})
		j.outs[k].want, j.outs[k].allowed = s.value, s.allowed(exact(j.Values))
	}
}

// each visits all elements.
func (s *streamForm) each(visit func(o, m, i int)) {
	for o := range s.Outer {
		for m := range s.Mid {
			for i := range s.Inner {
				visit(o, m, i)
			}
		}
	}
}

func (j *streamJob) build(m *cpe.Machine) (*run, error) {
	ins, outs := j.shapes()
	s := stream.Pass{
		Name: "random", Dims: [3]int{j.Outer, j.Mid, j.Inner}, WholeMid: j.WholeMid, ByMid: j.ByMid, Back: j.Back,
		Ins: ins, Outs: outs, InPlace: j.inPlace(), Sums: j.Sums, Cost: stream.Work{Flops: 2},
	}
	if j.InLanes {
		s.Lanes = lanes
	}
	if j.Near {
		s.Near = 2
	}
	if j.Extra || j.Near {
		s.Scratch = 2
	}
	s.Op = func(t *stream.Tile) { j.op(t, ins, outs) }
	k, err := stream.New(m, s)
	if err != nil {
		return nil, err
	}
	j.kernel = k
	return &run{do: func() error {
		var in, out [][]float32
		for _, a := range j.ins {
			in = append(in, a.data)
		}
		for _, a := range j.outs {
			out = append(out, a.data)
		}
		if err := k.Run(in, out); err != nil || !m.Values() {
			return err
		}
		for i, v := range k.Sums() {
			high := float32(v)
			j.sums.data[2*i], j.sums.data[2*i+1] = high, float32(v-float64(high))
		}
		return nil
	}}, nil
}

// op computes a tile, along mid for every outer index.
func (j *streamJob) op(t *stream.Tile, ins, outs []stream.Array) {
	for o := range t.O {
		for k, a := range outs {
			if a == stream.Plane {
				clear(t.Out[k][o*t.PStride:][:t.I])
			}
		}
		for m := range t.M {
			line := make([]float32, t.I)
			if j.Near {
				line = t.Scratch[0][m%2*t.I:][:t.I]
			} else if j.Extra {
				line = t.Scratch[1][:t.I]
			}
			for i := range line {
				line[i] = 0
				for k, a := range ins {
					line[i] += float32(k+1) * t.In[k][j.inTile(t, a, o, m, i)]
				}
			}
			j.outOf(t, outs, line, o, m)
		}
	}
}

// inTile is the index of an element's value in a tile's array.
func (j *streamJob) inTile(t *stream.Tile, a stream.Array, o, m, i int) int {
	switch a {
	case stream.Plane:
		return o*t.PStride + i
	case stream.Row:
		return m*j.laneCount() + (t.I0+i)%j.laneCount()
	}
	return o*t.OStride + m*t.MStride + i
}

// outOf writes the outputs for a line of v.
func (j *streamJob) outOf(t *stream.Tile, outs []stream.Array, line []float32, o, m int) {
	for i, v := range line {
		for s := range j.Sums {
			t.Sum[(s*t.M+m)*j.laneCount()+(t.I0+i)%j.laneCount()] += float64(s+1) * float64(v)
		}
		near := v
		if j.Near && m > 0 {
			near += t.Scratch[0][(m+1)%2*t.I+i]
		}
		for k, a := range outs {
			if to := &t.Out[k][j.inTile(t, a, o, m, i)]; a == stream.Plane {
				*to += v
			} else {
				*to = float32(k+1) * near
			}
		}
	}
}

// judge compares the sums over outer and inner with the reference.
func (j *streamJob) judge() error {
	got := j.kernel.Sums()
	if len(got) != j.Sums*j.Mid*j.laneCount() {
		return fmt.Errorf("there are %d sums", len(got))
	}
	if j.Sums == 0 {
		return nil
	}
	want := newSums(j.Mid * j.laneCount())
	j.each(func(o, m, i int) {
		to, at := j.place(stream.Row, o, m, i), j.place(stream.Full, o, m, i)
		want.value[to] += j.v[at]
		want.size[to] += j.size[at]
		want.terms[to] += len(j.ins)
	})
	for s := range j.Sums {
		times := float64(s + 1)
		for k, v := range want.value {
			got := got[s*len(want.value)+k]
			if d := got - times*v; !(max(d, -d) <= times*rounding(want.terms[k], want.size[k])) {
				return fmt.Errorf("sum %d of mid %d = %g, the reference is %g", s, k, got, times*v)
			}
		}
	}
	return nil
}

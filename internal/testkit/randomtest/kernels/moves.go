package kernels

import (
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/im2col"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// copyJob copies rows, with gaps between rows on both sides.
func (s *streamForm) copyJob(r *rand.Rand) *job {
	c := stream.CopyShape{
		Outer: s.Outer, Rows: s.Mid, Cols: s.Inner, SrcRow: s.Inner + s.Gap, DstRow: s.Inner + s.Gap/2, Add: s.Add,
	}
	c.SrcOuter, c.DstOuter = s.Mid*c.SrcRow+s.Gap%7, s.Mid*c.DstRow+s.Gap%5
	if s.Back {
		c.SrcOuter = c.SrcRow
		c.SrcRow *= max(1, s.Outer) // room for the rows of all outer indices
	}
	far := (max(1, s.Outer)-1)*c.SrcOuter + (max(1, s.Mid)-1)*c.SrcRow + s.Inner
	near := (max(1, s.Outer)-1)*c.DstOuter + (max(1, s.Mid)-1)*c.DstRow + s.Inner
	src := &array{name: "src", n: far, start: values(r, s.Values, far)}
	dst := &array{name: "dst", n: near, start: values(r, s.Values, near), written: true}
	above := &array{name: "above", n: near, start: values(r, s.Values, near)}
	where := s.Extra && !s.Add && s.native()
	dst.want, dst.allowed = make([]float64, near), make([]float64, near)
	for i, v := range dst.start {
		dst.want[i] = float64(v)
	}
	s.each(func(o, m, i int) {
		from, to := o*c.SrcOuter+m*c.SrcRow+i, o*c.DstOuter+m*c.DstRow+i
		v := float64(src.start[from])
		switch {
		case s.Add:
			v = float64(dst.start[to] + src.start[from])
		case where && !(above.start[to] > 0):
			v = 0
		}
		dst.want[to] = v
	})
	return &job{arrays: []*array{src, dst, above}, build: func(m *cpe.Machine) (*run, error) {
		k, err := stream.NewCopy(m, c)
		if err != nil {
			return nil, err
		}
		return &run{do: func() error { return k.RunWhere(dst.data, src.data, some(above, where)) }}, nil
	}}
}

// rowsJob gathers rows by index, or scatters and adds them.
func (s *streamForm) rowsJob(r *rand.Rand) *job {
	n, rows := s.Outer+s.Mid, 1+s.FullOut*37
	cols := max(1, s.Inner)
	for n*cols > 500_000 {
		n /= 2
	}
	index := make([]int, n)
	for i := range index {
		index[i] = r.IntN(rows)
	}
	few := &array{name: "rows", n: rows * cols, start: values(r, s.Values, rows*cols)}
	many := &array{name: "rows in the index's order", n: n * cols}
	src, dst := few, many
	if s.Extra {
		src, dst = many, few
		many.start = values(r, s.Values, n*cols)
	}
	dst.written = true
	w := newSums(dst.n)
	if s.Extra {
		w.startAt(few.start)
	}
	for k, row := range index {
		for i := range cols {
			if s.Extra {
				w.put(row*cols+i, float64(many.start[k*cols+i]))
			} else {
				w.value[k*cols+i] = float64(few.start[row*cols+i])
			}
		}
	}
	dst.want, dst.allowed = w.value, w.allowed(exact(s.Values))
	return &job{arrays: []*array{few, many}, build: func(m *cpe.Machine) (*run, error) {
		k, err := stream.NewRows(m, cols)
		if err != nil {
			return nil, err
		}
		if s.Extra {
			return &run{do: func() error { return k.Scatter(dst.data, src.data, index) }}, nil
		}
		return &run{do: func() error { return k.Gather(dst.data, src.data, index) }}, nil
	}}
}

// columnsJob spreads images to the columns of a convolution (im2col), or folds columns (col2im).
func (s *streamForm) columnsJob(r *rand.Rand) *job {
	side := func(n int) int { return 1 + n%23 }
	c := &convForm{
		N: 1 + s.Outer%9, C: 1, Out: 1, Group: 1, In: []int{side(s.Mid), side(s.Inner)}, Kernel: []int{1 + s.Full%5, 1 + (s.Full+s.Sums)%5},
		Stride: []int{1 + s.Row, 1 + (s.Row+s.Gap)%3}, Pad: []int{s.Plane, (s.Plane + s.FullOut) % 4}, Dilation: []int{1 + s.PlaneOut, 1 + s.Gap%2},
	}
	out, ok := c.results()
	if !ok {
		return &job{build: func(*cpe.Machine) (*run, error) { return nil, nil }}
	}
	plane, taps, positions := volume(c.In), volume(c.Kernel), volume(out)
	image := &array{name: "image", n: c.N * plane}
	columns := &array{name: "columns", n: c.N * taps * positions}
	from, to := image, columns
	if s.Extra {
		from, to = columns, image
	}
	from.start, to.written = values(r, s.Values, from.n), true
	w := newSums(to.n)
	for n := range c.N {
		for _, t := range c.meetings(out) {
			at, col := n*plane+int(t.input), (n*taps+int(t.offset))*positions+int(t.result)
			if s.Extra {
				w.put(at, float64(columns.start[col]))
			} else {
				w.value[col] = float64(image.start[at])
			}
		}
	}
	to.want, to.allowed = w.value, w.allowed(exact(s.Values))
	return &job{arrays: []*array{image, columns}, build: func(m *cpe.Machine) (*run, error) {
		k := im2col.NewColumns(m, c.shape())
		if s.Extra {
			return &run{do: func() error { return k.Fold(image.data, columns.data) }}, nil
		}
		return &run{do: func() error { return k.Spread(columns.data, image.data) }}, nil
	}}
}

package norm

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers/part"
)

// prepare makes the kernels of the CPE path.
func (l *affine) prepare() (err error) {
	ins, outs := part.Arrays(1, stream.Row), part.Arrays(1)
	if l.scaled && l.biased {
		ins = append(ins, stream.Row)
	}
	if l.scaled && l.inPlace {
		outs = part.Arrays(2)
	}
	streams := part.StreamsOf(&l.Base)
	pass := func(what string, s stream.Pass, visit part.RowOp) *stream.Kernel {
		s.Name, s.Op = l.Param.GetType()+what, part.ByRow(visit)
		return streams.Make(part.BlockedStream(s, l.dims, l.blocked))
	}
	forward, sums, backward := l.rows()
	l.forward = pass("", stream.Pass{Ins: ins, Outs: outs, Cost: stream.Work{Flops: float64(len(ins) - 1)}}, l.steps.After(forward))
	l.sums = pass(" weight gradient", stream.Pass{Ins: part.Arrays(2), Sums: 2, Cost: stream.Work{Flops: 3}}, sums)
	if l.scaled {
		l.backward = pass(" gradient", stream.Pass{Ins: part.Arrays(1, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1}}, backward)
	}
	if streams.Err != nil || l.scaled {
		return streams.Err
	}
	l.move, err = part.NewMover(&l.Base, 1, blob.CountOf(l.dims[:]...))
	return err
}

// rows returns the row functions of the kernels for the present layout.
func (l *affine) rows() (forward, sums, backward part.RowOp) {
	if l.blocked {
		return l.forwardBlock, sumBlock, scaleBlock
	}
	return l.forwardRow, sumRow, scaleFirst
}

// scaleRow multiplies a row by its factor. If inner is 1, each value has a factor of its own.
func scaleRow(dst, src, factors []float32, inner, m int) {
	if inner == 1 {
		vec.Mul(dst, src, factors)
		return
	}
	vec.Scale(dst, src, factors[m])
}

// scaleFirst multiplies a row of the first input by the factors in the second.
func scaleFirst(t *stream.Tile, at, n, m int) {
	scaleRow(t.Out[0][at:at+n], t.In[0][at:], t.In[1], t.I, m)
}

// forwardRow computes y = x * s + b, with s, b or both. If the layer runs in place, it copies x to the second output for Backward.
func (l *affine) forwardRow(t *stream.Tile, at, n, m int) {
	y, x, last := t.Out[0][at:at+n], t.In[0][at:at+n], t.In[len(t.In)-1]
	if len(t.Out) > 1 {
		copy(t.Out[1][at:], x)
	}
	switch {
	case !l.biased:
		scaleRow(y, x, last, t.I, m)
	case l.scaled:
		scaleShift(y, x, t.In[1], last, t.I, m)
	case t.I == 1:
		vec.Add(y, x, last)
	default:
		vec.AddScalar(y, x, last[m])
	}
}

// scaleShift writes x * s + b of a row, or x * s if b is nil. If inner is 1, each value has an s and b of its own.
func scaleShift(y, x, s, b []float32, inner, m int) {
	switch {
	case b == nil:
		scaleRow(y, x, s, inner, m)
	case inner == 1:
		vec.Mul(y, x, s)
		vec.Add(y, y, b)
	default:
		vec.Affine(y, x, s[m], b[m])
	}
}

// sumRow adds dy*x to sum 0 and dy to sum 1.
func sumRow(t *stream.Tile, at, n, m int) {
	sumProducts(t, t.In[0][at:at+n], t.In[1][at:at+n], m)
}

func sumProducts(t *stream.Tile, dy, x []float32, m int) {
	if t.I > 1 {
		t.Sum[m] += vec.Dot(dy, x)
		t.Sum[t.M+m] += vec.Sum(dy)
		return
	}
	n := len(dy)
	vec.ColumnProducts(t.Sum[:n], dy, x)
	vec.ColumnSums(t.Sum[t.M:t.M+n], dy)
}

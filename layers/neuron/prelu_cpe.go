package neuron

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers/part"
)

// prepare makes the kernels of the CPE path. A single slope is that of one channel, whatever the layout.
func (l *prelu) prepare() error {
	outs := part.Arrays(1)
	if l.inPlace {
		outs = part.Arrays(2)
	}
	forward, sums, backward := preluRow, preluSumRow, preluGradRow
	if l.lanes() {
		forward, sums, backward = preluBlock, preluSumBlock, preluGradBlock
	}
	streams := part.StreamsOf(&l.Base)
	pass := func(what string, s stream.Pass, visit part.RowOp) *stream.Kernel {
		s.Name, s.Op = "PReLU"+what, part.ByRow(visit)
		return streams.Make(part.BlockedStream(s, l.dims, l.lanes()))
	}
	l.forward = pass("", stream.Pass{Ins: part.Arrays(1, stream.Row), Outs: outs, Cost: stream.Work{Flops: 2}}, forward)
	l.sums = pass(" slope gradient", stream.Pass{Ins: part.Arrays(2), Sums: 1, Scratch: 1, Cost: stream.Work{Flops: 4}}, sums)
	l.backward = pass(" gradient", stream.Pass{Ins: part.Arrays(2, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 2}}, backward)
	return streams.Err
}

// lanes reports whether kernels get channels in blocks, with a slope for each lane.
func (l *prelu) lanes() bool { return l.blocked && !l.shared }

// preluRow reads arrays x and a. It writes y and, if there is a second output, a copy of x.
func preluRow(t *stream.Tile, at, n, m int) {
	x, y, a := preluForward(t, at, n)
	if t.I > 1 {
		vec.ReLU(y, x, a[m])
		return
	}
	vec.PReLU(y, x, a[m:])
}

// preluBlock is preluRow for channels in blocks.
func preluBlock(t *stream.Tile, at, n, m int) {
	x, y, a := preluForward(t, at, n)
	vnorm.BlockLeaky(y, x, part.LanesOf(a, m))
}

// preluForward returns the arrays of a row of the forward pass, and copies x if it is to be kept.
func preluForward(t *stream.Tile, at, n int) (x, y, a []float32) {
	x = t.In[0][at : at+n]
	for _, saved := range t.Out[1:] {
		copy(saved[at:], x)
	}
	return x, t.Out[0][at : at+n], t.In[1]
}

// preluSumRow sums dy * min(x, 0) from arrays dy and x.
func preluSumRow(t *stream.Tile, at, n, m int) {
	dy, x, sum := t.In[0][at:at+n], t.In[1][at:at+n], t.Sum[m:]
	below := t.Scratch[0][:n]
	vec.Fill(below, 0)
	vec.Min(below, below, x)
	if t.I > 1 {
		sum[0] += vec.Dot(dy, below)
		return
	}
	vec.ColumnProducts(sum[:n], dy, below)
}

// preluSumBlock is preluSumRow for channels in blocks.
func preluSumBlock(t *stream.Tile, at, n, m int) {
	vnorm.BlockLeakySums(t.Sum[part.Lanes(true)*m:], t.In[0][at:at+n], t.In[1][at:at+n])
}

// preluGradRow reads arrays dy, x and a, and writes dx.
func preluGradRow(t *stream.Tile, at, n, m int) {
	dx, dy, x, a := t.Out[0][at:at+n], t.In[0][at:at+n], t.In[1][at:at+n], t.In[2][m:]
	if t.I > 1 {
		vec.ReLUGrad(dx, dy, x, a[0])
		return
	}
	vec.PReLUGrad(dx, dy, x, a)
}

// preluGradBlock is preluGradRow for channels in blocks.
func preluGradBlock(t *stream.Tile, at, n, m int) {
	vnorm.BlockLeakyGrad(t.Out[0][at:at+n], t.In[0][at:at+n], t.In[1][at:at+n], part.LanesOf(t.In[2], m))
}

// preluFinish is the Finisher of a PReLU layer.
type preluFinish struct {
	layer  *prelu
	slopes []float32
}

// ByChannel implements Finisher.
func (f *preluFinish) ByChannel() bool { return !f.layer.shared }

// Hold implements Finisher.
func (f *preluFinish) Hold([]*blob.Blob) { f.slopes = f.layer.Weights[0].Data() }

// Finish implements Finisher.
func (f *preluFinish) Finish(y []float32, _, first int) {
	switch l := f.layer; {
	case l.shared:
		vec.ReLU(y, y, f.slopes[0])
	case l.blocked:
		vnorm.BlockLeaky(y, y, part.LanesOf(f.slopes, first))
	case l.dims[2] > 1:
		vec.ReLU(y, y, f.slopes[first])
	default:
		vec.PReLU(y, y, f.slopes[first:])
	}
}

package vision

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "LRN", Doc: "local response normalisation across channels or within a channel",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			base := layers.Base{Param: p, Device: d}
			if p.GetLrnParam().GetNormRegion() == caffepb.LRNParameter_WITHIN_CHANNEL {
				return &lrnWithin{Base: base}
			}
			return &lrnAcross{Base: base}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// lrnSize reads local_size, which must be odd.
func lrnSize(p *caffepb.LRNParameter, bottom *blob.Blob) (int, error) {
	size := int(p.GetLocalSize())
	switch {
	case size < 0: // an int of 32 bits
		return 0, fmt.Errorf("local_size must be at most %d, it is %d", math.MaxInt, p.GetLocalSize())
	case size%2 == 0:
		return 0, fmt.Errorf("LRN only supports odd values for local_size, it is %d", size)
	}
	return size, part.CheckImages(bottom)
}

// lrnAcross is Caffe's LRN layer across channels (Krizhevsky et al. 2012). With n = local_size and sums over the n channels around c:
//
//	s(c) = k + alpha/n * sum of x^2,   y = x * s^-beta,
//	dx(c) = dy(c)*s(c)^-beta - 2*alpha*beta/n * x(c) * sum of dy*y/s.
//
// Backward recomputes s and y, so that neither is kept.
type lrnAcross struct {
	layers.Base
	size           int
	alpha, beta, k float32
	dims           [3]int
	blocked        bool
	relu           bool // Backward also applies that of the ReLU layer on the bottom
	run, grad      *stream.Kernel
	ins            [2][]float32
	outs           [1][]float32
}

func (l *lrnAcross) SetUp(bottom, _ []*blob.Blob) (err error) {
	p := l.Param.GetLrnParam()
	l.alpha, l.beta, l.k = p.GetAlpha(), p.GetBeta(), p.GetK()
	l.size, err = lrnSize(p, bottom[0])
	return err
}

func (l *lrnAcross) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	dims, err := part.SplitAxis(bottom[0], 1)
	if err != nil || l.dims == dims {
		return err
	}
	l.dims = dims
	if l.MPE() {
		return nil
	}
	return l.prepare()
}

// prepare makes the kernels of the CPE path. A modelled CPE squares or divides each value once and keeps the result in scratch arrays. On
// the host squaring values in L1 again is faster.
func (l *lrnAcross) prepare() error {
	run := stream.Pass{
		Name: "LRN", WholeMid: true, Near: l.size, Ins: part.Arrays(1), Outs: part.Arrays(1), Scratch: 2,
		Cost: stream.Work{Flops: float64(l.size + 3), Specials: 2}, Op: l.forwardTile,
	}
	grad := stream.Pass{
		Name: "LRN gradient", WholeMid: true, Near: l.size, Ins: part.Arrays(2), Outs: part.Arrays(1), Scratch: 3,
		Cost: stream.Work{Flops: float64(2*l.size + 9), Specials: 3}, Op: l.backwardTile,
	}
	if l.blocked {
		run.Near, run.Op = 3, l.forwardBlocks
		grad.Near, grad.Op = 3, l.backwardBlocks
	}
	streams := part.StreamsOf(&l.Base)
	l.run = streams.Make(part.BlockedStream(run, l.dims, l.blocked))
	l.grad = streams.Make(part.BlockedStream(grad, l.dims, l.blocked))
	return streams.Err
}

// scales writes s of row m, the values of one outer index and one channel, from the squares of the neighbouring rows.
func (l *lrnAcross) scales(s []float32, t *stream.Tile, x []float32, m int) {
	first, last := max(0, m-l.size/2), min(t.M-1, m+l.size/2)
	vnorm.SumSquaresOfRows(s, x[first*t.MStride:], t.MStride, last-first+1, l.alpha/float32(l.size), l.k)
}

// forwardTile computes y of a tile, channel after channel.
func (l *lrnAcross) forwardTile(t *stream.Tile) {
	s := t.Scratch[0][:t.I]
	for o := range t.O {
		x := t.In[0][o*t.OStride:]
		for m := range t.M {
			at := m * t.MStride
			l.scales(s, t, x, m)
			vec.MulPow(t.Out[0][o*t.OStride+at:][:t.I], x[at:][:t.I], s, -l.beta)
		}
	}
}

// backwardTile computes dx of a tile, channel after channel. It keeps the last local_size rows of dy*y/s in a ring, with rows of zeros
// before the first channel and after the last. dx(c) gets its first term with row c, and its second once row c + local_size/2 is known. If
// there are fewer channels than local_size, the ring holds all of them; a longer ring would only add zeros.
func (l *lrnAcross) backwardTile(t *stream.Tile) {
	half, slots := min(l.size/2, t.M), min(l.size, t.M)
	ring, s := t.Scratch[0][:slots*t.I], t.Scratch[1][:t.I]
	for o := range t.O {
		row := func(data []float32, m int) []float32 { return data[o*t.OStride+m*t.MStride:][:t.I] }
		clear(ring)
		for m := range t.M + half {
			switch ratio := ring[m%slots*t.I:][:t.I]; {
			case m < t.M:
				l.scales(s, t, t.In[1][o*t.OStride:], m)
				vnorm.PowRatio(row(t.Out[0], m), ratio, row(t.In[0], m), row(t.In[1], m), s, -l.beta)
			case slots == l.size:
				clear(ratio)
			}
			if c := m - half; c >= 0 {
				first, rows := 0, slots
				if slots < l.size {
					first = max(0, c-half)
					rows = min(t.M, c+half+1) - first
				}
				vnorm.MulAddRows(row(t.Out[0], c), row(t.In[1], c), ring[first*t.I:], t.I, rows, -2*l.alpha*l.beta/float32(l.size))
				l.rectify(row(t.Out[0], c), row(t.In[1], c))
			}
		}
	}
}

func (l *lrnAcross) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if !l.MPE() {
		l.ins[0], l.outs[0] = x, y
		return l.run.Run(l.ins[:1], l.outs[:])
	}
	l.eachWindow(func(at int, window func(visit func(at int))) {
		y[at] = float32(float64(x[at]) * math.Pow(l.scale(x, window), -float64(l.beta)))
	})
	return nil
}

// scale returns s of the element whose window is given.
func (l *lrnAcross) scale(x []float32, window func(visit func(at int))) float64 {
	var sum float64
	window(func(at int) { sum += float64(x[at]) * float64(x[at]) })
	return float64(l.k) + float64(l.alpha)/float64(l.size)*sum
}

// eachWindow visits every element, with a function that visits the elements of the channels around it.
func (l *lrnAcross) eachWindow(visit func(at int, window func(visit func(at int)))) {
	channels, inner := l.dims[1], l.dims[2]
	for at := range l.dims[0] * channels * inner {
		c := at / inner % channels
		visit(at, func(visit func(at int)) {
			for k := max(0, c-l.size/2); k <= min(channels-1, c+l.size/2); k++ {
				visit(at + (k-c)*inner)
			}
		})
	}
}

// rectify applies the Backward of a ReLU layer before this layer, if there is one, to dx. x is the ReLU layer's result.
func (l *lrnAcross) rectify(dx, x []float32) {
	if l.relu {
		vec.ReLUGrad(dx, dx, x, 0)
	}
}

// Traits implements Planned. Backward recomputes y from x. With channels in blocks a window may reach only the neighbouring blocks.
func (l *lrnAcross) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Tops: true}, Joins: layers.Joins{ReLUGrad: l.Blockable()}}
	if vnorm.HasNear(l.size) {
		t.Layout = l.InBlocks(4, l.dims)
	}
	return t
}

// Arrange implements Planned.
func (l *lrnAcross) Arrange(a layers.Arranged) error {
	if l.relu = a.ReLUGrad.Has(0); l.blocked == a.In.Blocks {
		return nil
	}
	l.blocked = a.In.Blocks
	return l.prepare()
}

func (l *lrnAcross) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	x, dy, dx := bottom[0].Data(), top[0].Diff(), bottom[0].Diff()
	if !l.MPE() {
		l.ins, l.outs[0] = [2][]float32{dy, x}, dx
		return l.grad.Run(l.ins[:], l.outs[:])
	}
	s := make([]float64, len(x))
	l.eachWindow(func(at int, window func(visit func(at int))) { s[at] = l.scale(x, window) })
	beta := float64(l.beta)
	l.eachWindow(func(at int, window func(visit func(at int))) {
		var sum float64
		window(func(at int) { sum += float64(dy[at]) * float64(x[at]) * math.Pow(s[at], -beta-1) })
		dx[at] = float32(float64(dy[at])*math.Pow(s[at], -beta) - 2*float64(l.alpha)*beta/float64(l.size)*float64(x[at])*sum)
	})
	return nil
}

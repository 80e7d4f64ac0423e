package layers

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// normChain is a BatchNorm layer, the Scale layer behind it and, if there is one, the ReLU behind that, computed together: of the
// batch it takes its statistics in one pass and y = relu(gamma * xn + beta), xn = (x - mean) * scale, in a second one. Backward
// reads x and dy alone, twice: with g = dy where y > 0,
//
//	dgamma = sum(g * xn),  dbeta = sum(g),
//	dx = gamma * scale * (g - mean(g) - mean(g * xn) * xn),
//
// where the means are left out if mean and scale are stored ones. Forward gives the values of the three layers bit by bit,
// Backward up to the rounding of sums that are taken in another order (a part in 10^6).
type normChain struct {
	Base
	norm      *batchNorm
	scale     *affine
	rectified bool
	slope     float32 // ReLU's below zero

	dims                    [3]int
	forward, sums, backward *kernel.StreamKernel
	a, b, c                 []float32 // dx = a*g + b*xn + c, by mid
	ins                     [9][]float32
	outs                    [1][]float32
}

// Fuse implements Fuser for a Scale layer whose factors are weights, one a channel.
func (l *batchNorm) Fuse(next Layer) Layer {
	s, ok := next.(*affine)
	if !ok || l.mpe() || !s.scaled || s.fromBottom || s.dims != l.normaliser.dims {
		return nil
	}
	return &normChain{Base: Base{Param: l.Param, Device: l.Device}, norm: l, scale: s}
}

// Fuse implements Fuser for a ReLU layer.
func (l *normChain) Fuse(next Layer) Layer {
	slope, ok := reluSlope(next)
	if !ok || l.rectified {
		return nil
	}
	return &normChain{Base: l.Base, norm: l.norm, scale: l.scale, rectified: true, slope: slope}
}

func (l *normChain) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *normChain) Reshape(bottom, top []*blob.Blob) error {
	if err := l.norm.Reshape(bottom, top); err != nil || l.dims == l.norm.normaliser.dims {
		return err
	}
	l.dims = l.norm.normaliser.dims
	mid := l.dims[1]
	l.a, l.b, l.c = make([]float32, mid), make([]float32, mid), make([]float32, mid)
	return l.prepare()
}

// prepare makes the kernels. Their inputs are x, mean, scale, gamma and, where there is one, beta; behind them dy; and a, b, c.
func (l *normChain) prepare() (err error) {
	full, row := kernel.Full, kernel.Row
	one, ins := []kernel.Array{full}, []kernel.Array{full, row, row, row}
	if l.scale.biased {
		ins = append(ins, row)
	}
	flops := float64(len(ins))
	grad := append(slices.Clone(ins), full)
	stream := func(what string, s kernel.Stream, visit func(t *kernel.Tile, at, n, m int)) *kernel.StreamKernel {
		if err != nil {
			return nil
		}
		s.Name, s.Dims = "BatchNorm and Scale"+what, l.dims
		s.Op = func(t *kernel.Tile) {
			eachRow(t, func(at, n, m int) { eachPiece(t, at, n, func(at, n int) { visit(t, at, n, m) }) })
		}
		var k *kernel.StreamKernel
		k, err = kernel.NewStream(l.Device.Machine, s)
		return k
	}
	l.forward = stream("", kernel.Stream{Ins: ins, Outs: one, Cost: kernel.Work{Flops: flops}}, l.forwardRow)
	l.sums = stream(" gradient sums", kernel.Stream{Ins: grad, Sums: 2, Scratch: 2, Cost: kernel.Work{Flops: flops + 4}}, l.sumRow)
	l.backward = stream(" gradient", kernel.Stream{
		Ins: append(slices.Clone(grad), row, row, row), Outs: one, Scratch: 2, Cost: kernel.Work{Flops: flops + 5},
	}, l.backwardRow)
	return err
}

// pieceValues is how much of a row is worked on at a time where several operations go over it: a few such pieces fit in L1.
const pieceValues = 2 << 10

// eachPiece visits a row of n values piece by piece; where inner is one value and the row has one of each mid, all at once.
// The last piece is the longest, so that none is shorter than a vector.
func eachPiece(t *kernel.Tile, at, n int, visit func(at, n int)) {
	for t.I > 1 && n >= 2*pieceValues {
		visit(at, pieceValues)
		at, n = at+pieceValues, n-pieceValues
	}
	visit(at, n)
}

// normalised writes xn of a row.
func (l *normChain) normalised(xn []float32, t *kernel.Tile, at, m int) {
	normalise(xn, t.In[0][at:at+len(xn)], t.In[1], t.In[2], t.I, m)
}

// scaled writes gamma * xn + beta.
func (l *normChain) scaled(y, xn []float32, t *kernel.Tile, m int) {
	var beta []float32
	if l.scale.biased {
		beta = t.In[4]
	}
	scaleShift(y, xn, t.In[3], beta, t.I, m)
}

func (l *normChain) forwardRow(t *kernel.Tile, at, n, m int) {
	y := t.Out[0][at : at+n]
	l.normalised(y, t, at, m)
	l.scaled(y, y, t, m)
	if l.rectified {
		simd.ReLU(y, y, l.slope)
	}
}

// gradRow returns xn and g of a row.
func (l *normChain) gradRow(t *kernel.Tile, at, n, m int) (xn, g []float32) {
	xn, g = t.Scratch[0][:n], t.Scratch[1][:n]
	l.normalised(xn, t, at, m)
	dy := t.In[l.gradient()][at : at+n]
	if !l.rectified {
		return xn, dy
	}
	l.scaled(g, xn, t, m)
	simd.ReLUGrad(g, dy, g, l.slope)
	return xn, g
}

// gradient is the index of dy among the inputs.
func (l *normChain) gradient() int {
	if l.scale.biased {
		return 5
	}
	return 4
}

// sumRow adds g*xn to sum 0 and g to sum 1.
func (l *normChain) sumRow(t *kernel.Tile, at, n, m int) {
	xn, g := l.gradRow(t, at, n, m)
	sumProducts(t, g, xn, m)
}

func (l *normChain) backwardRow(t *kernel.Tile, at, n, m int) {
	xn, g := l.gradRow(t, at, n, m)
	dx, factors := t.Out[0][at:at+n], t.In[l.gradient()+1:]
	if t.I == 1 {
		simd.Mul(dx, g, factors[0])
		simd.Add(dx, dx, factors[1])
		simd.MulAdd(dx, xn, factors[2])
		return
	}
	simd.Affine(dx, g, factors[0][m], factors[1][m])
	simd.Axpy(dx, xn, factors[2][m])
}

// inputs lists x, mean, scale, gamma and beta.
func (l *normChain) inputs(x []float32) [][]float32 {
	n := &l.norm.normaliser
	gamma, beta := l.scale.operands(nil)
	ins := append(l.ins[:0], x, n.mean, n.scale, gamma)
	if l.scale.biased {
		ins = append(ins, beta)
	}
	return ins
}

func (l *normChain) Forward(bottom, top []*blob.Blob) error {
	x := bottom[0].Data()
	if l.norm.global {
		l.norm.useStored()
	} else if err := l.norm.useBatch(x); err != nil {
		return err
	}
	l.outs[0] = top[0].Data()
	return l.forward.Run(l.inputs(x), l.outs[:])
}

// BackwardReads implements BackwardReader: all is computed from x.
func (l *normChain) BackwardReads() (bottoms, tops bool) { return true, false }

func (l *normChain) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	ins := append(l.inputs(bottom[0].Data()), top[0].Diff())
	if err := l.sums.Run(ins, nil); err != nil {
		return err
	}
	mid := l.dims[1]
	products, sums := l.sums.Sums()[:mid], l.sums.Sums()[mid:]
	l.scale.addGrads(products, sums)
	if !propagateDown[0] {
		return nil
	}
	l.factors(products, sums)
	l.outs[0] = bottom[0].Diff()
	return l.backward.Run(append(ins, l.a, l.b, l.c), l.outs[:])
}

// factors sets a, b and c from the sums of g*xn and g.
func (l *normChain) factors(products, sums []float64) {
	n := &l.norm.normaliser
	gamma, _ := l.scale.operands(nil)
	for m := range l.a {
		scale := float64(gamma[m]) * float64(n.scale[m])
		l.a[m], l.b[m], l.c[m] = float32(scale), 0, 0
		if !l.norm.global {
			l.b[m], l.c[m] = float32(-scale*sums[m]/n.count()), float32(-scale*products[m]/n.count())
		}
	}
}

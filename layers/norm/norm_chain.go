package norm

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// normChain computes BatchNorm, Scale and an optional ReLU together. Forward takes the batch's statistics in a first pass and computes y =
// relu(gamma * xn + beta), xn = (x - mean) * scale, in a second. Backward reads x and dy twice: with g the gradient of
// the ReLU's bottom, dy where y > 0, else the negative slope times dy,
//
//	dgamma = sum(g * xn),  dbeta = sum(g),
//	dx = gamma * scale * (g - mean(g) - mean(g * xn) * xn).
//
// The two means are omitted if mean and scale are stored statistics. Forward gives the three layers' values bit for bit. Backward differs
// by a part in 10^6, since it sums in another order.
type normChain struct {
	layers.Base
	norm      *batchNorm
	scale     *affine
	rectified bool
	slope     float32  // ReLU's negative slope
	sum       *normSum // if not nil, the normSum that adds another bottom to y
	finish    chainFinish
	steps     part.Steps

	dims                    [3]int
	forward, sums, backward *stream.Kernel

	// Both passes of a direction in one kernel, if a channel's values stay in a cache between them; else nil.
	forwardByMid, backwardByMid *stream.Kernel

	a, b, c []float32 // dx = a*g + b + c*xn by channel; with channels in blocks dx = a * (g - b - c*xn)
	ins     [10][]float32
	outs    [2][]float32
}

func init() {
	layers.RegisterFusion(layers.Fusion{Name: "norm-scale", Fuse: fuseNormScale})
	layers.RegisterFusion(layers.Fusion{Name: "norm-relu", Fuse: fuseNormReLU})
}

// fuseNormScale combines BatchNorm with a Scale layer that has one weight per channel.
func fuseNormScale(first, second layers.Layer) layers.Layer {
	l, ok := first.(*batchNorm)
	s, scales := second.(*affine)
	if !ok || !scales || l.MPE() || !s.scaled || s.fromBottom || s.dims != l.normaliser.dims {
		return nil
	}
	return &normChain{Base: layers.Base{Param: l.Param, Device: l.Device}, norm: l, scale: s}
}

// fuseNormReLU combines a normChain with the ReLU layer after its Scale layer.
func fuseNormReLU(first, second layers.Layer) layers.Layer {
	l, ok := first.(*normChain)
	relu := layers.TraitsOf(second).Is.ReLU
	if !ok || relu == nil || l.rectified {
		return nil
	}
	return &normChain{Base: l.Base, norm: l.norm, scale: l.scale, rectified: true, slope: relu.Slope}
}

func (l *normChain) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *normChain) Reshape(bottom, top []*blob.Blob) error {
	if err := l.norm.Reshape(bottom, top); err != nil || l.dims == l.norm.normaliser.dims {
		return err
	}
	l.dims = l.norm.normaliser.dims
	mid := l.dims[1]
	l.a, l.b, l.c = pages.Make[float32](mid), pages.Make[float32](mid), pages.Make[float32](mid)
	return l.prepare()
}

// prepare makes the kernels. Forward's inputs are x, mean, scale, gamma, beta if there is one, and the other bottom of a sum. Backward
// reads dy in the place of that bottom, then a, b and c. For a rectified sum in planes it also reads y, whose sign masks dy, and writes g.
func (l *normChain) prepare() error {
	full, row := stream.Full, stream.Row
	one, ins := []stream.Array{full}, []stream.Array{full, row, row, row}
	if l.scale.biased {
		ins = append(ins, row)
	}
	flops, scratches := float64(len(ins)), 0
	if l.dims[2] == 1 && !l.blocked() {
		scratches = 2
	}
	grad := append(slices.Clone(ins), full)
	streams := part.StreamsOf(&l.Base)
	pass := func(what string, s stream.Pass, op func(t *stream.Tile)) *stream.Kernel {
		s.Name, s.Op = "BatchNorm and Scale"+what, op
		return streams.Make(part.BlockedStream(s, l.dims, l.blocked()))
	}
	forward, sums, backward := l.rows()
	if l.sum != nil {
		ins = append(slices.Clone(ins), full)
	}
	l.forward = pass("", stream.Pass{Ins: ins, Outs: one, Back: true, Cost: stream.Work{Flops: flops}}, part.ByRow(l.steps.After(forward)))
	back := stream.Pass{Ins: append(slices.Clone(grad), row, row, row), Outs: one, Scratch: scratches, Back: true, Cost: stream.Work{Flops: flops + 5}}
	l.backward = pass(" gradient", back, part.ByRow(backward))
	first := stream.Pass{Ins: grad, Sums: 2, Scratch: scratches, Cost: stream.Work{Flops: flops + 4}}
	if l.masks() {
		first.Outs, back.Outs = one, []stream.Array{full, full}
		if !l.sum.remembersSigns() {
			first.Ins, back.Ins = append(first.Ins, full), append(back.Ins, full)
		}
	}
	l.sums = pass(" gradient sums", first, part.ByRow(sums))
	l.forwardByMid, l.backwardByMid = nil, nil
	if l.staysByMid(1) {
		l.forwardByMid = pass("", stream.Pass{Ins: ins, Outs: one, Sums: 2, ByMid: true}, l.forwardMids)
	}
	if l.staysByMid(2) {
		back.Sums, back.ByMid, back.Back = 2, true, false
		l.backwardByMid = pass(" gradient", back, l.backwardMids)
	}
	return streams.Err
}

// staysByMid reports whether the given number of arrays stay in a cache between the two passes over a channel. In planes a channel's values
// must fit a core's own cache. A block of channels holds 16 times as much and may lie in the shared cache; this pays off if there are
// enough blocks to keep many cores busy.
func (l *normChain) staysByMid(arrays int) bool {
	s := part.BlockedStream(stream.Pass{}, l.dims, l.blocked())
	return l.blocked() && s.Dims[1] >= manyBlocks || stream.StaysByMid(l.Device.Machine, s.Dims, arrays)
}

// manyBlocks is the number of blocks that keeps busy as many cores as memory can feed.
const manyBlocks = 16

// rows returns the row functions of the kernels for the present layout.
func (l *normChain) rows() (forward, sums, backward part.RowOp) {
	if l.blocked() {
		return l.forwardBlock, l.sumBlock, l.backwardBlock
	}
	return l.forwardRow, l.sumRow, l.backwardRow
}

// forwardMids runs both forward passes over a few channels, or blocks of them.
func (l *normChain) forwardMids(t *stream.Tile) {
	n, moments := &l.norm.normaliser, l.momentsRow
	if l.blocked() {
		moments = l.momentsBlock
	}
	forward, _, _ := l.rows()
	forward = l.steps.After(forward)
	t.EachRow(func(at, n, m int) { moments(t, at, n, m) })
	first, count := l.channels(t)
	for m := range count {
		l.norm.addChannel(first+m, n.moment(first+m, t.Sum[m], t.Sum[count+m]))
	}
	t.EachRow(func(at, n, m int) { forward(t, at, n, m) })
}

// backwardMids runs both backward passes over a few channels, or blocks of them.
func (l *normChain) backwardMids(t *stream.Tile) {
	_, sums, backward := l.rows()
	t.EachRow(func(at, n, m int) { sums(t, at, n, m) })
	first, count := l.channels(t)
	for m := range count {
		l.factor(first+m, t.Sum[m], t.Sum[count+m])
	}
	t.EachRow(func(at, n, m int) { backward(t, at, n, m) })
}

// channels returns the range of channels in a tile.
func (l *normChain) channels(t *stream.Tile) (first, count int) {
	n := part.Lanes(l.blocked())
	return t.M0 * n, t.M * n
}

// gradient returns the index of dy among Backward's inputs. Forward has the other bottom of a sum at the same index.
func (l *normChain) gradient() int {
	if l.scale.biased {
		return 5
	}
	return 4
}

// inputs lists x, mean, scale, gamma and, if there is one, beta.
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
	l.outs[0] = top[0].Data()
	l.steps.To(l.outs[0])
	outs := l.outs[:1]
	ins := l.inputs(x)
	if l.sum != nil {
		ins = append(ins, bottom[1].Data())
		l.sum.holdSigns()
	}
	switch {
	case l.norm.global:
		l.norm.useStored()
	case l.forwardByMid != nil:
		l.norm.normaliser.setPivots(x)
		l.norm.beginBatch()
		return l.forwardByMid.Run(ins, outs)
	default:
		if err := l.norm.useBatch(x); err != nil {
			return err
		}
	}
	return l.forward.Run(ins, outs)
}

// Traits implements Planned. Backward recomputes everything from x. With stored statistics the previous layer can compute Forward.
func (l *normChain) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Tops: true}, Grads: layers.Grads{Replaces: true}, Layout: l.norm.Traits().Layout, Joins: layers.Joins{Finish: l.Blockable()}}
	if l.norm.global {
		l.finish.chain = l
		t.Is.Finish = &l.finish
	}
	return t
}

func (l *normChain) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	return l.gradients(bottom[0], top[0].Diff(), nil, nil, propagateDown[0])
}

// gradients runs Backward from dy. For a rectified sum it masks dy by the sign of y and stores the result in g.
func (l *normChain) gradients(bottom *blob.Blob, dy, y, g []float32, propagate bool) error {
	if propagate && l.backwardByMid != nil {
		ins, outs := append(l.inputs(bottom.Data()), dy, l.a, l.b, l.c), l.outs[:1]
		if outs[0] = bottom.Diff(); l.masks() {
			ins, outs = l.sum.withSum(ins, y), append(outs, g)
		}
		if err := l.backwardByMid.Run(ins, outs); err != nil {
			return err
		}
		l.scale.addGrads(l.split(l.backwardByMid))
		return nil
	}
	ins, outs := append(l.inputs(bottom.Data()), dy), l.outs[:0]
	if l.masks() {
		ins, outs, dy = l.sum.withSum(ins, y), append(outs, g), g
	}
	if err := l.sums.Run(ins, outs); err != nil {
		return err
	}
	products, sums := l.split(l.sums)
	l.scale.addGrads(products, sums)
	if !propagate {
		return nil
	}
	for m := range sums {
		l.factor(m, products[m], sums[m])
	}
	l.outs[0] = bottom.Diff()
	return l.backward.Run(append(l.inputs(bottom.Data()), dy, l.a, l.b, l.c), l.outs[:1])
}

// split returns a kernel's sums of g*xn and of g by channel.
func (l *normChain) split(k *stream.Kernel) (products, sums []float64) {
	return k.Sums()[:l.dims[1]], k.Sums()[l.dims[1]:]
}

// factor sets a, b and c of channel m from the sums of g*xn and g.
func (l *normChain) factor(m int, product, sum float64) {
	n := &l.norm.normaliser
	gamma, _ := l.scale.operands(nil)
	scale := float64(gamma[m]) * float64(n.scale[m])
	l.a[m], l.b[m], l.c[m] = float32(scale), 0, 0
	switch {
	case l.norm.global:
	case l.blocked():
		l.b[m], l.c[m] = float32(sum/n.count()), float32(product/n.count())
	default:
		l.b[m], l.c[m] = float32(-scale*sum/n.count()), float32(-scale*product/n.count())
	}
}

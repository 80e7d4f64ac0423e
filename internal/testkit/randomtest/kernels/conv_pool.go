package kernels

import (
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"

	"github.com/swcaffe/swcaffe/cpe/kernel/pool"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// pooledJob is a convolution fused with the pooling of its results, and the gradients of both. The positions of maxima depend on
// the last bits of results. So the reference pools the results of the unfused convolution (other problems check these), and
// expects outputs with the same bits.
func (j *convJob) pooledJob(r *rand.Rand) *job {
	height, width := j.out[0], j.out[len(j.out)-1]
	if len(j.out) == 1 {
		height = 1
	}
	j.pool = &poolForm{
		N: j.N, C: j.Out, H: height, W: width, KH: j.PoolK, KW: j.PoolK, SH: j.PoolS, SW: j.PoolS, PH: j.PoolP, PW: j.PoolP,
		ReLU: j.PoolReLU, Packed: j.PoolPack, Floor: j.PoolFloor, Method: "max",
	}
	oh, ow := j.pool.outputs()
	n := j.N * j.Out * max(0, oh) * max(0, ow)
	j.pooled = &array{name: "pooled y", n: n, written: true}
	j.dy = &array{name: "gradient of pooled y", n: n, start: values(r, j.Values, n)}
	j.mask = &array{name: "mask", written: true, open: true}
	all := &job{arrays: []*array{j.x, j.w, j.bias, j.pooled, j.mask, j.dy, j.dx, j.dw, j.db}}
	var plain *plan.Conv
	all.build = func(m *cpe.Machine) (k *run, err error) {
		if len(j.out) != 2 || !j.pool.valid() {
			return nil, nil
		}
		plain, k, err = j.buildPooled(m)
		return k, err
	}
	all.judge = func() error { return j.judgePooled(plain) }
	return all
}

// buildPooled makes the unfused convolution and, where it exists, the one fused with pooling.
func (j *convJob) buildPooled(m *cpe.Machine) (plain *plan.Conv, k *run, err error) {
	st, err := shape.ParseStrategy(j.Strategy)
	if err != nil {
		return nil, nil, err
	}
	var convs [2]*plan.Conv
	for i := range convs {
		if convs[i], err = plan.New(m, j.convForm.shape(), st); err != nil {
			return nil, nil, err
		}
	}
	p, err := convs[1].Pooled(j.pool.shape(false, false))
	if p == nil || err != nil {
		return nil, nil, err
	}
	in, out := p.Blocks()
	in, out = in && j.InBlocks, out && j.OutBlocks
	if err := convs[1].SetLayouts(shape.InBlocks(in), shape.Planes); err != nil {
		return nil, nil, err
	}
	if p, err = convs[1].Pooled(j.pool.shape(false, out)); p == nil || err != nil {
		return nil, nil, err
	}
	j.laid(in, false)
	j.pooled.plane, j.pooled.whole, j.dy.plane = 0, nil, 0
	if out {
		oh, ow := j.pool.outputs()
		j.pooled.plane, j.dy.plane = oh*ow, oh*ow
	}
	j.mask.n, j.mask.whole = p.MaskWords(), nil
	j.dx.written, j.db.written, j.dw.written = p.PassesGrads(), j.Bias, true
	j.adds(j.dw, j.Add)
	forward, grads := p.Scratch()
	return convs[0], &run{func() error {
		mask := pool.Indices(j.mask.data)
		if err := p.Forward(j.x.data, j.w.data, j.biases(), j.pooled.data, mask); err != nil {
			return err
		}
		return p.Grads(&conv.Arrays{
			X: j.x.data, W: j.w.data, DY: j.dy.data, DX: some(j.dx, p.PassesGrads()), DW: j.dw.data, DB: some(j.db, j.Bias), Add: j.Add,
		}, mask)
	}, max(forward, grads)}, nil
}

// judgePooled pools the results of the unfused convolution and compares.
func (j *convJob) judgePooled(plain *plan.Conv) error {
	if plain == nil {
		return nil
	}
	results := make([]float32, j.y.n)
	var bias []float32
	if j.Bias {
		bias = j.bias.start
	}
	if err := plain.Run(shape.Forward, conv.Arrays{X: j.x.start, W: j.w.start, Bias: bias, Y: results}); err != nil {
		return err
	}
	j.y.written = false
	j.forward(plain.Strategy(shape.Forward), func(_ int, v float64) float64 { return v })
	j.y.data, j.y.plane = results, 0
	pooled, places := j.pool.largest(results)
	j.pooled.want, j.pooled.allowed = pooled, make([]float64, len(pooled))
	dy := j.pool.spread(places, j.dy.start)
	outputs := j.dy
	j.dy = &array{start: make([]float32, len(results))}
	j.ref.sizes = make([]float32, len(results))
	for i, v := range dy.value {
		j.dy.start[i], j.ref.sizes[i] = float32(v), float32(dy.size[i])
	}
	passes := j.dx.written
	j.unwritten()
	j.weights(plain.Strategy(shape.WeightGradient), j.Add, j.Bias)
	if passes {
		j.input(plain.Strategy(shape.InputGradient), false, false)
	}
	j.dy, j.ref.sizes = outputs, nil
	j.untaken()
	for _, a := range []*array{j.y, j.pooled, j.dw, j.db, j.dx} {
		if err := a.compare(); err != nil {
			return err
		}
	}
	j.dw.want, j.db.want, j.dx.want, j.pooled.want = nil, nil, nil, nil
	j.dx.written, j.db.written, j.dw.written = passes, j.Bias, true
	return nil
}

// untaken widens the tolerance of the biases' gradient by the rounding of a sum over all outputs. A kernel may add the gradients of
// all outputs, and then subtract those of outputs whose window has no maximum.
func (j *convJob) untaken() {
	if !j.Bias || exact(j.Values) {
		return
	}
	plane := j.dy.n / j.N / j.Out
	all := newSums(j.Out)
	for i, v := range j.dy.start {
		all.put(i/plane%j.Out, float64(v))
	}
	for o, more := range all.allowed(false) {
		j.db.allowed[o] += more
	}
}

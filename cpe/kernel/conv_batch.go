package kernel

import "github.com/swcaffe/swcaffe/cpe"

// batchConv is swDNN's batch-size-aware convolution on a modelled machine (Fang et al. 2017, section IV; swCaffe, section
// IV-B): every position of the output is a product of weights and a batch,
//
//	forward          Y[p] (Out x B) = sum over k of W[k] (Out x C) * X[q(p,k)] (C x B)
//	input gradient   X[q] (C x B)   = sum over k of W[k]' (C x Out) * Y[p(q,k)] (Out x B)
//	weight gradient  W[k] (Out x C) = sum over p of Y[p] (Out x B) * X[q(p,k)]' (B x C)
//
// whose result stays in LDM while the sum runs; positions in the padding are left out.
type batchConv struct {
	batchLayout
	workers []batchWorker
}

// batchWorker is what a core group needs to itself.
type batchWorker struct {
	batchArrays
	product *product
	job     productJob
	a, b    taps
}

func newBatchConv(c *Conv, d Direction) (*batchConv, error) {
	v := &batchConv{batchLayout: newBatchLayout(c, d)}
	most := v.terms()
	m, n, deep := v.extents(v.most())
	shape := GemmShape{M: m, N: n, K: deep * most, TransA: d == InputGradient, TransB: d == WeightGradient, Pieces: true}
	products, err := newProducts(c.machine, shape)
	if err != nil {
		return nil, err
	}
	v.workers = make([]batchWorker, len(products))
	for i, p := range products {
		v.workers[i] = batchWorker{product: p, a: taps{bases: make([]int, most)}, b: taps{bases: make([]int, most)}}
	}
	v.reserve()
	return v, nil
}

// RunGroup convolves a core group's images.
func (v *batchConv) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()]
	if err := v.open(g, &w.batchArrays); err != nil || w.images == 0 {
		return err
	}
	for group := range v.conv.shape.Group {
		for i := range v.pairs.results() {
			if err := g.Section(len(v.pairs.of(i)), func() error { return v.result(g, w, group, i) }); err != nil {
				return err
			}
		}
	}
	return v.leave(g, &w.batchArrays)
}

// result computes result i of a group of channels.
func (v *batchConv) result(g *cpe.CoreGroup, w *batchWorker, group, i int) error {
	pairs := v.pairs.of(i)
	aAt, bAt, cAt, c := v.operands(&w.batchArrays, group, &w.a, &w.b)
	for t, p := range pairs {
		w.a.bases[t], w.b.bases[t] = aAt(int(p.a)), bAt(int(p.b))
	}
	m, n, deep := v.extents(w.images)
	w.job = productJob{
		a: &w.a, b: &w.b, c: cpe.Plain(from(c, cAt(i)), n), m1: m, n1: n, k1: len(pairs) * deep,
		bias: v.bias(group), biasRows: true,
	}
	return w.product.run(g, &w.job)
}

// batchAware reports whether the published kernels take a shape, batch being a core group's images: at least 64 channels
// forward, and 128 inputs backward, in multiples of 32 and 128, and 128 or 64 images (the guards of the original code,
// which swCaffe's table II shows as well).
func (s ConvShape) batchAware(spec *cpe.Spec, d Direction) bool {
	batch := s.N / spec.CoreGroups
	if s.Group != 1 || batch%32 != 0 || s.Out < 64 || s.Out%32 != 0 {
		return false
	}
	if d == Forward {
		return batch >= 128 && s.C >= 64 && s.C%32 == 0
	}
	return batch >= 64 && s.C >= 128 && s.C%128 == 0
}

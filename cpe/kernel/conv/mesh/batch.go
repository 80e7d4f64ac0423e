package mesh

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Batch is the algorithm mesh-batch.
var Batch = conv.Algorithm{
	Name: "mesh-batch", Doc: "swDNN's: each position is a GEMM of weights and a core group's images", Family: shape.Implicit,
	Directions: conv.EveryDirection, Declines: unpublished, Kernel: conv.Staged(func(t *conv.Task) error { return newBatchConv(t, false) }),
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnModel(p), conv.InPlanes(p), conv.NotStrided(p), buffered(p),
			op.Unless(!sharesRows(p.Shape, p.Spec, p.Direction), "core groups share rows here, not images"))
	},
}

// batchConv is swDNN's convolution on a modelled machine (Fang et al. 2017, section IV; swCaffe, section IV-B). Every output position is a
// product of weights and a batch of B images:
//
//	forward          Y[p] (Out x B) = sum over k of W[k] (Out x C) * X[q(p,k)] (C x B)
//	input gradient   X[q] (C x B)   = sum over k of W[k]' (C x Out) * Y[p(q,k)] (Out x B)
//	weight gradient  W[k] (Out x C) = sum over p of Y[p] (Out x B) * X[q(p,k)]' (B x C)
//
// The result matrix stays in LDM while the sum runs. The batch-size-aware variant computes one position at a time, and fetches the operands
// of each kernel offset for B columns. For small batches the image-size-aware variant computes bCo positions of a row, of bB images each, in
// one product. They share the weights, so that the required bandwidth is (1/(bCo*bB) + 1/Out)*DS*T/2 instead of (1/B + 1/Out)*DS*T/2. Kernel
// offsets that fall into the padding for all positions of a product are skipped.
type batchConv struct {
	batchLayout
	columns int // output positions of one product
	workers []batchWorker
}

// batchWorker is the state of one core group.
type batchWorker struct {
	batchArrays
	product *gemm.Nest
	job     gemm.Job
	a, b    taps
	at      []int // index in used of each left-hand matrix, or -1
	used    []int32
	terms   tiling.Span // the left-hand matrices to be summed
}

// mostColumns is the largest number of positions per product that planning tries.
const mostColumns = 32

// newBatchConv plans mesh-batch or, with rows, mesh-rows.
func newBatchConv(t *conv.Task, rows bool) error {
	d, spec := t.Direction, t.Machine.Spec()
	layout, err := newBatchLayout(t, rows)
	if err != nil {
		return err
	}
	v := &batchConv{batchLayout: layout}
	taps := v.taps()
	m, n, deep := v.extents(v.most())
	problem := gemm.Shape{M: m, K: deep * taps, TransA: d == shape.InputGradient, TransB: d == shape.WeightGradient, Scattered: true}
	var best gemm.Plan
	bestTime := 0.0
	most := min(v.rowLength(), mostColumns)
	if spec.Software.BatchOnly {
		most = 1
	}
	for columns := 1; columns <= most; columns *= 2 {
		problem.N = n * columns
		plan, err := gemm.NewMeshPlan(&spec, problem)
		if err != nil {
			return err
		}
		t := gemm.MeshNs(&spec, problem, plan) * float64(tiling.Blocks(v.rowLength(), columns))
		if bestTime == 0 || t < bestTime {
			v.columns, best, bestTime = columns, plan, t
		}
	}
	problem.N = n * v.columns
	products := gemm.NestsOf(t.Machine, problem, best)
	v.workers = make([]batchWorker, len(products))
	first := [...]int{v.geo.Space(), v.geo.Positions(), v.geo.Space()}[d]
	for i, p := range products {
		w := batchWorker{product: p, at: pages.Make[int](first)}
		w.a.bases, w.b.bases = pages.Make[int](taps), pages.Make[int](taps*v.columns)
		for k := range w.at {
			w.at[k] = -1
		}
		v.workers[i] = w
	}
	v.reserve()
	t.Plan, t.Stages = batchPlan{v.columns, v.rowLength(), problem, best}, v.list()
	return nil
}

// batchPlan is the blocking of batchConv.
type batchPlan struct {
	columns, row int        // results of one product, and of a row
	shape        gemm.Shape // the largest product
	product      gemm.Plan
}

// String describes the plan.
func (p batchPlan) String() string {
	return fmt.Sprintf("products of %d of the %d results of a row, GEMM %v in %v", p.columns, p.row, p.shape, p.product)
}

// taps is the largest number of terms that the positions of one product can have.
func (v *batchConv) taps() int {
	switch {
	case v.Direction != shape.WeightGradient:
		return v.geo.Space()
	case v.rows:
		return tiling.Blocks(v.geo.Rows, v.chunks) * v.geo.Width
	}
	return v.geo.Positions()
}

// list returns the stages: one, or three if core groups share rows.
func (v *batchConv) list() []conv.Stage {
	if v.rows {
		return []conv.Stage{{Program: &rowsEnter{v}}, {Program: &rowsConvolve{v}, Groups: v.groups()}, {Program: &rowsLeave{v}, Groups: v.groups()}}
	}
	return []conv.Stage{{Program: v, Groups: v.groups()}}
}

// RunGroup convolves the images of a core group.
func (v *batchConv) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()]
	if err := v.open(g, &w.batchArrays); err != nil || w.images == 0 {
		return err
	}
	w.terms = tiling.Span{At: 0, N: len(w.at)}
	if err := v.convolve(g, w, tiling.Span{At: 0, N: v.pairs.results() / v.rowLength()}); err != nil {
		return err
	}
	return v.leave(g, &w.batchArrays)
}

// convolve computes a range of result rows.
func (v *batchConv) convolve(g *cpe.CoreGroup, w *batchWorker, rows tiling.Span) error {
	length := v.rowLength()
	for group := range v.Shape.Group {
		for row := rows.At * length; row < rows.End()*length; row += length {
			for at := 0; at < length; at += v.columns {
				n := min(v.columns, length-at)
				taps := v.gather(w, row+at, n)
				err := g.Section(taps*(mostColumns+1)+n, func() error { return v.result(g, w, group, row+at, n) })
				if err != nil {
					return err
				}
				v.release(w)
			}
		}
	}
	return nil
}

// gather lists in w.used the left-hand matrices that n results need, in order, and returns their number.
func (v *batchConv) gather(w *batchWorker, first, n int) int {
	w.used = w.used[:0]
	for _, t := range v.pairs.between(first, first+n) {
		if w.at[t.a] < 0 && w.terms.Has(int(t.a)) {
			w.at[t.a] = 0
			w.used = append(w.used, t.a)
		}
	}
	if n > 1 {
		slices.Sort(w.used)
	}
	for i, a := range w.used {
		w.at[a] = i
	}
	return len(w.used)
}

// release resets the index that gather built.
func (v *batchConv) release(w *batchWorker) {
	for _, a := range w.used {
		w.at[a] = -1
	}
}

// result computes n results, starting with first, for one group of channels.
func (v *batchConv) result(g *cpe.CoreGroup, w *batchWorker, group, first, n int) error {
	aAt, bAt, cAt, c := v.operands(&w.batchArrays, group, &w.a, &w.b)
	rows, cols, deep := v.extents(w.images)
	w.b.span, w.b.lanes = cols, n*cols
	for i, a := range w.used {
		w.a.bases[i] = aAt(int(a))
	}
	bases := w.b.bases[:len(w.used)*n]
	for i := range bases {
		bases[i] = -1
	}
	for r := range n {
		for _, t := range v.pairs.of(first + r) {
			if w.terms.Has(int(t.a)) {
				bases[w.at[t.a]*n+r] = bAt(int(t.b))
			}
		}
	}
	w.job = gemm.Job{
		A: &w.a, B: &w.b, C: cpe.Matrix{Data: tiling.From(c, cAt(first)), Ld: cols, Run: cols, Jump: cAt(1) - cAt(0)},
		M1: rows, N1: n * cols, K1: len(w.used) * deep, Bias: v.bias(group), BiasRows: true,
	}
	return w.product.Start(g, &w.job)
}

// Published reports whether the published implicit kernels accept a shape. They need one group; forward at least 64 input channels in
// multiples of 32, for the gradients at least 128 in multiples of 128; and at least 64 output channels in multiples of 32. These are the
// guards of the original code, which swCaffe's table II shows as well. The batch-size-aware kernels also need 128 images per core group
// forward, and 64 for the gradients.
func Published(s shape.Conv, spec *cpe.Spec, d shape.Direction) bool {
	if s.Group != 1 || s.Out < 64 || s.Out%32 != 0 {
		return false
	}
	batch, least := s.N/spec.CoreGroups, 64
	if d == shape.Forward {
		least = 128
	}
	if spec.Software.BatchOnly && (batch < least || batch%32 != 0) {
		return false
	}
	if d == shape.Forward {
		return s.C >= 64 && s.C%32 == 0
	}
	return s.C >= 128 && s.C%128 == 0
}

func buffered(p *conv.Problem) error {
	return op.Unless(!p.Spec.Software.Unbuffered, "the machine's software is the original swCaffe's, which has no such kernel")
}

// unpublished declines shapes that the published kernels refuse.
func unpublished(p *conv.Problem) error {
	return op.Unless(Published(p.Shape, p.Spec, p.Direction), "the published kernels do not support %d to %d channels in %d groups and %d images", p.Shape.C, p.Shape.Out, p.Shape.Group, p.Shape.N)
}

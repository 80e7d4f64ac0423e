package mesh

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Taps is the algorithm mesh-taps.
var Taps = conv.Algorithm{
	Name: "mesh-taps", Doc: "the original swCaffe's: fetches each pixel once, and the weights of a kernel offset for every product", Family: shape.Implicit,
	Directions: conv.EveryDirection, Declines: unpublished, Kernel: conv.Staged(newTapConv),
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnModel(p), conv.InPlanes(p), conv.NotStrided(p), op.Unless(p.Spec.Software.Unbuffered, "the machine's software is newer than the original swCaffe's"),
			op.Unless(tapShape(p.Shape, p.Spec, p.Direction), "the matrices of a pixel do not fit LDM"))
	},
}

// tapConv is the implicit convolution of the original swCaffe (Software.Unbuffered). The results of some columns of a row stay in LDM. The
// kernel fetches one image position after the other and, for each result to which the position contributes, the weights of that kernel
// offset. Weights are fetched again every time, so that
//
//	time = positions*get(K x N) + taps*(get(M x K) + multiply) + columns*put(M x N)
//
// with no overlap of transfers and computation. The weight gradient uses the same kernel: images take the place of input channels, and
// outputs that of kernel offsets.
type tapConv struct {
	batchLayout
	columns int
	runs    []tapRun
	workers []tapWorker
}

// tapRun is a run of results first <= r < first+n.
type tapRun struct{ first, n, terms, positions int }

// tapTerm is a term of result number r of a run.
type tapTerm struct {
	r int
	tap
}

// tapWorker is the state of one core group.
type tapWorker struct {
	batchArrays
	product gemm.Resident
	a, b    taps
	terms   []tapTerm
}

// tapColumns returns how many result matrices fit LDM beside one matrix of each operand, in double precision. Of 64 KB the original leaves 4
// to the stack forward and 9 for the gradients (sw_conv_layer_impl.c: Costride). 0 means that the shape has too many channels for the kernel.
func tapColumns(spec *cpe.Spec, d shape.Direction, m, n, k int) int {
	left := spec.LDMBytes / 64 * 9
	if d == shape.Forward {
		left = spec.LDMBytes / 16
	}
	room := spec.CPEs() * (spec.LDMBytes - left) / 8
	return max(0, (room-k*n-m*k)/max(1, m*n)) // an empty batch has empty result matrices
}

// tapShape reports whether tapConv supports a direction of a shape.
func tapShape(s shape.Conv, spec *cpe.Spec, d shape.Direction) bool {
	v := batchLayout{Task: conv.NewTask(nil, &conv.Problem{Shape: s, Direction: d})}
	m, n, k := v.extents(tiling.Blocks(s.N, spec.CoreGroups))
	return tapColumns(spec, d, m, n, k) > 0
}

func newTapConv(t *conv.Task) error {
	layout, err := newBatchLayout(t, false)
	if err != nil {
		return err
	}
	v, spec := &tapConv{batchLayout: layout}, t.Machine.Spec()
	v.channelsLast, v.outputsLast = t.Direction == shape.WeightGradient, t.Direction == shape.InputGradient
	m, n, k := v.extents(v.most())
	v.columns = tapColumns(&spec, t.Direction, m, n, k)
	if v.columns == 0 {
		asked := 8 * (k*n + m*k + m*n) / spec.CPEs()
		return &cpe.LDMError{Kernel: v.Name(), Asked: asked, Have: spec.LDMBytes - spec.LDMBytes/16}
	}
	width := v.rowLength()
	v.columns = min(v.columns, width)
	v.cut(width)
	products := gemm.NewResidents(t.Machine, m, n, k, v.columns, v.product())
	v.workers = make([]tapWorker, len(products))
	for i, p := range products {
		v.workers[i] = tapWorker{product: p, a: taps{bases: make([]int, 1)}, b: taps{bases: make([]int, 1)}}
	}
	v.reserve()
	t.Plan, t.Stages = tapPlan{v.columns, width}, []conv.Stage{{Program: v, Groups: v.groups()}}
	return nil
}

// product returns the original's kernel: forward and for the gradient of the inputs in single precision (conv_pad_float and
// conv_full_pad_float_v2), for that of the weights in double precision (conv_pad_float__).
func (v *tapConv) product() cpe.Product {
	if v.Direction == shape.WeightGradient {
		return cpe.OriginalDouble
	}
	return cpe.OriginalSingle
}

// tapPlan is the blocking of tapConv.
type tapPlan struct{ columns, row int }

// String describes the plan.
func (p tapPlan) String() string {
	return fmt.Sprintf("%d of the %d results of a row stay in LDM", p.columns, p.row)
}

// cut computes the runs; each lies within one row of results.
func (v *tapConv) cut(width int) {
	seen := pages.Make[int](v.geo.Positions() + v.geo.Plane) // for each position, the last run that needs it
	for row := 0; row < v.pairs.results(); row += width {
		for at := 0; at < width; at += v.columns {
			run := tapRun{first: row + at, n: min(v.columns, width-at)}
			terms := v.pairs.between(run.first, run.first+run.n)
			run.terms = len(terms)
			for _, t := range terms {
				if seen[t.b] != len(v.runs)+1 {
					seen[t.b] = len(v.runs) + 1
					run.positions++
				}
			}
			v.runs = append(v.runs, run)
		}
	}
}

// key identifies runs of equal cost.
func (r *tapRun) key() int { return (r.n<<20|r.positions)<<20 | r.terms }

// order lists the terms of a run in the order of their source positions.
func (v *tapConv) order(w *tapWorker, run *tapRun) []tapTerm {
	w.terms = w.terms[:0]
	for r := range run.n {
		for _, t := range v.pairs.of(run.first + r) {
			w.terms = append(w.terms, tapTerm{r, t})
		}
	}
	slices.SortFunc(w.terms, func(x, y tapTerm) int {
		if c := cmp.Compare(x.b, y.b); c != 0 {
			return c
		}
		return cmp.Compare(x.r, y.r)
	})
	return w.terms
}

// RunGroup convolves a core group's images.
func (v *tapConv) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()]
	if err := v.open(g, &w.batchArrays); err != nil || w.images == 0 {
		return err
	}
	if err := w.product.Open(g); err != nil {
		return err
	}
	for group := range v.Shape.Group {
		for i := range v.runs {
			if err := g.Section(v.runs[i].key(), func() error { return v.run(g, w, group, &v.runs[i]) }); err != nil {
				return err
			}
		}
	}
	return v.leave(g, &w.batchArrays)
}

// run computes one run of results for a group of channels.
func (v *tapConv) run(g *cpe.CoreGroup, w *tapWorker, group int, run *tapRun) error {
	aAt, bAt, cAt, c := v.operands(&w.batchArrays, group, &w.a, &w.b)
	m, n, k := v.extents(w.images)
	p := &w.product
	for r := range run.n {
		g.Place(p.C(r), cpe.Plain(tiling.From(c, cAt(run.first+r)), n), 0, 0, m, n, false)
		v.begin(g, p.C(r), v.bias(group))
	}
	fetch := func(position int) error {
		w.b.bases[0] = bAt(position)
		p.GetB(g, &w.b, k, n)
		return nil
	}
	multiply := func(t tapTerm) error {
		w.a.bases[0] = aAt(int(t.a))
		p.GetA(g, &w.a, m, k)
		return p.Multiply(g, t.r)
	}
	if err := v.visit(g, w, run, fetch, multiply); err != nil {
		return err
	}
	for r := range run.n {
		g.Put(p.C(r))
		g.Sync()
	}
	return nil
}

// visit fetches the positions of a run and multiplies its terms, in order. If only costs are modelled, the order does not matter.
func (v *tapConv) visit(g *cpe.CoreGroup, w *tapWorker, run *tapRun, fetch func(position int) error, multiply func(tapTerm) error) error {
	if !g.Values() {
		if err := g.Repeat(0, run.positions, func(int) error { return fetch(0) }); err != nil {
			return err
		}
		return g.Repeat(0, run.terms, func(int) error { return multiply(tapTerm{}) })
	}
	held := int32(-1)
	for _, t := range v.order(w, run) {
		if t.b != held {
			held = t.b
			if err := fetch(int(t.b)); err != nil {
				return err
			}
		}
		if err := multiply(t); err != nil {
			return err
		}
	}
	return nil
}

// begin sets a result matrix to its bias, or to zero.
func (v *tapConv) begin(g *cpe.CoreGroup, t *cpe.Tile, bias []float32) {
	if !g.Values() {
		return
	}
	rows, cols := t.Whole()
	target, _, _ := g.Target(t)
	for r := range rows {
		line := target.Data[r*target.Ld:][:cols]
		if bias == nil {
			clear(line)
		} else {
			vec.Fill(line, bias[r])
		}
	}
}

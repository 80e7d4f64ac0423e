package explicit

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/im2col"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Pointwise is the algorithm explicit-pointwise.
var Pointwise = conv.Algorithm{
	Name: "explicit-pointwise", Doc: "one GEMM for each image, read in place, for 1x1 kernels", Family: shape.Explicit, Directions: conv.EveryDirection,
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(conv.InPlanes(p), op.Unless(p.Shape.Pointwise(), "it computes only 1x1 kernels without strides or padding"))
	},
	Declines: slowerOnHost, Cost: cost, Kernel: conv.Staged(newKernel),
}

// Batched is the algorithm explicit-batched.
var Batched = conv.Algorithm{
	Name: "explicit-batched", Doc: "im2col of all images of a core group, then GEMM", Family: shape.Explicit, Directions: conv.EveryDirection,
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(conv.InPlanes(p), op.Unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
			op.Unless(batchedImages(p) > 0, "the machine's software does not batch the images of a core group, or a line of all of them does not fit LDM"))
	},
	Declines: slowerOnHost, Cost: cost, Kernel: conv.Staged(newKernel),
}

// GEMM is the algorithm explicit-gemm.
var GEMM = conv.Algorithm{
	Name: "explicit-gemm", Doc: "im2col of a band of outputs, then GEMM", Family: shape.Explicit, Directions: conv.EveryDirection,
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(conv.InPlanes(p), op.Unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
			op.Unless(batchedImages(p) == 0, "the machine's software batches the images of a core group"))
	},
	Declines: slowerOnHost, Cost: cost, Kernel: conv.Staged(newKernel),
}

// slowerOnHost declines on the host, where implicit algorithms need no column matrix in memory. Input gradients of strided convolutions are
// the exception: there the costs decide.
func slowerOnHost(p *conv.Problem) error {
	return op.Unless(p.Spec.HasDMA() || p.Direction == shape.InputGradient && conv.HasPhases(&p.Shape), "an implicit algorithm needs no column matrix in memory")
}

// kernel computes a convolution by im2col and GEMM, with one product for each band of output rows of each image (swCaffe, section
// IV-B). Core groups share images and bands. The weight gradient is summed in a fixed number of partial sums. The input gradient is computed
// by whole images, since bands overlap in the input.
type kernel struct {
	*conv.Task
	plan    bandPlan
	geo     *im2col.Geometry
	direct  bool     // 1x1 kernels: the image is its own column matrix
	batch   int      // images whose column matrices are written in advance; 0: one at a time
	workers []worker // one for each core group
}

// shortSum is the smallest K for which swGEMM's blocking search works (Software.OnMPE). Shorter products go to the vendor's library, which is
// assumed to run them on the management core. forward_cpu_gemm of base_conv_layer calls the same product with and without an im2col before it, so
// that this holds for 1x1 kernels too.
const shortSum = 32

// worker is the state of one core group.
type worker struct {
	product *gemm.Nest
	job     gemm.Job
	a, b    gemm.Operand
	columns []float32
	filled  bool // columns holds the matrices of a batch; the current image's is number at
	at      int
	dw      []float32                   // where the weight gradient is summed
	add     bool                        // dw holds a sum already
	work    func(unit, group int) error // computes one group of channels of a unit
	unit    func(unit int) error        // computes a unit
	group   *cpe.CoreGroup
}

func newKernel(t *conv.Task) error {
	s, d := &t.Shape, t.Direction
	e := &kernel{Task: t, plan: planBands(t.Spec, s), geo: im2col.NewGeometry(*s), direct: s.Pointwise()}
	out, depth, width := s.Out/s.Group, s.Depth(), e.plan.Band*e.geo.Width
	shape := [...]gemm.Shape{{M: out, N: width, K: depth}, {M: out, N: depth, K: width, TransB: true, Accumulate: true}, {M: depth, N: width, K: out, TransA: true}}[d]
	products, err := gemm.NewNests(t.Machine, shape)
	if err != nil {
		return err
	}
	e.workers = make([]worker, len(products))
	for i, p := range products {
		e.workers[i].product = p
		e.bind(&e.workers[i])
	}
	if !e.direct {
		e.geo.LineUsers()
		e.geo.Software, e.batch = t.Spec.Software, batchedImages(&t.Problem)
		t.Reserved = cpe.Scratch{Group: max(1, e.batch) * depth * width}
	}
	t.Plan, t.Stages = e.plan, conv.Stages(e)
	return t.SumParts(e.plan.Chunks)
}

// batchedImages returns how many images' column matrices are written in advance. That is a core group's whole share if the software works so
// and a line of all these images, both padded and as stored, fits LDM; else 0.
func batchedImages(p *conv.Problem) int {
	s := &p.Shape
	if !p.Spec.Software.Batched || p.Direction == shape.InputGradient {
		return 0
	}
	last := len(s.In) - 1
	images := tiling.Blocks(s.N, p.Spec.CoreGroups)
	if p.Spec.Bytes(images*(s.In[last]+2*s.Pad[last]+s.OutSize()[last])) > p.Spec.LDMBytes {
		return 0
	}
	return images
}

// Name returns "convolution" and the direction.
func (e *kernel) Name() string { return "convolution " + e.Direction.String() }

// RunGroup computes a core group's share.
func (e *kernel) RunGroup(g *cpe.CoreGroup) error {
	w, plan := &e.workers[g.Index()], &e.plan
	w.group = g
	if !e.direct {
		w.columns = g.Memory(max(1, e.batch) * e.matrixSize())
	}
	switch e.Direction {
	case shape.WeightGradient:
		lo, hi := g.Share(plan.Chunks)
		e.startEach(g, (hi-lo)*e.Shape.N/plan.Chunks)
		for chunk := lo; chunk < hi; chunk++ {
			if err := e.chunk(g, w, chunk); err != nil {
				return err
			}
		}
		return nil
	case shape.InputGradient:
		lo, hi := g.Share(e.Shape.N)
		e.startEach(g, hi-lo)
		return g.Repeat(lo, hi, w.unit)
	}
	lo, hi := g.Share(e.Shape.N * plan.bands())
	e.startEach(g, (hi-lo)/plan.bands())
	w.add = true
	return e.units(g, w, lo, hi)
}

// startEach charges the starts of the CPEs' threads beyond the program's own, if the software starts them for the im2col or col2im and for every
// product of an image. A batch has one im2col.
func (e *kernel) startEach(g *cpe.CoreGroup, images int) {
	if !e.Spec.Software.ByImage || images == 0 {
		return
	}
	starts := 0
	if !e.onMPE() {
		starts = images * e.Shape.Group
	}
	switch {
	case e.batch > 0:
		starts += e.Shape.Group
	case !e.direct:
		starts += images
	}
	g.StartAgain(starts - 1)
}

// onMPE reports whether the products run on the management core.
func (e *kernel) onMPE() bool {
	return e.Spec.Software.OnMPE && e.Direction == shape.Forward && e.Shape.Depth() < shortSum
}

// units computes the units lo <= i < hi. Whole images all cost the same, and are repeated as such.
func (e *kernel) units(g *cpe.CoreGroup, w *worker, lo, hi int) error {
	switch {
	case e.batch > 0:
		return e.batched(g, w, lo, hi)
	case !w.add && lo < hi:
		if err := w.unit(lo); err != nil {
			return err
		}
		lo, w.add = lo+1, true
	}
	if e.plan.bands() == 1 {
		return g.Repeat(lo, hi, w.unit)
	}
	for unit := lo; unit < hi; unit++ {
		if err := w.unit(unit); err != nil {
			return err
		}
	}
	return nil
}

// batched computes the images lo <= i < hi; their column matrices are written first.
func (e *kernel) batched(g *cpe.CoreGroup, w *worker, lo, hi int) error {
	if lo >= hi {
		return nil
	}
	s, add := &e.Shape, w.add
	defer func() { w.filled, w.at = false, 0 }()
	for group := range s.Group {
		b := e.band(lo, group)
		b.Images, b.Apart, b.Matrix = hi-lo, s.C*e.geo.Plane, e.matrixSize()
		w.filled = false
		if err := e.fill(g, w, &b); err != nil {
			return err
		}
		w.filled, w.at, w.add = true, 0, add
		first := lo
		if !add {
			if err := w.work(lo, group); err != nil {
				return err
			}
			first, w.add = lo+1, true
		}
		err := g.Repeat(first, hi, func(i int) error {
			w.at = i - lo
			return w.work(i, group)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

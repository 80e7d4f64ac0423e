package mesh

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/im2col"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// batchLayout is common to the implicit convolutions of a modelled machine. They store images as (row, column, channel, image) and weights as
// (kernel row, kernel column, output, input), so that every position is a matrix of channels x images. Each core group computes its share of
// the images (swCaffe, algorithm 1), or its share of the rows of all images (Fang et al. 2017). Tensor transforms convert the arrays to this
// layout and back.
type batchLayout struct {
	*conv.Task
	chunks       int // partial sums of the weight gradient
	geo          *im2col.Geometry
	pairs        tapLists // terms of each result: an output position, an input position or a kernel offset, by direction
	channelsLast bool     // weight gradient: images are stored as (row, column, image, channel)
	outputsLast  bool     // input gradient: weights are stored as (kernel row, kernel column, input, output)
	rows         bool     // core groups share rows of outputs (input gradient: of inputs) of all images
}

// batchArrays are a core group's arrays in this layout.
type batchArrays struct {
	x, y, w []float32
	images  int
	first   int // index of the first image
}

func newBatchLayout(t *conv.Task, rows bool) (batchLayout, error) {
	v := batchLayout{Task: t, geo: im2col.NewGeometry(t.Shape), rows: rows, chunks: max(1, min(t.Spec.CoreGroups, t.Shape.N))}
	if rows {
		v.chunks = t.Spec.CoreGroups
	}
	v.pair()
	return v, t.SumParts(v.chunks)
}

// reserve requests scratch memory for the arrays.
func (v *batchLayout) reserve() {
	nx, ny, nw := v.sizes(v.most())
	if v.rows {
		v.Reserved = cpe.Scratch{Common: nx + ny + nw, Group: nw}
		return
	}
	v.Reserved = cpe.Scratch{Group: nx + ny + nw}
}

// most is the largest number of images that one core group has.
func (v *batchLayout) most() int {
	if v.rows {
		return v.Shape.N
	}
	spec := v.Machine.Spec()
	return tiling.Blocks(v.Shape.N, spec.CoreGroups)
}

// rowLength is the number of results in a row.
func (v *batchLayout) rowLength() int {
	return [...]int{v.geo.Width, v.geo.Last, v.geo.Line}[v.Direction]
}

// sizes returns the numbers of values of images, results and weights for a number of images.
func (v *batchLayout) sizes(images int) (x, y, w int) {
	s := &v.Shape
	return images * s.C * v.geo.Plane, images * s.Out * v.geo.Positions(), s.Out * s.Depth()
}

// pair lists the terms of every result.
func (v *batchLayout) pair() {
	g := v.geo
	results := [...]int{g.Positions(), g.Space(), g.Plane}[v.Direction]
	v.pairs.starts = pages.Make[int32](results + 2)
	v.eachRun(func(r termRun) {
		for i := range r.n {
			v.pairs.starts[r.result+i*r.step+2]++
		}
	})
	for i := range results + 1 {
		v.pairs.starts[i+1] += v.pairs.starts[i]
	}
	v.pairs.taps = make([]tap, v.pairs.starts[results+1])
	v.eachRun(func(r termRun) {
		t := r.first
		for i := range r.n {
			at := &v.pairs.starts[r.result+i*r.step+1]
			v.pairs.taps[*at] = t
			*at++
			t.a, t.b = t.a+r.by.a, t.b+r.by.b
		}
	})
}

// termRun are n terms, whose results are step apart. From one to the next a and b grow by those of by.
type termRun struct {
	result, step, n int
	first, by       tap
}

// eachRun visits the terms of all results: runs of them, one for each line of outputs and kernel offset. The terms of one result are visited in
// ascending order of their right-hand matrices.
func (v *batchLayout) eachRun(visit func(termRun)) {
	g := v.geo
	for row := range g.Rows {
		for outer := range g.Outer {
			line := int(g.Lines[row*g.Outer+outer])
			if line < 0 {
				continue
			}
			for i := range g.Last {
				last := i
				if v.Direction == shape.InputGradient {
					last = g.Last - 1 - i // descending offsets make positions ascend
				}
				lo := g.Lo[last]
				v.terms(visit, row*g.Width+lo, outer*g.Last+last, line*g.Line+g.Shift[last]+lo*g.Stride, g.Hi[last]-lo)
			}
		}
	}
}

// terms visits the terms of n output positions from p on, kernel offset k, and image positions from q on.
func (v *batchLayout) terms(visit func(termRun), p, k, q, n int) {
	stride := v.geo.Stride
	switch v.Direction {
	case shape.Forward:
		visit(termRun{p, 1, n, tap{int32(k), int32(q)}, tap{0, int32(stride)}})
	case shape.WeightGradient:
		visit(termRun{k, 0, n, tap{int32(p), int32(q)}, tap{1, int32(stride)}})
	case shape.InputGradient:
		visit(termRun{q, stride, n, tap{int32(k), int32(p)}, tap{0, 1}})
	}
}

// Name returns "convolution" and the direction.
func (v *batchLayout) Name() string { return "convolution " + v.Direction.String() }

func (v *batchLayout) groups() int {
	if v.Direction == shape.WeightGradient {
		return v.chunks
	}
	return 0
}

// open allocates the arrays for a core group's images and converts the direction's operands. A core group may have no images.
func (v *batchLayout) open(g *cpe.CoreGroup, w *batchArrays) error {
	lo, hi := g.Share(v.Shape.N)
	w.first, w.images = lo, hi-lo
	if w.images == 0 {
		return nil
	}
	nx, ny, nw := v.sizes(w.images)
	memory := g.Memory(nx + ny + nw)
	w.x, w.y, w.w = tiling.Part(memory, 0, nx), tiling.Part(memory, nx, ny), tiling.Part(memory, nx+ny, nw)
	return v.enter(g, w)
}

// see selects the shared arrays of all images, if core groups share rows. For the weight gradient each group has sums of its own.
func (v *batchLayout) see(g *cpe.CoreGroup, w *batchArrays) {
	w.first, w.images = 0, v.Shape.N
	nx, ny, nw := v.sizes(w.images)
	memory := g.Common(nx + ny + nw)
	w.x, w.y, w.w = tiling.Part(memory, 0, nx), tiling.Part(memory, nx, ny), tiling.Part(memory, nx+ny, nw)
	if v.Direction == shape.WeightGradient {
		w.w = g.Memory(nw)
	}
}

// convert converts an array to the layout or back. If all core groups share the array, each converts its part.
func (v *batchLayout) convert(g *cpe.CoreGroup, t stream.Transform, dst, src []float32) error {
	if v.rows {
		lo, hi := g.Share(t.Outer)
		t.Outer, dst, src = hi-lo, tiling.From(dst, lo*t.DstOuter), tiling.From(src, lo*t.SrcOuter)
	}
	return t.Run(g, dst, src)
}

// inward returns the transform of images from N x C x plane to this layout; outward is its inverse.
func inward(images, channels, plane int) stream.Transform {
	return stream.Transform{Outer: channels, Rows: images, Cols: plane, SrcOuter: plane, SrcRow: channels * plane, DstOuter: images, DstRow: channels * images}
}

func outward(images, channels, plane int) stream.Transform {
	return stream.Transform{Outer: channels, Rows: plane, Cols: images, SrcOuter: images, SrcRow: channels * images, DstOuter: plane, DstRow: channels * plane}
}

// enter converts the operands of the direction to this layout.
func (v *batchLayout) enter(g *cpe.CoreGroup, w *batchArrays) error {
	s, args := &v.Shape, v.Args
	in, space, positions := s.C/s.Group, v.geo.Space(), v.geo.Positions()
	if v.Direction != shape.InputGradient {
		t := inward(w.images, s.C, v.geo.Plane)
		if v.channelsLast {
			t = stream.Transform{Outer: w.images, Rows: s.C, Cols: v.geo.Plane, SrcOuter: s.C * v.geo.Plane, SrcRow: v.geo.Plane, DstOuter: s.C, DstRow: w.images * s.C}
		}
		if err := v.convert(g, t, w.x, tiling.From(args.X, w.first*s.C*v.geo.Plane)); err != nil {
			return err
		}
	}
	if v.Direction != shape.Forward {
		t := inward(w.images, s.Out, positions)
		if err := v.convert(g, t, w.y, tiling.From(args.DY, w.first*s.Out*positions)); err != nil {
			return err
		}
	}
	if v.Direction == shape.WeightGradient {
		return nil
	}
	t := stream.Transform{Outer: s.Out, Rows: in, Cols: space, SrcOuter: in * space, SrcRow: space, DstOuter: in, DstRow: s.Out * in}
	if v.outputsLast {
		t = stream.Transform{Outer: in, Rows: s.Out, Cols: space, SrcOuter: space, SrcRow: in * space, DstOuter: s.Out, DstRow: s.Out * in}
	}
	return v.convert(g, t, w.w, args.W)
}

// leave converts the result back, or adds it to the weight gradient.
func (v *batchLayout) leave(g *cpe.CoreGroup, w *batchArrays) error {
	s, args := &v.Shape, v.Args
	switch v.Direction {
	case shape.Forward:
		t := outward(w.images, s.Out, v.geo.Positions())
		return v.convert(g, t, tiling.From(args.Y, w.first*s.Out*v.geo.Positions()), w.y)
	case shape.InputGradient:
		t := outward(w.images, s.C, v.geo.Plane)
		return v.convert(g, t, tiling.From(args.DX, w.first*s.C*v.geo.Plane), w.x)
	}
	in, space := s.C/s.Group, v.geo.Space()
	t := stream.Transform{Outer: s.Out, Rows: space, Cols: in, SrcOuter: in, SrcRow: s.Out * in, DstOuter: in * space, DstRow: space, Add: true}
	dw := args.DW
	if v.Partials.Count() > 0 {
		dw, t.Add = v.Partials.Of(g.Index()), false
	}
	return t.Run(g, dw, w.w)
}

// places returns functions from an image position q, an output position p and a kernel offset o to the start of their matrices, for one group
// of channels.
func (v *batchLayout) places(w *batchArrays, group int) (x, y, k func(int) int) {
	s := &v.Shape
	in, out, images := s.C/s.Group, s.Out/s.Group, w.images
	x = func(q int) int { return (q*s.C + group*in) * images }
	if v.channelsLast {
		x = func(q int) int { return q*s.C*images + group*in }
	}
	y = func(p int) int { return (p*s.Out + group*out) * images }
	k = func(o int) int { return (o*s.Out + group*out) * in }
	if v.outputsLast {
		k = func(o int) int { return o*s.Out*in + group*out }
	}
	return x, y, k
}

// extents returns the extents M x N of a result matrix, and the depth of one term, for a number of images.
func (v *batchLayout) extents(images int) (m, n, deep int) {
	s := &v.Shape
	in, out := s.C/s.Group, s.Out/s.Group
	switch v.Direction {
	case shape.Forward:
		return out, images, in
	case shape.InputGradient:
		return in, images, out
	}
	return out, in, images
}

// operands points both operands of the products at a group of channels. It returns functions to the starts of a term's two matrices and of a
// result's, and the result array.
func (v *batchLayout) operands(w *batchArrays, group int, a, b *taps) (aAt, bAt, cAt func(int) int, c []float32) {
	s := &v.Shape
	in, out, images := s.C/s.Group, s.Out/s.Group, w.images
	x, y, k := v.places(w, group)
	switch v.Direction {
	case shape.Forward:
		*a = taps{data: w.w, bases: a.bases, per: in, lanes: out, lane: in, deep: 1, byRows: true}
		*b = taps{data: w.x, bases: b.bases, per: in, lanes: images, lane: 1, deep: images}
		return k, x, y, w.y
	case shape.InputGradient:
		*a = taps{data: w.w, bases: a.bases, per: out, lanes: in, lane: 1, deep: in, byRows: true}
		if v.outputsLast {
			a.lane, a.deep = s.Out, 1
		}
		*b = taps{data: w.y, bases: b.bases, per: out, lanes: images, lane: 1, deep: images}
		return k, y, x, w.x
	}
	*a = taps{data: w.y, bases: a.bases, per: images, lanes: out, lane: images, deep: 1, byRows: true}
	*b = taps{data: w.x, bases: b.bases, per: images, lanes: in, lane: images, deep: 1}
	if v.channelsLast {
		b.lane, b.deep = 1, s.C
	}
	return y, x, k, w.w
}

// bias returns the biases of a group of channels forward, else nil.
func (v *batchLayout) bias(group int) []float32 {
	if all := v.Args.Bias; all != nil && v.Direction == shape.Forward {
		return all[group*v.Shape.Out/v.Shape.Group:]
	}
	return nil
}

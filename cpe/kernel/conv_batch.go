package kernel

import "github.com/swcaffe/swcaffe/cpe"

// batchConv is swDNN's batch-size-aware convolution on a modelled machine (Fang et al. 2017, section IV; swCaffe, section
// IV-B): images lie as (row, column, channel, image) and weights as (kernel row, kernel column, output, input), so that
// every position of the output is a product of weights and a batch,
//
//	forward          Y[p] (Out x B) = sum over k of W[k] (Out x C) * X[q(p,k)] (C x B)
//	input gradient   X[q] (C x B)   = sum over k of W[k]' (C x Out) * Y[p(q,k)] (Out x B)
//	weight gradient  W[k] (Out x C) = sum over p of Y[p] (Out x B) * X[q(p,k)]' (B x C)
//
// whose result stays in LDM while the sum runs; positions in the padding are left out. Each core group takes its share B of
// the images (swCaffe, algorithm 1). Arrays are brought to that layout and back by tensor transforms.
type batchConv struct {
	conv      *Conv
	direction Direction
	geo       *geometry
	pairs     [][]tap // by result: outputs forward, inputs for their gradient, kernel offsets for the weights'
	workers   []batchWorker
}

// tap is one term of a result: the kernel offset, or for the weights the position of the output, and the place in the image.
type tap struct{ a, b int }

// batchWorker is what a core group needs to itself.
type batchWorker struct {
	product *product
	job     productJob
	a, b    taps
	x, y, w []float32 // in the kernel's layout
	images  int
	first   int // of the images
}

func newBatchConv(c *Conv, d Direction) (*batchConv, error) {
	s := &c.shape
	v := &batchConv{conv: c, direction: d, geo: newGeometry(*s)}
	v.pair()
	spec := c.machine.Spec()
	images, out, in := blocks(s.N, spec.CoreGroups), s.Out/s.Group, s.C/s.Group
	most := 1
	for _, p := range v.pairs {
		most = max(most, len(p))
	}
	shape := [...]GemmShape{
		{M: out, N: images, K: in * most, Pieces: true}, {M: out, N: in, K: images * most, TransB: true, Pieces: true},
		{M: in, N: images, K: out * most, TransA: true, Pieces: true},
	}[d]
	products, err := newProducts(c.machine, shape)
	if err != nil {
		return nil, err
	}
	v.workers = make([]batchWorker, len(products))
	for i, p := range products {
		v.workers[i] = batchWorker{product: p, a: taps{bases: make([]int, most), byRows: true}, b: taps{bases: make([]int, most)}}
	}
	nx, ny, nw := v.sizes(images)
	c.machine.Reserve(0, nx+ny+nw)
	return v, nil
}

// sizes are those of the arrays of some images, and of the weights.
func (v *batchConv) sizes(images int) (x, y, w int) {
	s := &v.conv.shape
	return images * s.C * v.geo.plane, images * s.Out * v.geo.positions(), s.Out * s.depth()
}

// pair finds the terms of every result.
func (v *batchConv) pair() {
	g := v.geo
	results := [...]int{g.positions(), g.space(), g.plane}[v.direction]
	v.pairs = make([][]tap, results)
	for p := range g.positions() {
		row, x := p/g.width, p%g.width
		for k := range g.space() {
			outer, last := k/g.last, k%g.last
			at := int(g.lines[row*g.outer+outer])
			if at < 0 || x < g.lo[last] || x >= g.hi[last] {
				continue
			}
			q := at*g.line + x*g.stride + g.shift[last]
			switch v.direction {
			case Forward:
				v.pairs[p] = append(v.pairs[p], tap{k, q})
			case WeightGradient:
				v.pairs[k] = append(v.pairs[k], tap{p, q})
			case InputGradient:
				v.pairs[q] = append(v.pairs[q], tap{k, p})
			}
		}
	}
}

// Name returns "convolution" and the direction.
func (v *batchConv) Name() string { return "convolution " + v.direction.String() }

func (v *batchConv) groups() int {
	if v.direction == WeightGradient {
		return v.conv.plan.Chunks
	}
	return 0
}

// RunGroup convolves a core group's images.
func (v *batchConv) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()]
	lo, hi := g.Share(v.conv.shape.N)
	w.first, w.images = lo, hi-lo
	if w.images == 0 {
		return nil
	}
	nx, ny, nw := v.sizes(w.images)
	memory := g.Memory(nx + ny + nw)
	w.x, w.y, w.w = part(memory, 0, nx), part(memory, nx, ny), part(memory, nx+ny, nw)
	if err := v.enter(g, w); err != nil {
		return err
	}
	for group := range v.conv.shape.Group {
		for i, p := range v.pairs {
			if err := g.Section(len(p), func() error { return v.result(g, w, group, i) }); err != nil {
				return err
			}
		}
	}
	return v.leave(g, w)
}

// part is n values of an array from at on; of none, none.
func part(data []float32, at, n int) []float32 {
	if data == nil {
		return nil
	}
	return data[at : at+n]
}

// inward turns a worker's images of planes of some channels to the kernel's layout, outward back.
func inward(images, channels, plane int) relayout {
	return relayout{outer: channels, rows: images, cols: plane, su: plane, si: channels * plane, du: images, dj: channels * images}
}

func outward(images, channels, plane int) relayout {
	return relayout{outer: channels, rows: plane, cols: images, su: images, si: channels * images, du: plane, dj: channels * plane}
}

// enter brings what the direction reads to the kernel's layout.
func (v *batchConv) enter(g *cpe.CoreGroup, w *batchWorker) error {
	s, args := &v.conv.shape, &v.conv.args
	in, space, positions := s.C/s.Group, v.geo.space(), v.geo.positions()
	if v.direction != InputGradient {
		t := inward(w.images, s.C, v.geo.plane)
		if err := t.run(g, w.x, from(args.x, w.first*s.C*v.geo.plane)); err != nil {
			return err
		}
	}
	if v.direction != Forward {
		t := inward(w.images, s.Out, positions)
		if err := t.run(g, w.y, from(args.y, w.first*s.Out*positions)); err != nil {
			return err
		}
	}
	if v.direction == WeightGradient {
		return nil
	}
	t := relayout{outer: s.Out, rows: in, cols: space, su: in * space, si: space, du: in, dj: s.Out * in}
	return t.run(g, w.w, args.w)
}

// leave brings the result back.
func (v *batchConv) leave(g *cpe.CoreGroup, w *batchWorker) error {
	s, args := &v.conv.shape, &v.conv.args
	switch v.direction {
	case Forward:
		t := outward(w.images, s.Out, v.geo.positions())
		return t.run(g, from(args.y, w.first*s.Out*v.geo.positions()), w.y)
	case InputGradient:
		t := outward(w.images, s.C, v.geo.plane)
		return t.run(g, from(args.x, w.first*s.C*v.geo.plane), w.x)
	}
	in, space := s.C/s.Group, v.geo.space()
	t := relayout{outer: s.Out, rows: space, cols: in, su: in, si: s.Out * in, du: in * space, dj: space, add: true}
	dw := args.w
	if v.conv.partials != nil {
		dw, t.add = v.conv.partials[g.Index()], false
	}
	return t.run(g, dw, w.w)
}

// result computes result i of a group of channels.
func (v *batchConv) result(g *cpe.CoreGroup, w *batchWorker, group, i int) error {
	s := &v.conv.shape
	in, out, images := s.C/s.Group, s.Out/s.Group, w.images
	xAt := func(q int) int { return (q*s.C + group*in) * images }
	yAt := func(p int) int { return (p*s.Out + group*out) * images }
	wAt := func(k int) int { return (k*s.Out + group*out) * in }
	pairs := v.pairs[i]
	a, b := &w.a, &w.b
	w.job = productJob{a: a, b: b}
	switch v.direction {
	case Forward:
		*a = taps{data: w.w, bases: a.bases, per: in, lanes: out, lane: in, deep: 1, byRows: true}
		*b = taps{data: w.x, bases: b.bases, per: in, lanes: images, lane: 1, deep: images}
		fillBases(a, b, pairs, wAt, xAt)
		w.job.c, w.job.m1, w.job.n1, w.job.biasRows = cpe.Plain(from(w.y, yAt(i)), images), out, images, true
		if v.conv.args.bias != nil {
			w.job.bias = v.conv.args.bias[group*out:]
		}
	case InputGradient:
		*a = taps{data: w.w, bases: a.bases, per: out, lanes: in, lane: 1, deep: in, byRows: true}
		*b = taps{data: w.y, bases: b.bases, per: out, lanes: images, lane: 1, deep: images}
		fillBases(a, b, pairs, wAt, yAt)
		w.job.c, w.job.m1, w.job.n1 = cpe.Plain(from(w.x, xAt(i)), images), in, images
	case WeightGradient:
		*a = taps{data: w.y, bases: a.bases, per: images, lanes: out, lane: images, deep: 1, byRows: true}
		*b = taps{data: w.x, bases: b.bases, per: images, lanes: in, lane: images, deep: 1}
		fillBases(a, b, pairs, yAt, xAt)
		w.job.c, w.job.m1, w.job.n1 = cpe.Plain(from(w.w, wAt(i)), in), out, in
	}
	w.job.k1 = len(pairs) * a.per
	return w.product.run(g, &w.job)
}

// fillBases places the pieces of both operands.
func fillBases(a, b *taps, pairs []tap, aAt, bAt func(int) int) {
	for i, p := range pairs {
		a.bases[i], b.bases[i] = aAt(p.a), bAt(p.b)
	}
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

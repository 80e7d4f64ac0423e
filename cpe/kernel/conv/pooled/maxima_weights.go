package pooled

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// maximaWeights is the weight gradient of a convolution of few channels, max pooling and results by planes. Only the maximum of each
// output's window gets a gradient. The sum therefore runs over outputs, not over results:
//
//	dW (Out x C*offsets) += Σ dy(output) * x(inputs of the result that is the maximum)
//
// Vectors are neighbouring kernel offsets; no gradient is scattered or transposed. Core groups share a fixed number of partial sums.
//
// There are two padded copies of an image, the second half a cache line further on. For every result, vectors of its inputs cross no cache
// line in one of the two.
type maximaWeights struct {
	*conv.Task
	pool        *pool.Kernel
	image       tensor.Band
	line, plane int     // distance of a copy's lines and of its channels, in values
	runs        []int   // start of each run of up to vconv.MaximaLanes kernel offsets of a row
	places      []int32 // start of each result's inputs; the first entry is for outputs without a maximum: zeros behind the copies
	chunks      int
}

// maximaChunks is the number of partial sums of few images, chunkImages the least number of images in one of more.
const maximaChunks, chunkImages = 16, 8

func newMaximaWeights(t *conv.Task, p *pool.Kernel) error {
	s := p.Shape()
	b := tensor.NewBand(t.Shape, shape.Planes, s.H)
	v := &maximaWeights{Task: t, pool: p, image: b, line: cpe.WholeLines(b.W + 2*b.PadW + vconv.MaximaLanes)}
	v.plane = (b.H + 2*b.PadH) * v.line
	for channel := range b.Channels {
		for y := range b.KH {
			for x := 0; x < b.KW; x += vconv.MaximaLanes {
				v.runs = append(v.runs, channel*v.plane+y*v.line+x)
			}
		}
	}
	v.places = append(v.places, int32(2*v.copy()))
	for y := range s.H {
		for x := range s.W {
			at := y*b.StrideH*v.line + x*b.StrideW
			if at%cacheLine > cacheLine-vconv.MaximaLanes {
				at += v.copy() + cacheLine/2
			}
			v.places = append(v.places, int32(at))
		}
	}
	v.chunks = conv.Parts(s.N, s.N, maximaChunks, chunkImages, s.C*v.values())
	t.Reserved = cpe.Scratch{Common: v.partial().Values(), Group: v.memory()}
	t.Stages = conv.Stages(v, collectMaxima{v})
	return nil
}

// cacheLine is the number of values in a cache line.
const cacheLine = 16

// copy is the number of values of one copy, with room for the shift by half a line. memory is that of both copies with the zeros behind them.
// values is that of an output channel's sums; the first value behind the sums of the runs is the bias gradient.
func (v *maximaWeights) copy() int   { return v.image.Channels*v.plane + cacheLine }
func (v *maximaWeights) memory() int { return 2*v.copy() + slices.Max(v.runs) + vconv.MaximaLanes }
func (v *maximaWeights) values() int { return cpe.WholeLines(v.sums() + vconv.MaximaLanes) }
func (v *maximaWeights) sums() int   { return len(v.runs) * vconv.MaximaLanes }

// Name returns "convolution" and the direction.
func (v *maximaWeights) Name() string { return "convolution " + shape.WeightGradient.String() }

// partial are the partial sums of all output channels.
func (v *maximaWeights) partial() conv.Sums {
	return conv.Sums{Parts: v.chunks, Size: v.pool.Shape().C * v.values()}
}

// RunGroup computes a core group's share of the chunks.
func (v *maximaWeights) RunGroup(g *cpe.CoreGroup) error {
	x, n := g.Memory(v.memory()), v.Shape.N
	clear(x)
	lo, hi := g.Share(v.chunks)
	for i := lo; i < hi; i++ {
		sums := v.partial().Of(g.Common(v.partial().Values()), i)
		clear(sums)
		for image := i * n / v.chunks; image < (i+1)*n/v.chunks; image++ {
			v.read(x, image)
			v.add(g, sums, x, image)
		}
	}
	return nil
}

// read copies an image to both copies; their padding stays zero.
func (v *maximaWeights) read(x []float32, image int) {
	b := &v.image
	for c := range b.Channels {
		plane := tensor.Plane{Data: v.Args.X[(image*b.Channels+c)*b.H*b.W:], H: b.H, W: b.W}
		for _, to := range [2][]float32{x[c*v.plane:], x[c*v.plane+v.copy()+cacheLine/2:]} {
			plane.Pad(to, v.line, b.PadW, -b.PadH, b.H+2*b.PadH)
		}
	}
}

// add adds one image to a chunk's sums.
func (v *maximaWeights) add(g *cpe.CoreGroup, sums, x []float32, image int) {
	s, args := v.pool.Shape(), &v.Args
	for c := range s.C {
		plane, to := image*s.C+c, sums[c*v.values():][:v.values()]
		dy, maxima := args.DY[plane*s.OH*s.OW:][:s.OH*s.OW], v.pool.Maxima(g, plane)
		vconv.MaximaSums(to, to[v.sums():], x, v.runs, dy, maxima, v.places)
		if s.ReLU && args.DB != nil {
			to[v.sums()] -= withoutMaximum(dy, maxima)
		}
	}
}

// withoutMaximum returns the sum of the gradients of outputs without a maximum, which ReLU has set to 0.
func withoutMaximum(dy []float32, maxima []int32) (sum float32) {
	for i, d := range dy {
		if maxima[i] < 0 {
			sum += d
		}
	}
	return sum
}

// collectMaxima is the second stage: it adds up the chunks, stores the sums in DW or adds them, and adds the bias gradient to DB.
type collectMaxima struct{ *maximaWeights }

// Name names the stage.
func (c collectMaxima) Name() string { return c.maximaWeights.Name() + ", collecting" }

// RunGroup collects a core group's share of the output channels.
func (c collectMaxima) RunGroup(g *cpe.CoreGroup) error {
	args, depth, all := c.Args, c.Shape.Depth(), g.Common(c.partial().Values())
	lo, hi := g.Share(c.pool.Shape().C)
	for out := lo; out < hi; out++ {
		sum := c.partial().Collect(all, out*c.values(), c.values())
		if args.DW != nil {
			c.collect(args.DW[out*depth:][:depth], sum)
		}
		if args.DB != nil {
			args.DB[out] += sum[c.sums()]
		}
	}
	return nil
}

// collect stores the sums of one output channel in its part of DW, or adds them.
func (c collectMaxima) collect(dw, sum []float32) {
	kw := c.image.KW
	for line := 0; line < len(dw); line += kw {
		for x := 0; x < kw; x += vconv.MaximaLanes {
			to := dw[line+x : line+min(kw, x+vconv.MaximaLanes)]
			if c.Args.Add {
				vec.Add(to, to, sum)
			} else {
				copy(to, sum)
			}
			sum = sum[vconv.MaximaLanes:]
		}
	}
}

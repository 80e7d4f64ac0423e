package direct

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// ShiftedWeights is the algorithm implicit-shifted-weights.
var ShiftedWeights = conv.Algorithm{
	Name: "implicit-shifted-weights", Doc: "the weight gradient, summed over padded bands in which every kernel offset is a shift", Family: shape.Implicit,
	Directions: []shape.Direction{shape.WeightGradient},
	Supports:   func(p *conv.Problem) error { return op.FirstReason(op.OnHost(p), conv.InPlanes(p), byShifts(p)) },
	Cost:       conv.ProductCost, Kernel: conv.Staged(newShiftedWeights),
	General: true,
}

// shiftedWeights is the host's direct weight gradient. Images are transposed into slabs with the channels of a pixel side by side. In a slab,
// the inputs of one output position are one contiguous run of kernel width x channels values for each kernel row. The sum over positions
//
//	dW (Out x runs) = dY (Out x positions) * slab (positions x runs)
//
// therefore reads its second operand in place. The sums are kept in this order and added to DW in a last stage.
//
// Core groups share the rows of dW if there are many, else a fixed number of partial sums.
type shiftedWeights struct {
	*conv.Task
	shiftedPlan
	vectors [][4]vgemm.Vector // one for each core group
}

// shiftedPlan is the blocking of shiftedWeights: numbers that formulas use side by side, and no state.
type shiftedPlan struct {
	slab    tensor.Slab // only its extents are used
	lines   int         // lines of a slab
	width   int
	images  int // images in a slab
	band    int // output rows in a slab
	bands   int
	size    int // values in an image's slab
	offsets []int
	rows    int            // output channels in a panel
	panels  int            // panels of a group
	runs    []vgemm.Vector // vectors of a row of sums: From is the place in the slab, To in the row
	row     int            // values in a row of sums
	each    int            // values in the sums of one group
	chunks  int
	all     int // images of the batch
}

// slabBytes is the part of a core's L2 cache (a native core's LDM) for a slab. The rest is for panels.
func slabBytes(spec *cpe.Spec) int { return spec.LDMBytes / 2 }

const (
	// sumPositions is the number of positions over which one product should sum before it stores the sums.
	sumPositions = 512
	// manyImages is how many times larger slabs of several whole images may be. A product reads only a few channels of every pixel, which fit
	// L2 anyway; longer sums are stored less often.
	manyImages = 4
	// manyPanels is the number of panels from which on core groups share panels.
	manyPanels = 16
	// shiftedChunks is the number of partial sums of few images if core groups do not share panels, chunkSlabs the least number of slabs in one of more.
	shiftedChunks, chunkSlabs = 4, 16
)

func newShiftedWeights(t *conv.Task) error {
	spec := t.Machine.Spec()
	v := &shiftedWeights{Task: t, shiftedPlan: planShifted(&t.Shape, &spec)}
	v.vectors = make([][4]vgemm.Vector, spec.CoreGroups)
	t.Reserved = cpe.Scratch{Common: v.sums().Values(), Group: v.memory()}
	t.Plan, t.Stages = v.shiftedPlan, conv.Stages(v, &collectWeights{v})
	return nil
}

// planShifted computes the blocking for a shape.
func planShifted(s *shape.Conv, spec *cpe.Spec) shiftedPlan {
	v := shiftedPlan{slab: tensor.NewSlab(*s, 1), all: s.N}
	v.rows, _, _ = vgemm.ScatteredTile()
	v.panels = tiling.Blocks(s.Out/s.Group, v.rows)
	l := &v.slab
	v.width = (l.OutW-1)*l.StrideW + l.DilateW*(l.KW-1) + 1
	line := v.width * l.Channels
	extra := l.DilateH*(l.KH-1) + 1
	fit := max(1, (slabBytes(spec)/4/line-extra)/l.StrideH+1)
	v.band = tiling.Even(l.OutH, fit, 1)
	v.bands = tiling.Blocks(l.OutH, v.band)
	v.lines = (v.band-1)*l.StrideH + extra
	v.size = v.lines * line
	v.images = 1
	if v.bands == 1 {
		v.images = max(1, min(s.N, sumPositions/(l.OutH*l.OutW), manyImages*slabBytes(spec)/4/v.size))
	}
	v.cutRuns()
	for i := range v.images {
		for y := range v.band {
			for x := range l.OutW {
				v.offsets = append(v.offsets, i*v.size+(y*l.StrideH*v.width+x*l.StrideW)*l.Channels)
			}
		}
	}
	v.each = v.panels * v.rows * v.row
	v.chunks = 1
	if v.panels < manyPanels {
		v.chunks = conv.Parts(s.N, v.units(), shiftedChunks, chunkSlabs, s.Group*v.each)
	}
	return v
}

// String describes the plan.
func (v shiftedPlan) String() string {
	return fmt.Sprintf("slabs of %d of %d output rows of %d images, %d panels of %d output channels, %d partial sums", v.band, v.slab.OutH, v.images, v.panels, v.rows, v.chunks)
}

// cutRuns cuts the runs of kernel offsets and channels into vectors. A row of sums has room for whole vectors.
func (v *shiftedPlan) cutRuns() {
	l := &v.slab
	_, _, lanes := vgemm.ScatteredTile()
	n, lines := l.KW*l.Channels, 1
	if l.DilateW > 1 {
		n, lines = l.Channels, l.KW
	}
	for y := range l.KH {
		for x := range lines {
			from := (y*l.DilateH*v.width + x*l.DilateW) * l.Channels
			for at := 0; at < n; at += lanes {
				v.runs = append(v.runs, vgemm.Vector{From: from + at, To: v.row, N: min(lanes, n-at)})
				v.row += lanes
			}
		}
	}
}

// units is the number of slabs of all images.
func (v *shiftedPlan) units() int { return tiling.Blocks(v.all, v.images) * v.bands }

// Name returns "convolution" and the direction.
func (v *shiftedWeights) Name() string { return "convolution " + shape.WeightGradient.String() }

// memory is the number of values of a core group's own memory: a slab, and packed panels of DY.
func (v *shiftedWeights) memory() int {
	return v.images*v.size + tensor.Slack + v.panels*v.rows*len(v.offsets)
}

// sums are the partial sums, ordered by group and row.
func (v *shiftedWeights) sums() conv.Sums {
	return conv.Sums{Parts: v.chunks, Size: v.Shape.Group * v.each}
}

// RunGroup computes a core group's share of the panels or chunks.
func (v *shiftedWeights) RunGroup(g *cpe.CoreGroup) error {
	for group := range v.Shape.Group {
		if v.chunks == 1 {
			lo, hi := g.Share(v.panels)
			v.chunk(g, group, 0, lo, hi)
			continue
		}
		lo, hi := g.Share(v.chunks)
		for chunk := lo; chunk < hi; chunk++ {
			v.chunk(g, group, chunk, 0, v.panels)
		}
	}
	return nil
}

// chunk computes the sums of one chunk for panels [lo, hi) of a group.
func (v *shiftedWeights) chunk(g *cpe.CoreGroup, group, chunk, lo, hi int) {
	memory := g.Memory(v.memory())
	pixels, packed := memory[:v.images*v.size+tensor.Slack], memory[v.images*v.size+tensor.Slack:]
	clear(pixels)
	sums := v.sums().Of(g.Common(v.sums().Values()), chunk)[group*v.each:]
	vectors := &v.vectors[g.Index()]
	_, most, lanes := vgemm.ScatteredTile()
	first, last := chunk*v.units()/v.chunks, (chunk+1)*v.units()/v.chunks
	for unit := first; unit < last; unit++ {
		n := v.load(pixels, packed, group, unit, lo, hi)
		for i := 0; i < len(v.runs); i += most {
			many := copy(vectors[:most], v.runs[i:])
			for j := range many {
				vectors[j].N = lanes
			}
			for p := lo; p < hi; p++ {
				a := packed[(p-lo)*v.rows*n:][:v.rows*n]
				vgemm.ScatteredKernel(a, pixels, v.offsets[:n], sums[p*v.rows*v.row:], v.row, vectors, many, unit > first)
			}
		}
	}
}

// load fills the slab and packs panels [lo, hi) of one unit. It returns the number of positions.
func (v *shiftedWeights) load(pixels, packed []float32, group, unit, lo, hi int) int {
	s, l := &v.Shape, &v.slab
	out := s.Out / s.Group
	image, row := unit/v.bands*v.images, unit%v.bands*v.band
	images, rows := min(v.images, s.N-image), min(v.band, l.OutH-row)
	n, positions := rows*l.OutW, l.OutH*l.OutW
	for i := range images {
		v.fill(pixels[i*v.size:], v.Args.X[((image+i)*s.C+group*l.Channels)*l.H*l.W:], row, rows)
		for p := lo; p < hi; p++ {
			y := v.Args.DY[((image+i)*s.Out+group*out+p*v.rows)*positions+row*l.OutW:]
			vgemm.PackA(packed[((p-lo)*images+i)*v.rows*n:][:v.rows*n], y, positions, min(v.rows, out-p*v.rows), n, v.rows)
		}
	}
	return images * n
}

// fill transposes the lines of an image that some output rows need into the slab. The caller has cleared the slab once: the padding at the
// ends of lines is never written.
func (v *shiftedWeights) fill(dst, x []float32, row, rows int) {
	l := &v.slab
	lo := min(v.width, max(0, l.PadW))
	first := lo - l.PadW
	hi := max(lo, min(v.width, l.W+l.PadW))
	for i := range v.lines - (v.band-rows)*l.StrideH {
		line := dst[(i*v.width+lo)*l.Channels : (i*v.width+hi)*l.Channels]
		if from := row*l.StrideH + i - l.PadH; from >= 0 && from < l.H && lo < hi {
			vec.Transpose(line, x[from*l.W+first:], l.Channels, l.H*l.W, l.Channels, hi-lo)
		} else {
			clear(line)
		}
	}
}

// collectWeights is the second stage: it adds up the chunks and adds the sums, in the order of the weights, to DW.
type collectWeights struct{ *shiftedWeights }

// Name names the stage.
func (c *collectWeights) Name() string { return c.shiftedWeights.Name() + ", collecting" }

// RunGroup collects a core group's share of the output channels. It transposes one channel's weights at a time in the memory of the slab.
func (c *collectWeights) RunGroup(g *cpe.CoreGroup) error {
	v, s := c.shiftedWeights, &c.Shape
	sums, transposed := g.Common(v.sums().Values()), g.Memory(v.memory())[:s.Depth()]
	out := s.Out / s.Group
	lo, hi := g.Share(s.Out)
	for o := lo; o < hi; o++ {
		v.transpose(transposed, v.sums().Collect(sums, o/out*v.each+o%out*v.row, v.row))
		dw := v.Args.DW[o*len(transposed) : (o+1)*len(transposed)]
		vec.Add(dw, dw, transposed)
	}
	return nil
}

// transpose brings a row of sums (channels side by side) to the order of an output channel's weights (kernel offsets side by side).
func (v *shiftedWeights) transpose(dst, row []float32) {
	l := &v.slab
	space := l.KH * l.KW
	line := v.row / l.KH
	apart := l.Channels
	if l.DilateW > 1 {
		apart = line / l.KW
	}
	if apart*l.KW == line {
		vec.Transpose(dst, row, space, apart, space, l.Channels)
		return
	}
	for y := range l.KH {
		vec.Transpose(dst[y*l.KW:], row[y*line:], space, apart, l.KW, l.Channels)
	}
}

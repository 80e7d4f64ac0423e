package pointwise

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// Planes is the algorithm pointwise-planes.
var Planes = conv.Algorithm{
	Name: "pointwise-planes", Doc: "products of weights and planes of pixels, both read in place, for 1x1 kernels in nets for inference", Family: shape.Implicit,
	Directions: []shape.Direction{shape.Forward},
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), op.Unless(p.Inference, "it computes only nets for inference"), conv.InPlanes(p),
			op.Unless(p.Shape.Pointwise(), "it computes only 1x1 kernels without strides or padding"),
			op.Unless(vgemm.HasStrided(), "this level has no kernels for operands in place"))
	},
	Cost: costInPlanes, Steps: op.Only[shape.Conv](op.Floor, op.Post),
	Kernel:  conv.Staged(newPlanes),
	Special: true,
}

// costInPlanes is the work of whole vectors of pixels and of reading and writing each result twice: with the bias, and with the sum.
func costInPlanes(p *conv.Problem) float64 {
	const result = 16
	s := &p.Shape
	_, columns := vgemm.Tile()
	rows := vgemm.StridedRows(s.Out / s.Group)
	pixels := tiling.Blocks(tiling.Size(s.In), columns/2) * columns / 2
	return float64(s.N*s.Group*rows*pixels) * (2*float64(s.Depth()) + result)
}

// planes is a 1x1 convolution of planes, one group of channels of some pixels of an image after the other:
//
//	Y (Out x pixels) = W (Out x C) * X (C x pixels) + bias
//
// Pixels are the columns of a tile, which are read in place, a plane apart; so are the rows of W. A few columns stay in L1 while all rows are multiplied by them. Packing
// them would take longer than the product where a group has few channels.
type planes struct {
	*conv.Task
	planesPlan
}

// planesPlan is the blocking of planes.
type planesPlan struct {
	pixels, out, depth int // of a plane; output and input channels of a group
	piece, pieces      int // pixels of a unit of work, and such pieces of a plane
	parts              int // parts of the output channels of a group, each a unit of work
	tile               [2]int
	edge               int // the last output channels of a group, with which the kernel reads weights behind them
}

func planPlanes(p *conv.Problem) planesPlan {
	s := &p.Shape
	rows, columns := vgemm.Tile()
	v := planesPlan{pixels: tiling.Size(s.In), out: s.Out / s.Group, depth: s.Depth(), tile: [2]int{rows, columns}}
	v.piece = tiling.Even(v.pixels, max(columns, p.Spec.LDMBytes/4/4/(v.out+v.depth)), columns)
	v.pieces = tiling.Blocks(v.pixels, v.piece)
	v.parts = max(1, min(v.panels(), tiling.Blocks(conv.GroupUnits*p.Spec.CoreGroups, max(1, s.N*s.Group*v.pieces))))
	if rest := v.out % rows; vgemm.StridedRows(rest) > rest {
		v.edge = rest
	}
	return v
}

// String describes the plan.
func (v planesPlan) String() string {
	return fmt.Sprintf("pieces of %d of %d pixels, products of %d x %d channels in %d parts", v.piece, v.pixels, v.out, v.depth, v.parts)
}

// panels is the number of panels of output channels of a group.
func (v *planesPlan) panels() int { return tiling.Blocks(v.out, v.tile[0]) }

func newPlanes(t *conv.Task) error {
	v := &planes{t, planPlanes(&t.Problem)}
	t.Plan, t.Stages = v.planesPlan, conv.Stages(v)
	t.Reserved = cpe.Scratch{Group: v.last() + v.columns()}
	return nil
}

// last and columns are the numbers of values of copies: of the weights of the last output channels, and of the last pixels.
func (v *planesPlan) last() int    { return vgemm.StridedRows(v.edge) * v.depth }
func (v *planesPlan) columns() int { return v.tile[1] * v.depth }

// Name returns "convolution" and the direction.
func (v *planes) Name() string { return "convolution " + v.Direction.String() }

// RunGroup computes the parts of pieces that a core group claims.
func (v *planes) RunGroup(g *cpe.CoreGroup) error {
	memory, s := g.Memory(v.last()+v.columns()), &v.Shape
	last, columns := memory[:v.last()], memory[v.last():]
	all, panels := s.N*s.Group*v.pieces*v.parts, v.panels()
	for i, end := g.Claim(all, 1); i < end; i, end = g.Claim(all, 1) {
		part, piece, group, image := i%v.parts, i/v.parts%v.pieces, i/v.parts/v.pieces%s.Group, i/v.parts/v.pieces/s.Group
		first, behind := part*panels/v.parts*v.tile[0], min(v.out, (part+1)*panels/v.parts*v.tile[0])
		u := planesUnit{planes: v, channel: group*v.out + first, out: behind - first, first: piece * v.piece}
		u.n, u.at = min(v.piece, v.pixels-u.first), (image*s.Out+u.channel)*v.pixels+u.first
		if end := u.channel + u.out; behind == v.out && end-v.edge+vgemm.StridedRows(v.edge) > s.Out {
			copy(last, v.Args.W[(end-v.edge)*v.depth:end*v.depth])
			u.out, u.copied = u.out-v.edge, last
		}
		u.multiply(v.Args.X[(image*s.C+group*v.depth)*v.pixels:], columns)
		u.finish()
	}
	return nil
}

// planesUnit is some pixels of some output channels of a group.
type planesUnit struct {
	*planes
	channel, out int       // the first channel, and their number but for the edge
	copied       []float32 // a copy of the weights of the edge, if there are too few behind them, else nil
	first, n     int       // pixels
	at           int       // where the results begin
}

// multiply computes the unit from a group of planes.
func (u *planesUnit) multiply(x, columns []float32) {
	args, pixels, tile := &u.Args, u.pixels, u.tile[1]
	w, y, biased := args.W[u.channel*u.depth:], args.Y[u.at:], args.Bias != nil
	if biased {
		for o, bias := range args.Bias[u.channel:][:u.channels()] {
			vec.Fill(y[o*pixels:][:u.n], bias)
		}
	}
	for j := 0; j < u.n; j += tile {
		n, from, ld := min(tile, u.n-j), x[u.first+j:], pixels
		if vectors := tiling.Blocks(n, tile/2) * tile / 2; (u.depth-1)*ld+vectors > len(from) {
			for k := range u.depth {
				copy(columns[k*vectors:][:n], from[k*ld:])
			}
			from, ld = columns, vectors
		}
		if u.out > 0 {
			vgemm.StridedPanel(u.out, n, u.depth, w, u.depth, 1, from, ld, y[j:], pixels, biased)
		}
		if u.copied != nil {
			vgemm.StridedPanel(u.edge, n, u.depth, u.copied, u.depth, 1, from, ld, y[u.out*pixels+j:], pixels, biased)
		}
	}
}

// channels is the number of output channels with those of the edge.
func (u *planesUnit) channels() int {
	if u.copied != nil {
		return u.out + u.edge
	}
	return u.out
}

// finish does the steps behind.
func (u *planesUnit) finish() {
	args, rows, n := &u.Args, u.channels(), u.n
	if args.Finish == nil && !args.Floor {
		return
	}
	if n == u.pixels && (args.Single || args.Finish == nil) {
		rows, n = 1, rows*n
	}
	for o := range rows {
		at := u.at + o*u.pixels
		piece := args.Y[at:][:n]
		if args.Floor {
			vec.ReLU(piece, piece, 0)
		}
		if args.Finish != nil {
			args.Finish(piece, at, u.channel+o)
		}
	}
}

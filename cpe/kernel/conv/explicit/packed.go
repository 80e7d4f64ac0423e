package explicit

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/im2col"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Int8 is the algorithm explicit-int8, which computes every shape.
var Int8 = conv.Algorithm{
	Name: "explicit-int8", Doc: "the column matrix of some rows of results (im2col), rounded to 8 bits, times the weights, sums in int32", Family: shape.Explicit,
	Types: op.Quantised, Directions: []shape.Direction{shape.Forward},
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(quant.Fits(p.Shape.Depth()), op.OnHost(p), conv.InPlanes(p))
	},
	Cost: costOfInt8, Steps: op.Only[shape.Conv](op.Floor), Kernel: conv.Staged(newPacked),
}

// costOfInt8 is a quarter of the cost of whole panels and blocks, and that of making the columns: a value takes as long as some operations.
func costOfInt8(p *conv.Problem) float64 {
	const column = 16
	v := planPacked(p)
	pixels, depth := float64(p.Shape.N*v.pixels*p.Shape.Group), float64(v.blocks*vconv.ByteBlock)
	return 2*pixels*depth*float64(v.panels*conv.Panel)/4 + column*pixels*float64(p.Shape.Depth())
}

// packed multiplies the columns of some rows of results with packed weights (factors.Packing). Core groups claim rows.
type packed struct {
	*conv.Task
	packedPlan
	packing  factors.Packing
	geometry *im2col.Geometry
	band     []im2col.Band // of each core group
	kept     op.Kept
}

// packedPlan is the blocking of packed.
type packedPlan struct {
	pixels int // results of an image's channel
	width  int // of a row
	rows   int // that are computed together
	bands  int // of an image
	blocks int // blocks of a group's factors
	panels int // panels of a group's output channels
}

func planPacked(p *conv.Problem) packedPlan {
	s := &p.Shape
	out := s.OutSize()
	v := packedPlan{pixels: tiling.Size(out), width: out[len(out)-1], blocks: tiling.Blocks(s.Depth(), vconv.ByteBlock), panels: tiling.Blocks(s.Out/s.Group, conv.Panel)}
	all := v.pixels / v.width
	// Columns, and the same packed, take half of L2.
	v.rows = tiling.Even(all, max(1, p.Spec.LDMBytes/2/4/(3*s.Depth()*v.width)), 1)
	v.bands = tiling.Blocks(all, v.rows)
	return v
}

// String describes the plan.
func (v packedPlan) String() string {
	return fmt.Sprintf("bands of %d of %d rows of %d results, %d blocks of %d factors, %d panels of output channels", v.rows, v.pixels/v.width, v.width, v.blocks, vconv.ByteBlock, v.panels)
}

func newPacked(t *conv.Task) error {
	v := &packed{Task: t, packedPlan: planPacked(&t.Problem), packing: factors.Int8(t.Scales), geometry: im2col.NewGeometry(t.Shape), band: make([]im2col.Band, t.Spec.CoreGroups)}
	t.Plan, t.Kept = v.packedPlan, &v.kept
	v.kept = op.Kept{Layout: fmt.Sprint("explicit ", t.Shape.Group, t.Shape.Depth(), t.Shape.Out, v.packing.Layout()), Size: v.weights()}
	t.Stages = []conv.Stage{{Program: &packWeights{v}, Packs: &v.kept}, {Program: v}}
	t.Reserved = cpe.Scratch{Common: v.weights(), Group: v.columns() + v.lanes() + v.bytes() + v.results()}
	return nil
}

// weights is the size of all packed weights, and panel that of one panel.
func (v *packed) weights() int { return v.Shape.Group * v.panels * v.panel() }
func (v *packed) panel() int   { return v.packing.Size(v.blocks) }

// The parts of a core group's memory: the columns of a band; the same with 16 values of a result side by side; packed; and the results of a panel.
func (v *packed) columns() int { return v.Shape.Depth() * v.rows * v.width }
func (v *packed) lanes() int {
	return tiling.Blocks(v.Shape.Depth(), shape.BlockLanes) * v.rows * v.width * shape.BlockLanes
}
func (v *packed) bytes() int   { return v.blocks * v.packing.Places(vconv.ByteBlock*v.rows*v.width) }
func (v *packed) results() int { return conv.Panel * v.rows * v.width }

// Name returns "convolution" and the direction.
func (v *packed) Name() string { return "convolution " + v.Direction.String() }

// RunGroup computes the bands that a core group claims, group by group.
func (v *packed) RunGroup(g *cpe.CoreGroup) error {
	memory, weights := g.Memory(v.Reserved.Group), v.kept.Memory(g, v.Args.Fixed, v.weights())
	all := v.Shape.N * v.Shape.Group * v.bands
	for i, end := g.Claim(all, 1); i < end; i, end = g.Claim(all, 1) {
		if err := v.compute(g, i/v.bands, i%v.bands*v.rows, memory, weights); err != nil {
			return err
		}
	}
	return nil
}

// compute computes the rows of a band from row first on. from counts groups of channels, those of an image one behind another.
func (v *packed) compute(g *cpe.CoreGroup, from, first int, memory, weights []float32) error {
	const lanes = shape.BlockLanes
	s := &v.Shape
	depth, per, rows := s.Depth(), s.Out/s.Group, min(v.rows, v.pixels/v.width-first)
	n := rows * v.width
	columns, memory := memory[:v.columns()], memory[v.columns():]
	near, memory := memory[:v.lanes()], memory[v.lanes():]
	bytes, results := memory[:v.bytes()], memory[v.bytes():]
	band := &v.band[g.Index()]
	*band = im2col.Band{Row: first, Rows: rows, X: v.Args.X[from*v.geometry.Channels*v.geometry.Plane:]}
	if err := v.geometry.Spread(g, columns, band); err != nil {
		return err
	}
	for k := 0; k < depth; k += lanes {
		to := near[k*n:][:n*lanes]
		if depth-k < lanes {
			clear(to)
		}
		vec.Transpose(to, columns[k*n:], lanes, n, min(lanes, depth-k), n)
	}
	v.packing.Pixels(bytes, near, n*lanes, tiling.Blocks(depth, lanes), n)
	var bias [conv.Panel]float32
	tile := vconv.Tile{Blocks: v.blocks, A: bytes, Bias: bias[:], JumpA: v.packing.Places(vconv.ByteBlock * n), C: results, JumpC: n * lanes, Rows: n, First: true, Last: true, Floor: v.Args.Floor}
	for p := range v.panels {
		group, outputs := from%s.Group, min(conv.Panel, per-p*conv.Panel)
		if v.Args.Bias != nil {
			copy(bias[:outputs], v.Args.Bias[group*per+p*conv.Panel:])
		}
		panel := weights[(group*v.panels+p)*v.panel():]
		tile.Head, tile.B, tile.N = panel, panel[v.packing.Head():], tiling.Blocks(outputs, lanes)
		v.packing.Multiply(&tile)
		for b := range tile.N {
			to := v.Args.Y[(from*per+p*conv.Panel+b*lanes)*v.pixels+first*v.width:]
			vec.Transpose(to, results[b*n*lanes:], v.pixels, lanes, n, min(lanes, outputs-b*lanes))
		}
	}
	return nil
}

// packWeights is the stage that packs all weights.
type packWeights struct{ *packed }

// Name names the stage.
func (v *packWeights) Name() string { return v.packed.Name() + ", packing weights" }

// RunGroup packs a core group's share of the panels.
func (v *packWeights) RunGroup(g *cpe.CoreGroup) error {
	memory, per := v.kept.Memory(g, v.Args.Fixed, v.weights()), v.Shape.Out/v.Shape.Group
	lo, hi := g.Share(v.Shape.Group * v.panels)
	for i := lo; i < hi; i++ {
		at := i % v.panels * conv.Panel
		v.packing.Fill(memory[i*v.panel():], v.Args.W, i/v.panels*per+at, min(conv.Panel, per-at), v.Shape.Depth(), 1)
	}
	return nil
}

package gemm

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Quantiser is implemented by the kernel of Quantised, whose factors have scales.
type Quantiser interface {
	// Quantise sets the scales of A and of the columns of B, once before the first Run.
	Quantise(s *quant.Scales)
}

// quantised multiplies rows of A with weights, both rounded to 8 bits (package quant). Core groups round shares of A, then claim panels of columns of B
// for some rows.
type quantised struct {
	machine *cpe.Machine
	shape   Shape
	panels  quant.Panels
	fixed   uint64
	op.Kept
	operands
	programs [3]cpe.Program
}

// quantisedRows is the number of rows of A for which a core group claims a panel.
const quantisedRows = 16

func newQuantised(m *cpe.Machine, s Shape) (Kernel, error) {
	q := &quantised{machine: m, shape: s, panels: quant.Panels{Groups: 1, Outputs: s.N, Channels: s.K, Taps: 1, Output: 1, Channel: s.N}}
	if s.TransB {
		q.panels.Output, q.panels.Channel = s.K, 1
	}
	q.Restore = q.panels.Restore
	q.programs = [3]cpe.Program{&quantiseLeft{q}, &quantiseRight{q}, q}
	return q, nil
}

// plan describes the blocking.
func (q *quantised) plan() string {
	return fmt.Sprintf("%d panels of %d columns, %d blocks of %d of K, %d rows at a time", q.panels.Count(), quant.Width, q.panels.Quads(), quant.Quad, quantisedRows)
}

// Quantise implements Quantiser.
func (q *quantised) Quantise(s *quant.Scales) { q.panels.Scales = s }

// row is the number of places of a row of A, left that of all.
func (q *quantised) row() int  { return q.panels.Quads() }
func (q *quantised) left() int { return cpe.WholeLines(q.shape.M * q.row()) }

func (q *quantised) reserved() cpe.Scratch {
	n := cpe.Scratch{Common: q.left()}
	if q.fixed == 0 {
		n.Common += q.panels.Places()
	}
	return n
}

// Scratch implements Kernel.
func (q *quantised) Scratch() int { return q.machine.Needs(q.reserved()) }

// Algorithm returns Quantised.
func (q *quantised) Algorithm() shape.Algorithm { return Quantised }

// Fix implements Fixer.
func (q *quantised) Fix(number uint64) { q.fixed = number }

// Run computes the product; see Kernel.
func (q *quantised) Run(a, b, bias, c []float32) error {
	q.operands = operands{a, b, bias, c}
	q.machine.TakeScratch(q.reserved())
	for i, p := range q.programs {
		if i == 1 && q.Fresh(q.fixed, q.panels.Places()) {
			continue
		}
		if err := q.machine.Run(p, 0); err != nil {
			return err
		}
	}
	return nil
}

// packed returns the bytes of A and packed B.
func (q *quantised) packed(g *cpe.CoreGroup) (left []uint8, right []float32) {
	if q.fixed != 0 {
		return quant.BytesIn(g.Common(q.left())), q.Memory(g, q.fixed, q.panels.Places())
	}
	all := g.Common(q.left() + q.panels.Places())
	return quant.BytesIn(all[:q.left()]), all[q.left():]
}

// quantiseLeft is the stage that rounds A.
type quantiseLeft struct{ *quantised }

// Name names the stage.
func (q *quantiseLeft) Name() string { return q.quantised.Name() + ", rounding A" }

// RunGroup rounds a core group's share of the rows.
func (q *quantiseLeft) RunGroup(g *cpe.CoreGroup) error {
	left, _ := q.packed(g)
	k, row := q.shape.K, quant.Quad*q.row()
	lo, hi := g.Share(q.shape.M)
	for i := lo; i < hi; i++ {
		to := left[i*row : (i+1)*row]
		q.panels.Scales.Bytes(to[:k], q.a[i*k:])
		clear(to[k:])
	}
	return nil
}

// quantiseRight is the stage that packs B.
type quantiseRight struct{ *quantised }

// Name names the stage.
func (q *quantiseRight) Name() string { return q.quantised.Name() + ", packing B" }

// RunGroup packs a core group's share of the panels.
func (q *quantiseRight) RunGroup(g *cpe.CoreGroup) error {
	_, right := q.packed(g)
	lo, hi := g.Share(q.panels.Count())
	for i := lo; i < hi; i++ {
		q.panels.Pack(right, q.b, i)
	}
	return nil
}

// Name names the product.
func (q *quantised) Name() string { return "quantised gemm " + q.shape.String() }

// RunGroup computes the panels of columns that a core group claims, for some rows.
func (q *quantised) RunGroup(g *cpe.CoreGroup) error {
	left, right := q.packed(g)
	parts, row := tiling.Blocks(q.shape.M, quantisedRows), quant.Quad*q.row()
	var sums [quant.Width]int32
	var factors [quant.Width]float32
	for i, end := g.Claim(q.panels.Count()*parts, 1); i < end; i, end = g.Claim(q.panels.Count()*parts, 1) {
		panel := q.panels.At(right, i/parts)
		panel.Factors(&factors, q.panels.Scales)
		first := i % parts * quantisedRows
		for r := first; r < min(first+quantisedRows, q.shape.M); r++ {
			panel.Start(&sums)
			quant.Dot(&sums, left[r*row:(r+1)*row], panel.Weights, panel.N)
			to := q.c[r*q.shape.N+panel.First:][:panel.N]
			for o := range to {
				to[o] = float32(float32(sums[o]) * factors[o])
				if q.bias != nil {
					to[o] += q.bias[panel.First+o]
				}
			}
		}
	}
	return nil
}

package pooled

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/offsets"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
)

// pooledOffsets is offsets.Kernel fused with pooling, for results in blocks of channels. A band is some output rows and the result rows that
// their windows cover. Result rows that two consecutive bands share are kept, unless another core group computed them.
type pooledOffsets struct {
	*offsets.Kernel
	pool  *pool.Kernel
	bands []pool.Band // the bands of an image
	room  int         // values in a band of outputs, if outputs are transposed
}

// poolBlocks prepares both directions, with bands that take a quarter of L2. It returns false if the band of one output row takes more than
// half.
func (c *Kernel) poolBlocks() (bool, error) {
	s, spec := c.pool.Shape(), c.does[shape.Forward].Machine.Spec()
	t := c.does[shape.Forward]
	rounds := t.Types == op.RoundedFactors
	v := &pooledOffsets{Kernel: offsets.New(t, rounds), pool: c.pool}
	fit := spec.LDMBytes / 4 / v.Line()
	if fit/2 < min(s.H, s.KH) {
		return false, nil
	}
	rows := tiling.Even(s.OH, max(1, min((fit/4-s.KH)/s.SH+1, tiling.Blocks(s.N*s.OH, spec.CoreGroups))), 1)
	most := 0
	for y := 0; y < s.OH; y += rows {
		outputs := vpool.Rows{From: y, To: min(y+rows, s.OH)}
		b := c.pool.BandOfOutputs(outputs)
		v.bands, most = append(v.bands, b), max(most, b.Inputs.To-b.Inputs.From)
	}
	if s.TurnsOut() {
		v.room = rows * s.OW * shape.BlockLanes
	}
	v.Cut(most)
	t.Reserved = cpe.Scratch{Common: v.Weights(), Group: v.memory()}
	t.Stages = []conv.Stage{v.Kernel.Packing(), {Program: v}}
	if c.name = "offsets-pooled"; rounds {
		c.name = "offsets-bf16-pooled"
	}
	return true, offsets.NewWeights(c.does[shape.WeightGradient], c.pool)
}

// jump is the distance of blocks in a band's results, in values. memory is the number of values of a core group's memory.
func (v *pooledOffsets) jump() int   { return v.Rows * v.Out.Cols() * shape.BlockLanes }
func (v *pooledOffsets) memory() int { return v.Band() + v.Out.Blocks()*v.jump() + v.room }

// RunGroup computes and pools a core group's share of the bands.
func (v *pooledOffsets) RunGroup(g *cpe.CoreGroup) error {
	memory := g.Memory(v.memory())
	images, memory := memory[:v.Band()], memory[v.Band():]
	results, room := memory[:v.Out.Blocks()*v.jump()], memory[v.Out.Blocks()*v.jump():]
	clear(images)
	line := v.Out.Cols() * shape.BlockLanes
	lo, hi := g.Share(v.Shape.N * len(v.bands))
	for i := lo; i < hi; i++ {
		image, n := i/len(v.bands), i%len(v.bands)
		rows := v.bands[n].Inputs
		kept := 0
		if i > lo && n > 0 {
			kept = v.keep(results, v.bands[n-1].Inputs, rows)
		}
		to := tensor.Blocks{Data: results[kept*line:], Jump: v.jump()}
		v.Convolve(g, image, rows.From+kept, rows.To-rows.From-kept, v.Panels(), images, to)
		v.poolBand(image, &v.bands[n], results, room)
	}
	return nil
}

// keep moves the result rows shared by the last band and the next to the front of each block, and returns their number.
func (v *pooledOffsets) keep(results []float32, last, next vpool.Rows) int {
	line, kept := v.Out.Cols()*shape.BlockLanes, last.To-next.From
	if kept <= 0 {
		return 0
	}
	for block := range v.Out.Blocks() {
		band := results[block*v.jump():]
		copy(band[:kept*line], band[(next.From-last.From)*line:])
	}
	return kept
}

// poolBand pools one band of results.
func (v *pooledOffsets) poolBand(image int, b *pool.Band, results, room []float32) {
	for block := range v.Out.Blocks() {
		v.pool.MaxBand(v.Args.Y, image*v.Out.Blocks()+block, b, results[block*v.jump():], room)
	}
}

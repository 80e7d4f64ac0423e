package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vpool"
)

// pooledSlices is max pooling fused with Winograd's convolution on the host, for one slice of channels of an image at a time. Results are
// pooled as soon as they are transformed back. Their gradient is computed just before it is transformed. Both therefore stay in L1.
type pooledSlices struct {
	shape  pool.Shape
	kernel *vpool.Blocks
	taken  []uint8 // the places of the maxima, for all lanes of the slices
}

// poolsSlices reports whether results can be pooled by slices: winogradSmall computes both gradients at once, and patches of the forward
// direction are whole images.
func (c *Conv) poolsSlices() bool {
	f := c.does[shape.Forward].doing()
	if f == nil || f.planar || !c.JoinsGrads() || c.named() {
		return false
	}
	return f.tilesAreImages()
}

// tilesAreImages reports whether winogradTiles computes a direction with whole images as patches.
func (d *direction) tilesAreImages() bool {
	t, ok := d.kernel.(*task)
	if !ok || len(t.stages) == 0 {
		return false
	}
	v, ok := t.stages[len(t.stages)-1].Program.(*winogradTiles)
	return ok && v.grid.bands*v.grid.pieces == 1
}

// newSlicePool prepares Pooled for a convolution for which poolsSlices holds. It returns nil if no kernel supports the pooling p.
func newSlicePool(c *Conv, p pool.Shape) (*Pooled, error) {
	if p.Method != pool.Max || p.KH*p.KW > vpool.MaxBlockWindow || !p.Meets() || p.OutBlocks && p.C%shape.BlockLanes != 0 {
		return nil, nil
	}
	v := &Pooled{each: &pooledSlices{shape: p, kernel: vpool.NewBlocks(vpool.BlocksShape{
		H: p.H, W: p.W, OH: p.OH, OW: p.OW, KH: p.KH, KW: p.KW, SH: p.SH, SW: p.SW, Top: p.PH, Left: p.PW,
	})}}
	results := Planes
	if p.OutBlocks {
		results = Blocks
	}
	again := *c
	v.conv = &again
	if err := again.SetLayouts(c.layouts[0], results); err != nil {
		return nil, err
	}
	for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient, shape.BothGradients} {
		problem, alike := c.problem(d), c.does[shape.WeightGradient]
		if d == shape.Forward || d == shape.InputGradient {
			alike = c.does[d]
		}
		problem.Results = results
		t := &winogradTask{task: &task{Problem: problem, machine: c.machine}, pooled: v.each}
		t.form = winogradForm(&problem.Shape, alike.doing().algorithm.Family)
		if d == shape.Forward {
			newWinogradTiles(newWinogradConv(t))
		} else {
			newWinogradSmall(t)
		}
		v.does[d] = t.task
	}
	return v, nil
}

// in and out are the numbers of values of a slice of an image's results, and of its pooled outputs.
func (p *pooledSlices) in() int  { return shape.BlockLanes * p.shape.H * p.shape.W }
func (p *pooledSlices) out() int { return shape.BlockLanes * p.shape.OH * p.shape.OW }

// room is the number of values that a core group needs for pooling: a slice of results or of their gradient, and one of outputs. It is 0 if p
// is nil.
func (p *pooledSlices) room() int {
	if p == nil {
		return 0
	}
	return p.in() + p.out()
}

// maskWords is the number of words of the mask.
func (p *pooledSlices) maskWords() int {
	return p.shape.N * tiling.Blocks(p.shape.C, shape.BlockLanes) * p.out() / 4
}

// slice returns a slice of an image's outputs, or of their gradient, the number of its channels, and the places of its maxima.
func (p *pooledSlices) slice(y []float32, image, slice int) (outputs []float32, lanes int, taken []uint8) {
	s := &p.shape
	first, n := slice*shape.BlockLanes, image*tiling.Blocks(s.C, shape.BlockLanes)+slice
	lanes = min(shape.BlockLanes, s.C-first)
	return y[(image*s.C+first)*s.OH*s.OW:][:lanes*s.OH*s.OW], lanes, p.taken[n*p.out() : (n+1)*p.out()]
}

// results returns the memory for a slice of results that max will pool.
func (p *pooledSlices) results(room []float32) []float32 { return room[:p.in()] }

// max pools a slice of results to the outputs y.
func (p *pooledSlices) max(room, y []float32, image, slice int) {
	s := &p.shape
	plane, all := s.OH*s.OW, vpool.Rows{To: s.OH}
	to, lanes, taken := p.slice(y, image, slice)
	if s.OutBlocks {
		p.kernel.Max(to, taken, room, all, s.ReLU)
		return
	}
	maxima := room[p.in():]
	p.kernel.Max(maxima, taken, room, all, s.ReLU)
	vec.Transpose(to, maxima, plane, shape.BlockLanes, plane, lanes)
}

// grad computes the gradient of a slice of results from that of the outputs.
func (p *pooledSlices) grad(room, dy []float32, image, slice int) []float32 {
	s := &p.shape
	plane := s.OH * s.OW
	from, lanes, taken := p.slice(dy, image, slice)
	if !s.OutBlocks {
		planes := from
		from = room[p.in():]
		if lanes < shape.BlockLanes {
			clear(from)
		}
		vec.Transpose(from, planes, shape.BlockLanes, plane, lanes, plane)
	}
	p.kernel.MaxGrad(room, from, taken, vpool.Rows{To: s.H})
	return p.results(room)
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vpool"
)

// pooledSlices is maximum pooling of the results of Winograd's convolution on the host, a slice of channels of an image at a time: results
// are pooled as soon as they have been mapped back, and their gradient is made when it is about to be mapped to points, so that either is
// in L1.
type pooledSlices struct {
	shape  pool.Shape
	kernel *vpool.Blocks
	taken  []uint8 // the places of maxima, of all lanes of the slices
}

// poolsSlices reports whether results can be pooled so: both gradients are those of small images, and a patch of tiles is an image.
func (c *Conv) poolsSlices() bool {
	f := c.does[shape.Forward].doing()
	if f == nil || f.planar || !c.JoinsGrads() {
		return false
	}
	return f.tilesAreImages()
}

// tilesAreImages reports whether a direction is winogradTiles', with a patch of tiles an image.
func (d *direction) tilesAreImages() bool {
	t, ok := d.kernel.(*task)
	if !ok || len(t.stages) == 0 {
		return false
	}
	v, ok := t.stages[len(t.stages)-1].Program.(*winogradTiles)
	return ok && v.grid.bands*v.grid.pieces == 1
}

// newSlicePool prepares Pooled for a convolution for which poolsSlices. It is nil where no kernel pools such windows.
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

// in and out are the values of a slice of an image's results, and of its outputs.
func (p *pooledSlices) in() int  { return shape.BlockLanes * p.shape.H * p.shape.W }
func (p *pooledSlices) out() int { return shape.BlockLanes * p.shape.OH * p.shape.OW }

// room is the number of values that a core group needs: a slice of results or of their gradient, and one of outputs. No room is needed where
// nothing is pooled.
func (p *pooledSlices) room() int {
	if p == nil {
		return 0
	}
	return p.in() + p.out()
}

// maskWords is the number of words of a mask.
func (p *pooledSlices) maskWords() int {
	return p.shape.N * tiling.Blocks(p.shape.C, shape.BlockLanes) * p.out() / 4
}

// slice returns a slice of an image's outputs, or of their gradient, its channels, and the places of its maxima.
func (p *pooledSlices) slice(y []float32, image, slice int) (outputs []float32, lanes int, taken []uint8) {
	s := &p.shape
	first, n := slice*shape.BlockLanes, image*tiling.Blocks(s.C, shape.BlockLanes)+slice
	lanes = min(shape.BlockLanes, s.C-first)
	return y[(image*s.C+first)*s.OH*s.OW:][:lanes*s.OH*s.OW], lanes, p.taken[n*p.out() : (n+1)*p.out()]
}

// results is where a slice of results goes before max pools it.
func (p *pooledSlices) results(room []float32) []float32 { return room[:p.in()] }

// max pools a slice of results to outputs y.
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

// grad makes the gradient of a slice of results from that of the outputs.
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

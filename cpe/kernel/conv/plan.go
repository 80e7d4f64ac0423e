package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// shiftable reports whether a kernel offset can be a shift: see slab. Where strides or dilations are far longer than kernels, most of
// a slab would be pixels that no output meets: more of them than columns have.
func shiftable(s shape.Conv) bool {
	if len(s.In) > 2 || s.Pointwise() {
		return false
	}
	const most = 4
	share := float64(1) // of the slab, in the columns
	for i, out := range s.OutSize() {
		slab := float64(s.Stride[i]) * float64(out+s.Dilation[i]*(s.Kernel[i]-1)/s.Stride[i])
		share *= float64(out) * float64(s.Kernel[i]) / slab
	}
	return share*most >= 1
}

// bandPlan is how the explicit strategy cuts its work.
type bandPlan struct {
	Band, Rows int // rows of outputs whose column matrix is written at once, of all
	// Chunks is the number of partial sums of the weight gradient, which core groups compute side by side and which are then
	// added in their order. On the host it depends on the shape alone, so that bits do not depend on the number of cores.
	Chunks int
}

// maxChunks bounds the number of partial weight gradients of the implicit strategy, which has them only where weights are
// few, and explicitChunks that of the explicit one on the host, which has no other way to share the work.
const (
	maxChunks      = 16
	explicitChunks = 4
)

// planBands cuts a convolution for a machine.
func planBands(spec *cpe.Spec, s *shape.Conv) bandPlan {
	out := s.OutSize()
	last := len(out) - 1
	p := bandPlan{Rows: tiling.Size(out[:last])}
	p.Band = p.Rows
	if spec.Native() && !s.Pointwise() && out[last] > 0 {
		// Half of L2 for the columns of a band, but at least 512 columns to keep the product efficient.
		columns := max(512, spec.LDMBytes/2/4/max(1, s.Depth()))
		p.Band = tiling.Even(p.Rows, max(1, columns/out[last]), 1)
	}
	chunks := spec.CoreGroups
	if spec.Native() {
		chunks = explicitChunks
	}
	p.Chunks = min(chunks, s.N*p.bands())
	return p
}

// implicitChunks cuts the sum over positions where the weights alone are too few to keep many cores busy.
func implicitChunks(s *shape.Conv) int {
	const weights, positions = 1 << 15, 1 << 10
	if s.Out/s.Group*s.Depth() >= weights {
		return 1
	}
	return max(1, min(maxChunks, s.N*tiling.Size(s.OutSize())/positions))
}

func (p *bandPlan) bands() int {
	if p.Rows == 0 {
		return 0
	}
	return tiling.Blocks(p.Rows, p.Band)
}

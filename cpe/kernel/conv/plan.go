package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// shiftable reports whether a padded copy of the image (see slab) can turn kernel offsets into shifts at a reasonable size. With strides or
// dilations far larger than the kernel, a slab would be more than four times as large as the column matrix.
func shiftable(s shape.Conv) bool {
	if len(s.In) > 2 || s.Pointwise() {
		return false
	}
	const most = 4
	share := float64(1) // size of the column matrix over that of the slab
	for i, out := range s.OutSize() {
		slab := float64(s.Stride[i]) * float64(out+s.Dilation[i]*(s.Kernel[i]-1)/s.Stride[i])
		share *= float64(out) * float64(s.Kernel[i]) / slab
	}
	return share*most >= 1
}

// bandPlan is the blocking of the explicit strategy.
type bandPlan struct {
	Band, Rows int // output rows of one column matrix, and of all
	// Chunks is the number of partial sums of the weight gradient. Core groups compute them concurrently; they are then added in order. On
	// the host the number depends on the shape alone, so that results have the same bits on any number of cores.
	Chunks int
}

// maxChunks bounds the number of partial weight gradients of the implicit strategy, which uses them only if there are few weights.
// explicitChunks is their number for the explicit strategy on the host, which has no other way to share the work.
const (
	maxChunks      = 16
	explicitChunks = 4
)

// planBands computes the blocking for a machine.
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

// implicitChunks returns the number of partial sums over positions. It is 1 if there are enough weights to keep many cores busy.
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

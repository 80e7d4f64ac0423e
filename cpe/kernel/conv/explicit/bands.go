package explicit

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// bandPlan is the blocking.
type bandPlan struct {
	Band, Rows int // output rows of one column matrix, and of all
	// Chunks is the number of partial sums of the weight gradient. Core groups compute them concurrently; they are then added in order. On
	// the host the number depends on the shape alone, so that results have the same bits on any number of cores.
	Chunks int
}

// hostChunks is the number of partial weight gradients on the host, where nothing else shares the work.
const hostChunks = 4

// planBands computes the blocking for a machine.
func planBands(spec *cpe.Spec, s *shape.Conv) bandPlan {
	out := s.OutSize()
	last := len(out) - 1
	p := bandPlan{Rows: tiling.Size(out[:last])}
	p.Band = p.Rows
	if !spec.HasDMA() && !s.Pointwise() && out[last] > 0 {
		// Half of L2 for the columns of a band, but at least 512 columns to keep the product efficient.
		columns := max(512, spec.LDMBytes/2/4/max(1, s.Depth()))
		p.Band = tiling.Even(p.Rows, max(1, columns/out[last]), 1)
	}
	chunks := spec.CoreGroups
	if !spec.HasDMA() {
		chunks = hostChunks
	}
	p.Chunks = min(chunks, s.N*p.bands())
	return p
}

// String describes the plan.
func (p bandPlan) String() string {
	text := fmt.Sprintf("column matrices of %d of %d output rows", p.Band, p.Rows)
	if p.Chunks > 1 {
		text += fmt.Sprintf(", weight gradients in %d partial sums", p.Chunks)
	}
	return text
}

// bands is the number of bands of an image.
func (p *bandPlan) bands() int {
	if p.Rows == 0 {
		return 0
	}
	return tiling.Blocks(p.Rows, p.Band)
}

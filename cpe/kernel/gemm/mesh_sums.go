package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// sharesSums reports whether MeshSums computes a product: a weight gradient, on a machine whose core groups have images of their own.
func (s *Shape) sharesSums(spec *cpe.Spec) bool {
	return spec.Software.DataParallel && s.TransA && s.Accumulate && s.K > 0
}

// newMeshSums plans MeshSums: Mesh with the sum over K shared among core groups. Each sums a part, and the parts are then added.
func newMeshSums(m *cpe.Machine, s Shape) (*Blocked, error) {
	groups, share := m.Spec().CoreGroups, s
	share.K, share.Accumulate = tiling.Blocks(s.K, groups), false
	g, err := planBlocked(m, s, share, MeshSums)
	if err != nil {
		return nil, err
	}
	g.split = Split{byDepth: true, unit: 1, Groups: min(groups, s.K)}
	g.partials, err = stream.NewPartials(m, g.split.Groups, s.M*s.N)
	return g, err
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Kept holds the packed weights of a kernel from one run to the next, if the caller knows whether weights have changed (Arrays.Fixed). The
// kernel's stage that packs them is then left out of most runs.
type Kept struct {
	values []float32
	of     uint64 // Arrays.Fixed of the run that packed them
}

// Fresh reports whether the n packed weights are those of this run. If not, and if they are to be kept, the stage that follows packs them.
func (k *Kept) Fresh(a *Arrays, n int) bool {
	switch {
	case a.Fixed == 0:
		return false
	case a.Fixed == k.of:
		return true
	case len(k.values) != n:
		k.values = pages.Floats(n)
	}
	k.of = a.Fixed
	return false
}

// Memory returns the place of the n packed weights: memory of their own or, if they are not kept, scratch memory that all core groups share.
func (k *Kept) Memory(g *cpe.CoreGroup, a *Arrays, n int) []float32 {
	if a.Fixed == 0 {
		return g.Common(n)
	}
	return k.values
}

package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Kept holds the packed weights of a kernel from one run to the next, if the caller knows whether weights have changed (Arrays.Fixed). The
// kernel's stage that packs them is then left out of most runs.
type Kept struct {
	// Unpack, if not nil, writes the packed weights back to the order of Arrays.W. It is nil if they are not the same values in another order.
	Unpack func(w, packed []float32)

	values []float32
	of     uint64 // Arrays.Fixed of the run that packed them
}

// Keeper is implemented by kernels that may keep packed weights.
type Keeper interface {
	// Keeps reports whether the kernel has packed the weights of Arrays.Fixed. Run then does not read W.
	Keeps(fixed uint64) bool
	// Unpacks reports whether Unpack can write the weights that the kernel has packed.
	Unpacks() bool
	// Unpack writes them to w, bit by bit, in the order of W.
	Unpack(w []float32)
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

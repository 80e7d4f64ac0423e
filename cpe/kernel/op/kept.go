package op

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Kept holds the packed weights of a kernel from one run to the next, if the caller knows whether weights have changed: it then gives them a number
// (conv.Arrays.Fixed). The kernel's stage that packs them is left out of most runs.
type Kept struct {
	// Restore, if not nil, writes the packed weights back in their own order: bit by bit, or rounded if factors are (Types). It is nil if they are not
	// the same values in another order.
	Restore func(w, packed []float32)

	values []float32
	of     uint64 // the number of the weights that are packed
}

// Keeper is implemented by kernels that may keep packed weights.
type Keeper interface {
	// Keeps reports whether the kernel has packed the weights of a number. It then does not read weights.
	Keeps(fixed uint64) bool
	// Unpacks reports whether Unpack can write the weights that the kernel has packed.
	Unpacks() bool
	// Unpack writes them to w in their own order; see Kept.Restore.
	Unpack(w []float32)
}

// Fresh reports whether the n packed values are those of this run's weights. If not, and if they are to be kept, the stage that follows packs them.
func (k *Kept) Fresh(fixed uint64, n int) bool {
	switch {
	case fixed == 0:
		return false
	case fixed == k.of:
		return true
	case len(k.values) != n:
		k.values = pages.Floats(n)
	}
	k.of = fixed
	return false
}

// Memory returns the place of the n packed values: memory of their own or, if they are not kept, scratch memory that all core groups share.
func (k *Kept) Memory(g *cpe.CoreGroup, fixed uint64, n int) []float32 {
	if fixed == 0 {
		return g.Common(n)
	}
	return k.values
}

// Keeps implements Keeper. A nil Kept keeps nothing.
func (k *Kept) Keeps(fixed uint64) bool { return fixed != 0 && k != nil && k.of == fixed }

// Unpacks implements Keeper.
func (k *Kept) Unpacks() bool { return k != nil && k.Restore != nil }

// Unpack implements Keeper.
func (k *Kept) Unpack(w []float32) { k.Restore(w, k.values) }

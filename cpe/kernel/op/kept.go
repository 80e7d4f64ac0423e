package op

import (
	"sync"
	"sync/atomic"
	"weak"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Weights stands for weights whose values do not change (conv.Arrays.Fixed), and has the forms in which kernels have packed them. All kernels that multiply with these
// weights, also of different nets and at the same time, share a form: it is packed once, and lives as long as one of them, or as weights that were stowed with it.
type Weights struct {
	mu    sync.Mutex
	forms map[string]weak.Pointer[Form] // by layout
}

// Form is packed weights.
type Form struct {
	// Rounds: Restore gives rounded weights.
	Rounds bool

	packing sync.Mutex  // held while a kernel packs them
	packed  atomic.Bool // the values are there, and do not change any more
	values  []float32
	restore func(w, packed []float32)
}

// Restore writes the weights to w in their own order. It implements blob.Restorer.
func (f *Form) Restore(w []float32) { f.restore(w, f.values) }

// pack calls a function that packs the n values, unless they are there. A caller that finds another one packing waits for it.
func (f *Form) pack(n int, pack func() error) error {
	if f.packed.Load() {
		return nil
	}
	f.packing.Lock()
	defer f.packing.Unlock()
	if f.packed.Load() {
		return nil
	}
	if f.values == nil {
		f.values = pages.Floats(n)
	}
	err := pack()
	f.packed.Store(err == nil)
	return err
}

// form returns the weights' form in the layout of k. If there is none, it makes an empty one if asked to, or returns nil.
func (w *Weights) form(k *Kept, create bool) *Form {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.forms[k.Layout].Value()
	if f == nil && create {
		f = &Form{Rounds: k.Rounds, restore: k.Restore}
		if w.forms == nil {
			w.forms = map[string]weak.Pointer[Form]{}
		}
		w.forms[k.Layout] = weak.Make(f)
	}
	return f
}

// Kept is a kernel's hold on the packed form of weights that do not change. The kernel's stage that packs them is left out of most runs.
type Kept struct {
	Layout string // how the kernel packs: kernels with equal layouts make the same values of the same weights
	Size   int    // the number of packed values
	// Restore, if not nil, writes the packed weights back in their own order: bit by bit, or rounded (Rounds). It is nil if they are not
	// the same values in another order. A form may outlive the kernel, so it refers to nothing that is large.
	Restore func(w, packed []float32)
	Rounds  bool // Restore gives rounded weights

	of   *Weights
	form *Form // of these
}

// Keeper is implemented by kernels that may keep packed weights.
type Keeper interface {
	// Keeps reports whether weights are packed for the kernel. It then does not read them.
	Keeps(of *Weights) bool
	// Form returns the packed weights if they can be restored, else nil.
	Form(of *Weights) *Form
}

// Parts reads weights that are not in memory: as many as dst holds, from number first on. Several goroutines may call it.
type Parts func(dst []float32, first int) error

// PartKeeper is implemented by kernels that may pack weights from parts, so that not all of them are in memory at a time.
type PartKeeper interface {
	Keeper
	// PackParts packs weights that do not change, or does nothing if the kernel needs all of them.
	PackParts(of *Weights, read Parts) error
}

// Pack calls a function that packs this run's weights, unless they do not change and are packed.
func (k *Kept) Pack(fixed *Weights, pack func() error) error {
	if k.of != fixed {
		if k.of, k.form = fixed, nil; fixed != nil {
			k.form = fixed.form(k, true)
		}
	}
	if fixed == nil {
		return pack()
	}
	return k.form.pack(k.Size, pack)
}

// Memory returns the place of the n packed values: the weights' form or, if they may change, scratch memory that all core groups share.
func (k *Kept) Memory(g *cpe.CoreGroup, fixed *Weights, n int) []float32 {
	if fixed == nil {
		return g.Common(n)
	}
	return k.form.values
}

// Keeps implements Keeper. A nil Kept keeps nothing.
func (k *Kept) Keeps(of *Weights) bool {
	if k == nil || of == nil {
		return false
	}
	if k.of != of {
		f := of.form(k, false)
		if f == nil {
			return false
		}
		k.of, k.form = of, f
	}
	return k.form.packed.Load()
}

// Form implements Keeper.
func (k *Kept) Form(of *Weights) *Form {
	if !k.Keeps(of) || k.form.restore == nil {
		return nil
	}
	return k.form
}

package part

import (
	"slices"
	"sync"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
)

// Fixed gives a layer the weights and biases that its Forward computes with. In a net for inference it keeps them in memory once: as the layer's own
// weights, or with Maps folded into them, or packed by the kernel. In the last two cases the layer's own weights are stowed (blob.Stow). Forward calls
// Take, runs its kernel and calls Settle. The zero value is ready for use.
type Fixed struct {
	own, folded *made
	folds       bool       // folded counts
	stowed      *made      // what the layer's own weights were stowed with
	held        *blob.Blob // weights in use (blob.Hold), or nil
	reads       bool       // a kernel reads them in every run
	folding     sync.Mutex // locked while stowed weights are folded
}

// Fold sets the Maps behind a layer with the given weights (layers.Folder); none ends folding.
func (f *Fixed) Fold(maps []layers.Map, weights []*blob.Blob) {
	f.folds = len(maps) > 0
	if f.folds && (f.folded == nil || !slices.Equal(f.folded.maps, maps) || f.folded.of[0] != weights[0]) {
		f.folded = newMade(weights, maps)
	}
}

// Folds reports whether Maps are folded into the weights.
func (f *Fixed) Folds() bool { return f.folds }

// Take returns the weights w, the biases b, nil if there are none, and a number for w: as long as it is the same, w is (op.Kept). 0 stands for
// weights that may change unseen. own are the layer's weights, with biases if there are two. In a net for inference w is nil if the kernel k keeps it; k
// may be nil.
func (f *Fixed) Take(m *cpe.Machine, own []*blob.Blob, k op.Keeper, inference bool) (w, b []float32, number uint64, err error) {
	if f.folds {
		f.use(f.folded)
		return f.folded.take(f, m, k, inference)
	}
	if len(own) > 1 {
		b = own[1].Values()
	}
	if inference {
		if f.own == nil || f.own.of[0] != own[0] {
			f.own = newMade(own[:1], nil)
		}
		f.use(f.own)
		if number = f.own.note(); keeps(k, number) {
			return nil, b, number, nil
		}
	}
	f.held = own[0]
	return f.held.Hold(f.reads), b, number, nil
}

// use brings back the layer's own weights if they were stowed with others than those that count now.
func (f *Fixed) use(now *made) {
	if f.stowed != nil && f.stowed != now {
		f.stowed.of[0].Hold(false)
		f.stowed.of[0].Free()
		f.stowed = nil
	}
}

// Settle ends the use of what Take has returned, after the kernel has run.
func (f *Fixed) Settle(k op.Keeper) {
	stowed := false
	if now := f.now(); now != nil && now.settle(k) {
		var memory []float32
		memory, stowed = f.stow(now, f.held != nil)
		pages.Release(memory)
	}
	if f.held != nil {
		f.reads = !stowed
		if !stowed {
			f.held.Free()
		}
		f.held = nil
	}
}

func (f *Fixed) now() *made {
	if f.folds {
		return f.folded
	}
	return f.own
}

// stow stows the layer's own weights, which w can restore.
func (f *Fixed) stow(w *made, held bool) (memory []float32, ok bool) {
	f.stowed = w
	return w.of[0].Stow(w.seen[0], f, held)
}

// Restore implements blob.Restorer.
func (f *Fixed) Restore(values []float32) {
	f.folding.Lock() // another net that has the same weights may look at them
	defer f.folding.Unlock()
	f.stowed.restore(values)
}

// keeps reports whether a kernel has packed the weights of a number.
func keeps(k op.Keeper, number uint64) bool { return number != 0 && k != nil && k.Keeps(number) }

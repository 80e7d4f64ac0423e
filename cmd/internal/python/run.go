package python

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/swcaffe/swcaffe/layers/data"
)

// Forward runs layers first to last and returns their weighted loss.
func Forward(h Handle, first, last int) (loss float64, err error) {
	defer guard(&err)
	n, err := find[*Net](h)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(n.layerIndex(first), n.layerIndex(last)); err != nil {
		return 0, err
	}
	use := n.use
	if first == 0 && last == n.net.NumLayers()-1 && n.infers() {
		use = func(_ bool, f func() error) error { return n.infer(f) }
	}
	return loss, use(true, func() error {
		loss = 0
		if first == 0 {
			clear(n.spent)
		}
		for i := first; i <= last; i++ {
			begin := time.Now()
			l, err := n.net.ForwardLayer(i)
			n.spent[i] = time.Since(begin)
			if err != nil {
				n.shaped = min(n.shaped, i) // this layer and later ones have the shapes of before
				return err
			}
			if n.shaped == i {
				n.shaped++
			}
			loss += l
		}
		return nil
	})
}

// Backward runs Backward of layers first down to last. It first passes on shapes that Python has changed, up to the first layer. Later
// layers may be unable to take them: programs run the lower part of a classifier on images of any size.
func Backward(h Handle, first, last int) (err error) {
	defer guard(&err)
	n, err := find[*Net](h)
	if err != nil {
		return err
	}
	if err := errors.Join(n.layerIndex(first), n.layerIndex(last)); err != nil {
		return err
	}
	return n.use(true, func() error {
		for ; n.shaped <= first; n.shaped++ {
			if err := n.net.ReshapeLayer(n.shaped); err != nil {
				return err
			}
		}
		for i := first; i >= last; i-- {
			if err := n.net.BackwardLayer(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// reshape updates the shapes of all blobs after the inputs'.
func (n *Net) reshape() error {
	if n.inference.may && n.shaped == n.net.NumLayers() {
		return nil
	}
	return n.use(true, func() error {
		n.shaped = 0
		if err := n.net.Reshape(); err != nil {
			return err
		}
		n.shaped = n.net.NumLayers()
		return nil
	})
}

// clearParamDiffs sets the gradients of all weights to zero.
func (n *Net) clearParamDiffs() error {
	return n.use(false, func() error {
		n.net.ClearParamDiffs()
		for _, l := range n.net.Learnable() {
			l.Blob.Diff() // numpy may look at the memory: write the zeros now
		}
		return nil
	})
}

// shareWith makes the layers of n use the weights of the layers of other with the same names.
func (n *Net) shareWith(other *Net) error {
	if err := other.gate.enter(false); err != nil {
		return err
	}
	defer other.gate.leave(false)
	if other.solver != nil { // n may change the solver's weights from now on
		if err := other.use(false, func() error { return nil }); err != nil {
			return err
		}
		other.solver.looked = true
	}
	if other.solver == nil {
		if err := other.use(false, func() error { other.inference.may = false; return nil }); err != nil {
			return err
		}
	}
	return n.use(false, func() error {
		n.inference.may = false // the weights can change unseen
		return n.net.ShareWeights(other.net)
	})
}

// Feed gives values to the net's first layer, a MemoryData layer. It keeps the addresses: the caller keeps the memory until the next Feed.
func Feed(h Handle, values unsafe.Pointer, count int, labels unsafe.Pointer, items int) (err error) {
	defer guard(&err)
	n, err := find[*Net](h)
	if err != nil {
		return err
	}
	if err := n.layerIndex(0); err != nil {
		return err
	}
	l, ok := n.net.Layer(0).(*data.MemoryData)
	if !ok {
		return fmt.Errorf("set_input_arrays: the net's first layer must be a MemoryData layer, it is a layer of type %s", n.net.LayerType(0))
	}
	return n.use(false, func() error {
		return l.Feed(unsafe.Slice((*float32)(values), count), unsafe.Slice((*float32)(labels), items))
	})
}

// timed is the time of one layer, in milliseconds.
type timed struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Forward  float64 `json:"forward"`
	Backward float64 `json:"backward"`
}

// spentTimes returns the nanoseconds of each layer in the last run forward. A layer that was computed along with another has hardly any.
func (n *Net) spentTimes() (spent []time.Duration, err error) {
	err = n.inside(false, func() error { spent = slices.Clone(n.spent); return nil })
	return spent, err
}

// times runs the net some times and returns the mean time of every layer.
func (n *Net) times(iterations int) ([]timed, error) {
	if iterations < 1 {
		return nil, invalid("time: %d iterations; at least one is needed", iterations)
	}
	list := make([]timed, n.net.NumLayers())
	measure := func(to *float64, run func() error) error {
		start := time.Now()
		err := run()
		*to += float64(time.Since(start)) / float64(time.Millisecond) / float64(iterations)
		return err
	}
	err := n.use(true, func() error {
		for range iterations {
			for i := range list {
				list[i].Name, list[i].Type = n.net.LayerName(i), n.net.LayerType(i)
				if err := measure(&list[i].Forward, func() error { _, err := n.net.ForwardLayer(i); return err }); err != nil {
					return err
				}
			}
			for i := len(list) - 1; i >= 0; i-- {
				if err := measure(&list[i].Backward, func() error { return n.net.BackwardLayer(i) }); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return list, err
}

package python

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// A program that trains by Step(1) seldom looks at more than the loss, and keeping all blobs in every iteration takes half as long again. So the
// training net may economise in short Steps, too. If Python then looks at a blob, the last iteration's passes are repeated with all blobs
// kept. The weights before the update are those after it plus the update, which their gradients hold; this differs from the weights
// before in the last bit at most. From then on the solver keeps all blobs in short Steps.

// repeatable reports whether a net's last run can be repeated: its layers have no state, and none overwrites a top of a layer without bottoms.
func repeatable(n *swnet.Net) bool {
	var data []*blob.Blob
	for i := range n.NumLayers() {
		if len(n.Bottoms(i)) == 0 {
			data = append(data, n.Tops(i)...)
			continue
		}
		if t, err := layers.Find(n.LayerType(i)); err != nil || t.Effect(n.LayerParam(i)) != "" {
			return false
		}
		for _, t := range n.Tops(i) {
			inPlace := slices.Contains(n.Bottoms(i), t)
			if inPlace && slices.ContainsFunc(data, t.SharesData) {
				return false
			}
		}
	}
	return true
}

// kept is a copy of values that a repetition overwrites.
type kept struct{ values, copy []float32 }

func keepValues(values []float32) kept { return kept{values, slices.Clone(values)} }

// repeat computes all blobs of the training net's last iteration again. Weights, their gradients and the outputs keep their values.
func (v *Solver) repeat() error {
	n := v.solver.Net()
	var all []kept
	for i := range n.NumLayers() {
		for k, id := range n.TopIDs(i) {
			if len(n.Bottoms(i)) > 0 && v.visible[id] {
				all = append(all, keepValues(n.Tops(i)[k].Data()))
			}
		}
	}
	for _, l := range n.Learnable() {
		weight, update := l.Blob.Data(), l.Blob.Diff()
		all = append(all, keepValues(weight), keepValues(update))
		vec.Add(weight, weight, update)
	}
	defer func() {
		for _, k := range all {
			copy(k.values, k.copy)
		}
	}()
	n.ClearParamDiffs()
	for i := range n.NumLayers() {
		if len(n.Bottoms(i)) > 0 {
			if _, err := n.ForwardLayer(i); err != nil {
				return err
			}
		}
	}
	return n.Backward(nil)
}

// mayRepeat reports whether the next iterations can be repeated later: Python has no view of weights and data, which it could change, nor
// of hidden blobs, and no hooks.
func (v *Solver) mayRepeat() bool {
	if !v.repeatable || v.looked || v.plain || v.watch.callbacks {
		return false
	}
	return !slices.ContainsFunc(v.nets, func(n *Net) bool { return n.hooks != 0 || n.isWatched() || n.isHeld() })
}

// see settles the training net if its last iteration needs that: Python can change weights and data from now on, which a repetition
// reads.
func (v *Solver) see() (err error) {
	if !v.stale {
		return nil
	}
	defer guard(&err)
	return inTurn(v.settle)
}

// settle makes the training net keep all blobs, with the values of its last iteration.
func (v *Solver) settle() error {
	if err := v.nets[0].net.Economise(false); err != nil || !v.stale {
		return err
	}
	v.stale, v.looked = false, true
	return v.repeat()
}

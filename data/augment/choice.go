package augment

import "github.com/swcaffe/swcaffe/proto/caffepb"

// choiceBatches is the number of batches between choices of a resize_param, as in MobileNet-YOLO and darknet.
const choiceBatches = 10

// choose prepares the choice among several resize_param.
func (a *Augmenter) choose(list []*caffepb.ResizeParameter) {
	if len(list) == 0 {
		return
	}
	if a.resize = list[0]; len(list) == 1 {
		return
	}
	for _, p := range list {
		one := *a
		one.resize = p
		a.choices, a.total = append(a.choices, &one), a.total+p.GetProb()
	}
}

// SetBatch tells the number of items of a batch, of all workers together. It must be called before the Augmenter is used.
func (a *Augmenter) SetBatch(items int) {
	if a != nil {
		a.span = choiceBatches * uint64(max(1, items))
	}
}

// Of returns the augmenter for an item of the stream, with one resize_param. The choice depends on the seed and the number of the ten batches alone,
// so that all items of a batch, all workers and resumed runs make the same one.
func (a *Augmenter) Of(seed, item uint64) *Augmenter {
	if len(a.choices) == 0 {
		return a
	}
	const apart = 0x7265_7369_7a65 // from the draws of items, which have the same seed
	u := NewDraws(seed^apart, item/a.span).Uniform(0, a.total)
	for _, c := range a.choices {
		if u -= c.resize.GetProb(); u < 0 {
			return c
		}
	}
	return a.choices[0] // behind rounding
}

// Warps reports whether every resize_param gives images its size whatever their proportions.
func (a *Augmenter) Warps() bool {
	for _, c := range a.choices {
		if !c.Warps() {
			return false
		}
	}
	return a.resize == nil || a.resize.GetResizeMode() == caffepb.ResizeParameter_WARP
}

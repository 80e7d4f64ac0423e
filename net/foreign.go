package net

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Losses in a user's code, as Caffe's own example of a Python layer, often take no notice of their tops' gradients, which are the loss weights. Of these, workers
// and core groups that divide a batch have their fraction (ScaleLoss). A foreign layer whose tops are all ends of the net therefore gets the whole weights,
// and what its Backward computes is multiplied by the fraction.

// findOwnLoss finds out whether a node is such a layer. written has the blobs whose gradient a later layer computes.
func (d *node) findOwnLoss(written map[int]bool) {
	d.ownLoss = d.kind.Foreign && slices.Contains(d.Starts, true) && !slices.ContainsFunc(d.TopIDs, func(id int) bool { return written[id] })
}

// scaling multiplies the gradients that Backward of a layer writes to its bottoms, and adds to its weights, by a factor.
type scaling struct {
	node   *node
	factor float32
	before [][]float32 // the weights' gradients
}

// beginScaling is called before Backward of a layer; end is called after it.
func (n *Net) beginScaling(d *node) (s scaling) {
	if !d.ownLoss || n.given || n.scale == 1 {
		return s
	}
	s = scaling{node: d, factor: n.scale}
	for _, w := range d.Params() {
		s.before = append(s.before, slices.Clone(w.Diff()))
	}
	return s
}

func (s *scaling) end() {
	if s.node == nil {
		return
	}
	var done []*blob.Blob // blobs may share a gradient
	for j, b := range s.node.Bottoms {
		if s.node.Propagate[j] && !slices.ContainsFunc(done, b.SharesDiff) {
			vec.Scale(b.Diff(), b.Diff(), s.factor)
			done = append(done, b)
		}
	}
	for i, w := range s.node.Params() {
		if slices.ContainsFunc(done, w.SharesDiff) {
			continue
		}
		for k, before := range s.before[i] {
			w.Diff()[k] = before + float32(s.factor*(w.Diff()[k]-before))
		}
		done = append(done, w)
	}
}

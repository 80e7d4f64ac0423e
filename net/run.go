package net

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

// Forward runs every layer and returns the weighted sum of the losses.
func (n *Net) Forward() (float64, error) {
	var loss float64
	for i := range n.nodes {
		l, err := n.ForwardLayer(i)
		if err != nil {
			return 0, err
		}
		loss += l
	}
	n.judge(loss)
	return loss, nil
}

// judge records what spoiled the loss, before Backward reuses the memory. It does so once, until a loss is finite again.
func (n *Net) judge(loss float64) {
	spoiled := math.IsNaN(loss) || math.IsInf(loss, 0)
	switch {
	case !spoiled:
		n.nonFinite = ""
	case !n.spoiled:
		n.nonFinite = n.findNonFinite()
	}
	n.spoiled = spoiled
}

// ForwardLayer reshapes and runs layer i and returns its weighted loss.
func (n *Net) ForwardLayer(i int) (float64, error) {
	if err := n.call(i, false, false); err != nil {
		return 0, err
	}
	loss, err := n.forwardLayer(i)
	if err != nil {
		return 0, err
	}
	return loss, n.call(i, false, true)
}

func (n *Net) forwardLayer(i int) (float64, error) {
	d := n.nodes[i]
	n.tidy()
	begun := n.begin()
	n.useArena()
	if err := n.withScratch(i, n.plan.Tasks[i].Forward); err != nil {
		return 0, n.fail(d, err)
	}
	n.ran(i, false, begun)
	if n.debug {
		n.forwardDebug(d)
	}
	var loss float64
	for k, w := range d.Loss {
		if w == 0 {
			continue
		}
		for _, v := range d.Tops[k].Data() {
			loss += float64(w) * float64(v)
		}
	}
	return loss, nil
}

// ReshapeLayer updates the shapes of layer i's tops, as ForwardLayer does before it runs the layer.
func (n *Net) ReshapeLayer(i int) (err error) {
	defer pages.Catch(&err)
	if err := n.plan.Tasks[i].Reshape(); err != nil {
		return n.fail(n.nodes[i], err)
	}
	return nil
}

// ScaleLoss multiplies the loss by a factor in Backward only. Forward's result does not change.
func (n *Net) ScaleLoss(factor float32) { n.scale = factor }

// Backward runs the layers in reverse and writes the gradients to the blobs' diffs. It adds to the weights' gradients, which are then
// complete in memory, zeros included (see blob.StartDiff). It calls done, if not nil, for each layer in the same order, once the gradients
// of the layer and of all later layers are complete.
func (n *Net) Backward(done func(layer int)) error {
	next := len(n.nodes) - 1
	for i := next; i >= 0; i-- {
		if err := n.BackwardLayer(i); err != nil {
			return err
		}
		for ; next >= i && n.plan.Complete(next, i); next-- {
			n.writeGradients(next)
			if done != nil {
				done(next)
			}
		}
	}
	if n.debug {
		n.backwardSummary()
	}
	return nil
}

// writeGradients writes zero gradients of layer i's weights to memory that are only noted so far, for callers that read that memory
// directly.
func (n *Net) writeGradients(i int) {
	for _, b := range n.nodes[i].Params() {
		b.Diff()
	}
}

// BackwardLayer runs Backward of layer i if the net needs it. The gradient of a top with a loss weight starts from that weight, unless a
// later layer has computed one.
func (n *Net) BackwardLayer(i int) error {
	if n.graph.ForwardOnly {
		panic("net: Backward of a net that was built for Forward only")
	}
	if err := n.call(i, true, false); err != nil {
		return err
	}
	if err := n.backwardLayer(i); err != nil {
		return err
	}
	return n.call(i, true, true)
}

func (n *Net) backwardLayer(i int) error {
	d := n.nodes[i]
	if !d.NeedsBackward {
		return nil
	}
	begun := n.begin()
	if !n.given {
		n.start(d)
	}
	scaled := n.beginScaling(d)
	params, bottoms := n.plan.BackSteps(i)
	if err := n.withScratch(params, n.plan.Tasks[i].BackwardParams); err != nil {
		return n.fail(d, err)
	}
	if err := n.withScratch(bottoms, n.plan.Tasks[i].Backward); err != nil {
		return n.fail(d, err)
	}
	scaled.end()
	n.ran(i, true, begun)
	if n.debug {
		n.backwardDebug(d)
	}
	return nil
}

// start sets the gradients of a layer's tops from which Backward starts.
func (n *Net) start(d *node) {
	scale := n.scale
	if d.ownLoss {
		scale = 1
	}
	for k, w := range d.Loss {
		if d.Starts[k] {
			vec.Fill(d.Tops[k].Diff(), w*scale)
		}
	}
}

// GiveStarts sets the gradients from which Backward starts to the loss weights, once. From then on Backward leaves them as they are, so that
// a caller can start from other gradients, as in Caffe.
func (n *Net) GiveStarts() {
	n.given = true
	for _, d := range n.nodes {
		n.start(d)
	}
}

// Gradients selects a part of a layer's Backward.
type Gradients int

const (
	// InputGradients selects the gradients of the bottoms.
	InputGradients Gradients = iota
	// WeightGradients selects the gradients of the parameters.
	WeightGradients
)

// BackwardLayerPart runs Backward of layer i for its bottoms only or its parameters only. Callers use it to measure the cost of each.
func (n *Net) BackwardLayerPart(i int, part Gradients) error {
	d := n.nodes[i]
	selector, ok := d.Layer.(layers.GradSelector)
	wanted := ok && len(d.paramIDs) > 0
	if part == WeightGradients && !wanted {
		return nil
	}
	t := n.plan.Tasks[i]
	propagate := t.Propagate
	if part == WeightGradients {
		t.Propagate = make([]bool, len(propagate))
	} else if wanted {
		for k := range d.paramIDs {
			selector.SetParamGrad(k, false)
		}
	}
	err := n.BackwardLayer(i)
	t.Propagate = propagate
	for k, id := range d.paramIDs {
		if wanted {
			selector.SetParamGrad(k, n.params[id].needGrad)
		}
	}
	return err
}

// ForwardBackward runs Forward and Backward and returns the loss.
func (n *Net) ForwardBackward() (float64, error) {
	loss, err := n.Forward()
	if err != nil {
		return 0, err
	}
	return loss, n.Backward(nil)
}

// ClearParamDiffs sets the weights' gradients to zero. The memory is cleared later, only if necessary: in the next Backward, unless a layer
// overwrites the gradient, or in a call of Diff.
func (n *Net) ClearParamDiffs() {
	for i := range n.learnable {
		n.learnable[i].Blob.StartDiff()
	}
}

// Reshape updates the shapes of all blobs, after a caller has reshaped a bottom of the first layers.
func (n *Net) Reshape() (err error) {
	defer pages.Catch(&err)
	n.plan.Release()
	for _, d := range n.nodes {
		if err := d.Reshape(d.Bottoms, d.Tops); err != nil {
			return n.fail(d, err)
		}
	}
	return n.schedule()
}

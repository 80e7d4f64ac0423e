package net

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
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

// judge looks for what spoiled the loss before Backward uses the memory; once, until a loss is a number again.
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
	d := n.nodes[i]
	n.useArena()
	if err := n.withScratch(i, n.plan.Tasks[i].Forward); err != nil {
		return 0, n.fail(d, err)
	}
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

// ScaleLoss makes Backward compute the gradients of the loss times a factor. What Forward returns stays as it is.
func (n *Net) ScaleLoss(factor float32) { n.scale = factor }

// Backward runs the layers in reverse and leaves the gradients in the blobs' diffs; those of weights are added to what is there, and
// stand in memory then, zeros too (see blob.StartDiff). done, if not nil, is told of each layer in the same order, as soon as the
// gradients of it and of all behind it are there.
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

// writeGradients has the gradients of layer i's weights in memory, if only zeros, for who reads the memory they were placed in.
func (n *Net) writeGradients(i int) {
	for _, b := range n.nodes[i].Params() {
		b.Diff()
	}
}

// BackwardLayer runs Backward of layer i if the net needs it. A top with a loss weight, unless a layer behind has given it a gradient,
// starts with that.
func (n *Net) BackwardLayer(i int) error {
	d := n.nodes[i]
	if n.opt.ForwardOnly {
		panic("net: Backward of a net that was built for Forward only")
	}
	if !d.NeedsBackward {
		return nil
	}
	for k, w := range d.Loss {
		if d.Starts[k] {
			vec.Fill(d.Tops[k].Diff(), w*n.scale)
		}
	}
	params, bottoms := n.plan.BackSteps(i)
	if err := n.withScratch(params, n.plan.Tasks[i].BackwardParams); err != nil {
		return n.fail(d, err)
	}
	if err := n.withScratch(bottoms, n.plan.Tasks[i].Backward); err != nil {
		return n.fail(d, err)
	}
	if n.debug {
		n.backwardDebug(d)
	}
	return nil
}

// Gradients is a part of a layer's Backward.
type Gradients int

const (
	// InputGradients are those of the bottoms.
	InputGradients Gradients = iota
	// WeightGradients are those of the parameters.
	WeightGradients
)

// BackwardLayerPart runs Backward of layer i for its bottoms or its parameters alone. It is for counting what each costs.
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

// ForwardBackward runs one pass of each and returns the loss.
func (n *Net) ForwardBackward() (float64, error) {
	loss, err := n.Forward()
	if err != nil {
		return 0, err
	}
	return loss, n.Backward(nil)
}

// ClearParamDiffs makes the gradients of the weights zero. Memory is cleared when it is needed: by the next Backward, where layers do
// not overwrite it, or when a blob's Diff is called.
func (n *Net) ClearParamDiffs() {
	for i := range n.learnable {
		n.learnable[i].Blob.StartDiff()
	}
}

// Reshape gives all blobs their shapes anew, after a bottom of the first layers has been reshaped by hand.
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

// FirstNonFinite looks for the layer in which a NaN or an infinity first appears, in forward order: in its weights or
// in its tops as the last Forward left them. It returns "" where all values are finite. If the net economises, tops that
// Backward does not need are passed over, and the others are looked at if the loss was no number. Of several such Forwards in a row it
// tells what the first one left.
func (n *Net) FirstNonFinite() string {
	if n.nonFinite != "" {
		return n.nonFinite
	}
	return n.findNonFinite()
}

func (n *Net) findNonFinite() string {
	for _, d := range n.nodes {
		for i, b := range d.Params() {
			if at := nonFinite(b); at >= 0 {
				return fmt.Sprintf("layer %q (%s): weight blob %d holds %g at index %d", d.param.GetName(), d.param.GetType(), i, b.Data()[at], at)
			}
		}
		for k, b := range d.Tops {
			if n.plan.OnlyForward(b) {
				continue
			}
			if at := n.nonFiniteTop(b); at >= 0 {
				return fmt.Sprintf("layer %q (%s): top blob %q holds %g at index %d", d.param.GetName(), d.param.GetType(), n.graph.Names[d.TopIDs[k]], b.Data()[at], at)
			}
		}
	}
	return ""
}

// nonFiniteTop looks at the values of a top that exist, which are not all where images are thin.
func (n *Net) nonFiniteTop(b *blob.Blob) int {
	first := -1
	n.plan.EachMade(b, func(at int, values []float32) {
		if i := nonFiniteOf(values); i >= 0 && first < 0 {
			first = at + i
		}
	})
	return first
}

func nonFinite(b *blob.Blob) int { return nonFiniteOf(b.Data()) }

// nonFiniteOf returns the index of the first NaN or infinity, -1 if there is none.
func nonFiniteOf(values []float32) int {
	for i, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return i
		}
	}
	return -1
}

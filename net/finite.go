package net

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
)

// FirstNonFinite names the first layer, in forward order, with a NaN or an infinity in its weights or in its tops after the last Forward.
// It returns "" if all values are finite. If the net economises, FirstNonFinite skips tops that Backward does not need, and checks the
// others only if the loss was not finite. After several such Forwards in a row it reports the first.
func (n *Net) FirstNonFinite() string {
	if n.nonFinite != "" {
		return n.nonFinite
	}
	return n.findNonFinite()
}

// NonFiniteWeight names the first layer with a NaN or an infinity in its weights, or returns "".
func (n *Net) NonFiniteWeight() string {
	for _, d := range n.nodes {
		if where := d.nonFiniteWeight(); where != "" {
			return where
		}
	}
	return ""
}

func (d *node) nonFiniteWeight() string {
	for i, b := range d.Params() {
		if at := nonFinite(b); at >= 0 {
			return fmt.Sprintf("layer %q (%s): weight blob %d holds %g at index %d", d.param.GetName(), d.param.GetType(), i, b.Values()[at], at)
		}
	}
	return ""
}

func (n *Net) findNonFinite() string {
	for _, d := range n.nodes {
		if where := d.nonFiniteWeight(); where != "" {
			return where
		}
		for k, b := range d.Tops {
			if n.plan.OnlyForward(b) {
				continue
			}
			if at, v := n.nonFiniteTop(b); at >= 0 {
				return fmt.Sprintf("layer %q (%s): top blob %q holds %g at index %d", d.param.GetName(), d.param.GetType(), n.graph.Names[d.TopIDs[k]], v, at)
			}
		}
	}
	return ""
}

// nonFiniteTop returns the index and the value of the first NaN or infinity of a top, without the undefined values of thin images, or -1.
func (n *Net) nonFiniteTop(b *blob.Blob) (first int, v float32) {
	first = -1
	n.plan.EachMade(b, func(at int, values []float32) {
		if i := nonFiniteOf(values); i >= 0 && first < 0 {
			first, v = at+i, values[i]
		}
	})
	return first, v
}

func nonFinite(b *blob.Blob) int { return nonFiniteOf(b.Values()) }

// nonFiniteOf returns the index of the first NaN or infinity, or -1.
func nonFiniteOf(values []float32) int {
	for i, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return i
		}
	}
	return -1
}

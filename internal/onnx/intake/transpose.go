package intake

import (
	"fmt"
	"slices"
)

// perm returns the attribute perm, which reverses the axes if it is missing.
func (n *node) perm(axes int) ([]int, error) {
	reversed := make([]int, axes)
	for i := range reversed {
		reversed[i] = axes - 1 - i
	}
	perm := n.ints("perm", reversed)
	sorted := slices.Sorted(slices.Values(perm))
	for i := range sorted {
		if len(perm) != axes || sorted[i] != i {
			return nil, fmt.Errorf("perm %v for %d axes", perm, axes)
		}
	}
	return perm, nil
}

// transpose waits: a later transpose may undo it, or the reader work without it.
func transpose(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	if v.pad != nil || v.flat > 0 {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	perm, err := n.perm(len(v.shape))
	if err != nil {
		return err
	}
	composed := make([]int, len(perm))
	identity := true
	for i, p := range perm {
		composed[i] = p
		if v.perm != nil {
			composed[i] = v.perm[p]
		}
		identity = identity && composed[i] == i
	}
	out := &value{blob: v.blob, shape: v.shape, perm: composed, positive: v.positive, whole: v.whole}
	if identity {
		out.perm = nil
	}
	n.set(0, out)
	return nil
}

// pad waits for a convolution or pooling if it is of spatial axes alone. Any other becomes layers at once.
func pad(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	pads, err := n.padding(len(v.shape))
	if err != nil {
		return err
	}
	if len(pads) != 2*len(v.shape) || slices.ContainsFunc(pads, func(p int) bool { return p < -(1<<20) || p > 1<<20 }) {
		return fmt.Errorf("pads %v for a value of shape %v", pads, v.shape)
	}
	mode := n.text("mode", "constant")
	fill, err := n.fillOf() // has no effect in other modes
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(pads, func(p int) bool { return p != 0 }) {
		n.set(0, v)
		return nil
	}
	switch mode {
	case "constant":
	case "edge", "reflect", "wrap":
		return composed(func(c chain) *value { return c.border(v, pads, c.mirrors(mode)) })(n)
	default:
		return fmt.Errorf("mode %q is unknown", mode)
	}
	out := &value{blob: v.blob, shape: v.shape, pad: pads, fill: fill, positive: v.positive}
	if axes := len(v.shape); axes < 3 || slices.Min(pads) < 0 || pads[0]+pads[1]+pads[axes]+pads[axes+1] > 0 {
		if out, err = n.bordered(out); err != nil {
			return err
		}
	}
	n.set(0, out)
	return nil
}

// common returns the inputs, constants as Parameter layers, with the transpose that all of them have.
func (n *node) common() (in []*value, perm []int, err error) {
	same := true
	for k := range n.GetInput() {
		v, err := n.input(k)
		if err != nil {
			return nil, nil, err
		}
		in = append(in, v)
		same = same && slices.Equal(v.perm, in[0].perm) && v.pad == nil && v.flat == 0
	}
	if same && len(in) > 0 {
		return in, in[0].perm, nil
	}
	for k := range in {
		if in[k], err = n.settle(in[k]); err != nil {
			return nil, nil, err
		}
	}
	return in, nil, nil
}

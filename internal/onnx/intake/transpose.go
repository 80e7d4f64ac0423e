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
	out := &value{blob: v.blob, shape: v.shape, perm: composed, positive: v.positive}
	if identity {
		out.perm = nil
	}
	n.set(0, out)
	return nil
}

// pad waits for a convolution or pooling. In a transposed value it waits in the order of the blob's axes.
func pad(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	if a := n.attr("mode"); a != nil && string(a.GetS()) != "constant" {
		return fmt.Errorf("mode %q has no form in Caffe", a.GetS())
	}
	pads, err := n.list("pads", 1)
	if err != nil {
		return err
	}
	if v.flat > 0 || v.pad != nil || v.perm != nil {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	if len(pads) != 2*len(v.shape) || slices.ContainsFunc(pads, func(p int) bool { return p < 0 || p > 1<<20 }) {
		return fmt.Errorf("pads %v for a value of shape %v", pads, v.shape)
	}
	fill := n.float("value", 0)
	if t, err := n.optional(2); err != nil {
		return err
	} else if t != nil && len(t.Floats) == 1 {
		fill = t.Floats[0]
	}
	out := &value{blob: v.blob, shape: v.shape, pad: pads, fill: fill, positive: v.positive}
	if !slices.ContainsFunc(pads, func(p int) bool { return p != 0 }) {
		out.pad = nil
	}
	n.set(0, out)
	return nil
}

// common returns the inputs with the transpose that all of them have.
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

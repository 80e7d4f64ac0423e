package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
)

// bordered makes layers of a padding with a constant: Concat with Parameter layers. Negative padding cuts off.
func (n *node) bordered(v *value) (*value, error) {
	var out *value
	err := composed(func(c chain) *value {
		x := v
		if x.perm != nil {
			x = must(c.settle(&value{blob: v.blob, shape: v.shape, perm: v.perm}))
		}
		x = c.border(&value{blob: x.blob, shape: x.shape}, v.pad, func(x *value, axis, extent int, _ bool) *value {
			dims := slices.Clone(x.shape)
			dims[axis] = extent
			fill := floats(slices.Repeat([]float32{v.fill}, count(dims)), dims...)
			return must(c.held(fill, c.GetOutput()[0]+"_border"))
		})
		out = x
		if v.flat > 0 {
			out = c.shaped(x, v.dims()...)
		}
		return nil
	})(n)
	return out, err
}

// border joins pieces before and behind each axis. piece makes one of an extent, before or behind x.
func (c chain) border(x *value, pads []int, piece func(x *value, axis, extent int, behind bool) *value) *value {
	axes := len(x.shape)
	for axis := range axes {
		before, behind := pads[axis], pads[axes+axis]
		if from, to := max(0, -before), x.shape[axis]-max(0, -behind); from > 0 || to < x.shape[axis] {
			if from >= to {
				c.refuse("pads %v leave nothing of axis %d of shape %v", pads, axis, x.shape)
			}
			x = c.between(x, axis, from, to)
		}
		list := []*value{x}
		if before > 0 {
			list = slices.Insert(list, 0, piece(x, axis, before, false))
		}
		if behind > 0 {
			list = append(list, piece(x, axis, behind, true))
		}
		x = c.concatenated(axis, list...)
	}
	return x
}

// mirrors makes the pieces of padding in modes edge, reflect and wrap.
func (c chain) mirrors(mode string) func(x *value, axis, extent int, behind bool) *value {
	return func(x *value, axis, extent int, behind bool) *value {
		size := x.shape[axis]
		switch {
		case mode == "edge" && behind:
			return c.tiled(c.between(x, axis, size-1, size), axis, extent)
		case mode == "edge":
			return c.tiled(c.between(x, axis, 0, 1), axis, extent)
		case mode == "reflect" && extent >= size || extent > size:
			c.refuse("mode %q repeats %d values of an axis of %d", mode, extent, size)
		case mode == "reflect" && behind:
			return c.reversed(c.between(x, axis, size-1-extent, size-1), axis)
		case mode == "reflect":
			return c.reversed(c.between(x, axis, 1, 1+extent), axis)
		case behind:
			return c.between(x, axis, 0, extent)
		}
		return c.between(x, axis, size-extent, size)
	}
}

// padding reads a Pad's extents for all axes.
func (n *node) padding(axes int) ([]int, error) {
	pads, err := n.list("pads", 1)
	if err != nil {
		return nil, err
	}
	chosen, err := n.list("", 3)
	if err != nil {
		return nil, err
	}
	if chosen == nil {
		return pads, nil
	}
	all := make([]int, 2*axes)
	if len(pads) != 2*len(chosen) {
		return nil, fmt.Errorf("pads %v for axes %v", pads, chosen)
	}
	for i, axis := range chosen {
		if axis, err = axisOf(axis, axes); err != nil {
			return nil, err
		}
		all[axis], all[axes+axis] = pads[i], pads[len(chosen)+i]
	}
	return all, nil
}

// fillOf reads a Pad's value.
func (n *node) fillOf() (float32, error) {
	var t *onnx.Tensor
	t, err := n.optional(2)
	switch {
	case err != nil:
		return 0, err
	case t == nil:
		return n.float("value", 0), nil
	case len(t.Floats) != 1:
		return 0, fmt.Errorf("a value of shape %v", t.Dims)
	}
	return t.Floats[0], nil
}

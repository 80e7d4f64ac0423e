package intake

import (
	"fmt"
	"slices"
)

// flatten waits for a Gemm, which takes the axis over.
func flatten(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	axis, err := n.flatAxis(len(v.dims()))
	if err != nil {
		return err
	}
	return n.flattened(v, axis)
}

// flatAxis reads the axis of a Flatten from which on values become columns.
func (n *node) flatAxis(axes int) (int, error) {
	axis := n.int("axis", 1)
	if axis < 0 {
		axis += axes
	}
	if axis < 0 || axis > axes {
		return 0, fmt.Errorf("axis %d of a value with %d axes", n.int("axis", 1), axes)
	}
	return axis, nil
}

// flattened gives a value two axes. Transposes of axes with extent 1 need no layer.
func (n *node) flattened(v *value, axis int) (err error) {
	if v.pad != nil || v.flat > 0 || v.moves() {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	dims := v.dims()
	if v.perm != nil && len(dims) > 1 && axis == 1 && v.shape[0] == dims[0] {
		v = &value{blob: v.blob, shape: v.shape, positive: v.positive, whole: v.whole}
	}
	if v.perm != nil {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	if len(v.shape) == 2 && axis == 1 {
		n.set(0, v)
		return nil
	}
	n.set(0, &value{blob: v.blob, shape: v.shape, flat: axis + 1, positive: v.positive, whole: v.whole})
	return nil
}

// target resolves 0 and -1 in the shape of a Reshape.
func target(from, to []int, zeros bool) ([]int, error) {
	out, open := slices.Clone(to), -1
	for i, d := range to {
		switch {
		case d == 0 && !zeros && i < len(from):
			out[i] = from[i]
		case d == -1 && open < 0:
			open, out[i] = i, 1
		case d < 0 || d == 0:
			return nil, fmt.Errorf("shape %v for a value of shape %v", to, from)
		}
	}
	if open >= 0 && count(out) > 0 {
		out[open] = count(from) / count(out)
	}
	if count(out) != count(from) || len(out) > 32 {
		return nil, fmt.Errorf("shape %v for a value of shape %v", to, from)
	}
	return out, nil
}

func reshape(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	to, err := n.list("shape", 1)
	if err != nil {
		return err
	}
	return n.reshaped(v, to, n.int("allowzero", 0) != 0)
}

func (n *node) reshaped(v *value, to []int, zeros bool) error {
	dims, err := target(v.dims(), to, zeros)
	if err != nil {
		return err
	}
	if len(dims) == 2 && len(v.dims()) > 0 && dims[0] == v.dims()[0] && v.flat == 0 {
		return n.flattened(v, 1)
	}
	if v.perm != nil || v.pad != nil || v.flat > 0 {
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	out, err := n.reshape(v, dims)
	n.set(0, out)
	return err
}

// squeezed leaves out axes of extent 1, all if axes is empty, or inserts them.
func squeezed(dims, axes []int, insert bool) ([]int, error) {
	out := []int{}
	if insert {
		total := len(dims) + len(axes)
		gone := make([]bool, total)
		for _, a := range axes {
			at, err := axisOf(a, total)
			if err != nil || gone[at] {
				return nil, fmt.Errorf("axes %v for shape %v", axes, dims)
			}
			gone[at] = true
		}
		for i, k := 0, 0; i < total; i++ {
			if gone[i] {
				out = append(out, 1)
				continue
			}
			out = append(out, dims[k])
			k++
		}
		return out, nil
	}
	for i, d := range dims {
		drop := len(axes) == 0 && d == 1
		for _, a := range axes {
			at, err := axisOf(a, len(dims))
			if err != nil {
				return nil, err
			}
			drop = drop || at == i
		}
		if drop && d != 1 {
			return nil, fmt.Errorf("axis %d of shape %v has not extent 1", i, dims)
		}
		if !drop {
			out = append(out, d)
		}
	}
	return out, nil
}

// squeeze is also Unsqueeze.
func squeeze(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	axes, err := n.list("axes", 1)
	if err != nil {
		return err
	}
	dims, err := squeezed(v.dims(), axes, n.GetOpType() == "Unsqueeze")
	if err != nil {
		return err
	}
	return n.reshaped(v, dims, true)
}

package intake

import (
	"fmt"
	"slices"
)

// cut is a range of an axis: count values from from on, step apart.
type cut struct{ axis, from, count, step int }

// cuts reads a Slice's ranges.
func (n *node) cuts(dims []int) (cuts []cut, err error) {
	var lists [4][]int
	for k, name := range []string{"starts", "ends", "axes", "steps"} {
		if lists[k], err = n.list(name, 1+k); err != nil {
			return nil, err
		}
	}
	starts, ends, axes, steps := lists[0], lists[1], lists[2], lists[3]
	if len(starts) != len(ends) || axes != nil && len(axes) != len(starts) || steps != nil && len(steps) != len(starts) {
		return nil, fmt.Errorf("starts %v, ends %v, axes %v and steps %v are not equally many", starts, ends, axes, steps)
	}
	for i := range starts {
		axis, step := i, 1
		if axes != nil {
			axis = axes[i]
		}
		if steps != nil {
			step = steps[i]
		}
		if axis, err = axisOf(axis, len(dims)); err != nil {
			return nil, err
		}
		c, err := newCut(axis, starts[i], ends[i], step, dims[axis])
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(cuts, func(o cut) bool { return o.axis == axis }) {
			return nil, fmt.Errorf("axis %d occurs twice in %v", axis, axes)
		}
		cuts = append(cuts, c)
	}
	return cuts, nil
}

// newCut is ONNX's rule: negative bounds count from the end, and bounds outside are moved to the end of the axis.
func newCut(axis, from, to, step, extent int) (cut, error) {
	low, high := 0, extent
	if step < 0 {
		low, high = -1, extent-1
	}
	if from < 0 {
		from += extent
	}
	if to < 0 {
		to += extent
	}
	from, to = max(0, min(from, high)), max(low, min(to, high))
	if step == 0 {
		return cut{}, fmt.Errorf("step 0 of axis %d", axis)
	}
	n := (to - from + step - 1) / step
	if step < 0 {
		n = (from - to - step - 1) / -step
	}
	if n < 1 {
		return cut{}, fmt.Errorf("nothing is left of axis %d of extent %d: %d to %d in steps of %d", axis, extent, from, to, step)
	}
	if n == 1 {
		step = 1
	}
	return cut{axis, from, n, step}, nil
}

// slice adds Slice layers, behind a Reverse layer for a negative step.
var slice = composed(func(c chain) *value {
	v := must(c.plain(0))
	for _, k := range must(c.cuts(v.shape)) {
		v = c.cut(v, k)
	}
	return v
})

// cut takes one range. Of steps above 1, a Reshape gives the values between two steps an axis of their own; the last value, where no whole step
// is behind it, is joined.
func (c chain) cut(v *value, k cut) *value {
	extent := v.shape[k.axis]
	if k.step < 0 {
		v, k.from, k.step = c.reversed(v, k.axis), extent-1-k.from, -k.step
	}
	if k.step == 1 {
		if k.count == extent {
			return v
		}
		return c.between(v, k.axis, k.from, k.from+k.count)
	}
	whole, rest := k.count, 0
	if k.from+k.count*k.step > extent {
		whole, rest = k.count-1, 1
	}
	end := k.from + whole*k.step
	var last *value
	if rest == 1 {
		if end+1 < extent || k.from > 0 {
			v, end = c.between(v, k.axis, k.from, end+1), end-k.from
		}
		both := c.parts(v, k.axis, end)
		v, last = both[0], both[1]
	} else if k.from > 0 || end < extent {
		v = c.between(v, k.axis, k.from, end)
	}
	dims := v.shape
	v = c.shaped(v, slices.Concat(dims[:k.axis], []int{whole, k.step}, dims[k.axis+1:])...)
	v = c.between(v, k.axis+1, 0, 1)
	v = c.shaped(v, slices.Concat(dims[:k.axis], []int{whole}, dims[k.axis+1:])...)
	if rest == 1 {
		v = c.concatenated(k.axis, v, last)
	}
	return v
}

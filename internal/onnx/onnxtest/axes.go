package onnxtest

import (
	"slices"
	"sort"
)

func flatten(c *call) {
	x, axis := c.in[0], c.int("axis", 1)
	if axis < 0 {
		axis += len(x.Dims)
	}
	c.out[0] = &Tensor{[]int{count(x.Dims[:axis]), count(x.Dims[axis:])}, x.Data}
}

func reshape(c *call) {
	x, to := c.in[0], c.numbers(1)
	open := -1
	for i, d := range to {
		switch d {
		case 0:
			if c.int("allowzero", 0) == 0 {
				to[i] = x.Dims[i]
			}
		case -1:
			open, to[i] = i, 1
		}
	}
	if open >= 0 {
		to[open] = len(x.Data) / count(to)
	}
	if count(to) != len(x.Data) {
		panic("Reshape changes the number of values")
	}
	c.out[0] = &Tensor{to, x.Data}
}

func permute(x *Tensor, perm []int) *Tensor {
	dims := make([]int, len(perm))
	for i, p := range perm {
		dims[i] = x.Dims[p]
	}
	y := New(dims...)
	source := make([]int, len(perm))
	each(dims, func(n int, index []int) {
		for i, p := range perm {
			source[p] = index[i]
		}
		at := 0
		for i, s := range source {
			at = at*x.Dims[i] + s
		}
		y.Data[n] = x.Data[at]
	})
	return y
}

func transpose(c *call) {
	var reversed []int
	for i := range c.in[0].Dims {
		reversed = append([]int{i}, reversed...)
	}
	c.out[0] = permute(c.in[0], c.list("perm", reversed))
}

// lines calls f for each line along an axis, with the places of its values in an array with n of them on the axis.
func lines(dims []int, axis int, f func(place func(n, k int) int)) {
	inner := count(dims[axis+1:])
	for o := range count(dims[:axis]) {
		for i := range inner {
			f(func(n, k int) int { return (o*n+k)*inner + i })
		}
	}
}

func concat(c *call) {
	axis := axisOf(c.int("axis", 0), len(c.in[0].Dims))
	dims := slices.Clone(c.in[0].Dims)
	dims[axis] = 0
	for _, x := range c.in {
		dims[axis] += x.Dims[axis]
	}
	y, first := New(dims...), 0
	for _, x := range c.in {
		n := x.Dims[axis]
		lines(x.Dims, axis, func(place func(n, k int) int) {
			for k := range n {
				y.Data[place(dims[axis], first+k)] = x.Data[place(n, k)]
			}
		})
		first += n
	}
	c.out[0] = y
}

func split(c *call) {
	x := c.in[0]
	axis := axisOf(c.int("axis", 0), len(x.Dims))
	var sizes []int
	if c.input(1) != nil {
		sizes = c.numbers(1)
	} else {
		for range c.out {
			sizes = append(sizes, x.Dims[axis]/len(c.out))
		}
	}
	first := 0
	for k, size := range sizes {
		dims := slices.Clone(x.Dims)
		dims[axis] = size
		y := New(dims...)
		lines(x.Dims, axis, func(place func(n, k int) int) {
			for i := range size {
				y.Data[place(size, i)] = x.Data[place(x.Dims[axis], first+i)]
			}
		})
		c.out[k] = y
		first += size
	}
	if first != x.Dims[axis] {
		panic("Split's sizes do not add up")
	}
}

func slice(c *call) {
	x := c.in[0]
	starts, ends := c.numbers(1), c.numbers(2)
	var axes, steps []int
	for i := range starts {
		axes, steps = append(axes, i), append(steps, 1)
	}
	if c.input(3) != nil {
		axes = c.numbers(3)
	}
	if c.input(4) != nil {
		steps = c.numbers(4)
	}
	for i, axis := range axes {
		axis = axisOf(axis, len(x.Dims))
		n, step := x.Dims[axis], steps[i]
		limit := func(v int) int {
			if v < 0 {
				v += n
			}
			if step < 0 {
				return max(-1, min(v, n-1))
			}
			return max(0, min(v, n))
		}
		var places []int
		for at, end := limit(starts[i]), limit(ends[i]); step > 0 && at < end || step < 0 && at > end; at += step {
			places = append(places, at)
		}
		x = take(x, axis, places)
	}
	c.out[0] = x
}

func take(x *Tensor, axis int, places []int) *Tensor {
	dims := slices.Clone(x.Dims)
	dims[axis] = len(places)
	y := New(dims...)
	lines(x.Dims, axis, func(place func(n, k int) int) {
		for k, at := range places {
			if at < 0 {
				at += x.Dims[axis]
			}
			y.Data[place(len(places), k)] = x.Data[place(x.Dims[axis], at)]
		}
	})
	return y
}

func gather(c *call) {
	x, axis := c.in[0], axisOf(c.int("axis", 0), len(c.in[0].Dims))
	y := take(x, axis, c.numbers(1))
	y.Dims = slices.Concat(x.Dims[:axis], c.in[1].Dims, x.Dims[axis+1:])
	c.out[0] = y
}

func unsqueeze(c *call) {
	x, axes := c.in[0], c.numbers(1)
	dims := slices.Clone(x.Dims)
	for i := range axes {
		axes[i] = axisOf(axes[i], len(dims)+len(axes))
	}
	sort.Ints(axes)
	for _, axis := range axes {
		dims = slices.Insert(dims, axis, 1)
	}
	c.out[0] = &Tensor{dims, x.Data}
}

func squeeze(c *call) {
	x := c.in[0]
	var dims []int
	for i, d := range x.Dims {
		if c.input(1) == nil && d == 1 {
			continue
		}
		if c.input(1) != nil && slices.ContainsFunc(c.numbers(1), func(a int) bool { return axisOf(a, len(x.Dims)) == i }) {
			if d != 1 {
				panic("an axis with an extent other than 1 is squeezed")
			}
			continue
		}
		dims = append(dims, d)
	}
	c.out[0] = &Tensor{dims, x.Data}
}

func tile(c *call) {
	x := c.in[0]
	for axis, n := range c.numbers(1) {
		var places []int
		for k := range n * x.Dims[axis] {
			places = append(places, k%x.Dims[axis])
		}
		x = take(x, axis, places)
	}
	c.out[0] = x
}

func shape(c *call) {
	y := New(len(c.in[0].Dims))
	for i, d := range c.in[0].Dims {
		y.Data[i] = float64(d)
	}
	c.out[0] = y
}

func constantOfShape(c *call) {
	y := New(c.numbers(0)...)
	if a := c.attr("value"); a != nil {
		v, err := FromProto(a.GetT())
		if err != nil {
			panic(err)
		}
		for i := range y.Data {
			y.Data[i] = v.Data[0]
		}
	}
	c.out[0] = y
}

func constant(c *call) {
	v, err := FromProto(c.attr("value").GetT())
	if err != nil {
		panic(err)
	}
	c.out[0] = v
}

func pad(c *call) {
	if a := c.attr("mode"); a != nil && string(a.GetS()) != "constant" {
		panic("Pad mode")
	}
	x, pads, fill := c.in[0], c.numbers(1), 0.0
	if t := c.input(2); t != nil {
		fill = t.Data[0]
	}
	dims := slices.Clone(x.Dims)
	if len(pads) != 2*len(dims) {
		panic("pads of another number of axes")
	}
	for i := range dims {
		dims[i] += pads[i] + pads[len(dims)+i]
	}
	y := New(dims...)
	each(dims, func(n int, index []int) {
		at := 0
		for i, k := range index {
			if k -= pads[i]; k < 0 || k >= x.Dims[i] {
				y.Data[n] = fill
				return
			}
			at = at*x.Dims[i] + index[i] - pads[i]
		}
		y.Data[n] = x.Data[at]
	})
	c.out[0] = y
}

func reduce(f func(xs []float64) float64) func(c *call) {
	return func(c *call) {
		x := c.in[0]
		axes := c.list("axes", nil)
		if c.input(1) != nil {
			axes = c.numbers(1)
		}
		if len(axes) == 0 {
			for i := range x.Dims {
				axes = append(axes, i)
			}
		}
		gone := make([]bool, len(x.Dims))
		for _, a := range axes {
			gone[axisOf(a, len(x.Dims))] = true
		}
		var kept, dims []int
		for i, d := range x.Dims {
			switch {
			case !gone[i]:
				kept, dims = append(kept, d), append(dims, d)
			default:
				kept = append(kept, 1)
				if c.int("keepdims", 1) != 0 {
					dims = append(dims, 1)
				}
			}
		}
		groups := make([][]float64, count(kept))
		each(x.Dims, func(n int, index []int) {
			at := 0
			for i, k := range index {
				at *= kept[i]
				if !gone[i] {
					at += k
				}
			}
			groups[at] = append(groups[at], x.Data[n])
		})
		y := New(dims...)
		for i, g := range groups {
			y.Data[i] = f(g)
		}
		c.out[0] = y
	}
}

func argMax(c *call) {
	x, axis := c.in[0], axisOf(c.int("axis", 0), len(c.in[0].Dims))
	dims := slices.Clone(x.Dims)
	dims[axis] = 1
	y := New(dims...)
	lines(x.Dims, axis, func(place func(n, k int) int) {
		best := 0
		for k := range x.Dims[axis] {
			v, b := x.Data[place(x.Dims[axis], k)], x.Data[place(x.Dims[axis], best)]
			if v > b || v == b && c.int("select_last_index", 0) != 0 {
				best = k
			}
		}
		y.Data[place(1, 0)] = float64(best)
	})
	if c.int("keepdims", 1) == 0 {
		y.Dims = slices.Delete(dims, axis, axis+1)
	}
	c.out[0] = y
}

func topK(c *call) {
	x, axis, k := c.in[0], axisOf(c.int("axis", -1), len(c.in[0].Dims)), c.numbers(1)[0]
	dims := slices.Clone(x.Dims)
	dims[axis] = k
	values, indices := New(dims...), New(dims...)
	lines(x.Dims, axis, func(place func(n, k int) int) {
		order := make([]int, x.Dims[axis])
		for i := range order {
			order[i] = i
		}
		sort.SliceStable(order, func(i, j int) bool {
			return x.Data[place(len(order), order[i])] > x.Data[place(len(order), order[j])]
		})
		for i := range k {
			values.Data[place(k, i)], indices.Data[place(k, i)] = x.Data[place(len(order), order[i])], float64(order[i])
		}
	})
	c.out[0], c.out[1] = values, indices
}

// scan runs a body along axis 0 of its scanned inputs.
func scan(c *call) {
	body, scanned := c.attr("body").GetG(), c.int("num_scan_inputs", 0)
	states := slices.Clone(c.in[:len(c.in)-scanned])
	steps := c.in[len(states)].Dims[0]
	outs := c.out[len(states):]
	for t := range steps {
		values := map[string]*Tensor{}
		for name, v := range c.values {
			values[name] = v
		}
		for k, in := range body.GetInput() {
			if k < len(states) {
				values[in.GetName()] = states[k]
				continue
			}
			x := take(c.in[k], 0, []int{t})
			x.Dims = x.Dims[1:]
			values[in.GetName()] = x
		}
		values, err := c.graph(body, values)
		if err != nil {
			panic(err)
		}
		for k, out := range body.GetOutput() {
			v := values[out.GetName()]
			if k < len(states) {
				states[k] = v
				continue
			}
			o := &outs[k-len(states)]
			if *o == nil {
				*o = New(append([]int{steps}, v.Dims...)...)
			}
			copy((*o).Data[t*len(v.Data):], v.Data)
		}
	}
	copy(c.out, states)
}

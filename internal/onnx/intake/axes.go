package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// flatten waits for a Gemm, which takes the axis over.
func flatten(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	axes := len(v.dims())
	axis := n.int("axis", 1)
	if axis < 0 {
		axis += axes
	}
	if axis < 0 || axis > axes {
		return fmt.Errorf("axis %d of a value with %d axes", n.int("axis", 1), axes)
	}
	return n.flattened(v, axis)
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
		v = &value{blob: v.blob, shape: v.shape, positive: v.positive}
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
	n.set(0, &value{blob: v.blob, shape: v.shape, flat: axis + 1, positive: v.positive})
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

func concat(n *node) error {
	in, perm, err := n.common()
	if err != nil || len(in) == 0 {
		return err
	}
	axis, err := axisOf(n.int("axis", 1), len(in[0].dims()))
	if err != nil {
		return err
	}
	if perm != nil {
		axis = perm[axis]
	}
	if len(in) == 1 {
		n.set(0, in[0])
		return nil
	}
	p := &caffepb.LayerParameter{}
	if axis != 1 {
		p.ConcatParam = &caffepb.ConcatParameter{Axis: proto.Int32(int32(axis))}
	}
	if err := n.one("Concat", p, in); err != nil {
		return err
	}
	out := n.values[n.GetOutput()[0]]
	out.perm, out.positive = perm, !slices.ContainsFunc(in, func(v *value) bool { return !v.positive })
	return nil
}

func split(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	axis, err := axisOf(n.int("axis", 0), len(v.shape))
	if err != nil {
		return err
	}
	sizes, err := n.list("split", 1)
	if err != nil {
		return err
	}
	parts := len(n.GetOutput())
	p := &caffepb.SliceParameter{}
	if axis != 1 {
		p.Axis = proto.Int32(int32(axis))
	}
	each := (v.shape[axis] + parts - 1) / parts
	at := 0
	for k := range parts - 1 {
		if sizes != nil && len(sizes) != parts {
			return fmt.Errorf("split %v for %d outputs", sizes, parts)
		}
		if sizes != nil {
			each = sizes[k]
		}
		if at += each; each < 1 || at >= v.shape[axis] {
			return fmt.Errorf("split %v of an axis of %d", sizes, v.shape[axis])
		}
		p.SlicePoint = append(p.SlicePoint, uint32(at))
	}
	if parts == 1 {
		n.set(0, v)
		return nil
	}
	tops, err := n.add("Slice", &caffepb.LayerParameter{SliceParam: p}, []*value{v}, nil, n.GetOutput()...)
	for k := range tops {
		n.set(k, tops[k])
	}
	return err
}

// cut is a range of an axis.
type cut struct{ axis, from, to int }

// cuts reads a Slice's ranges.
func (n *node) cuts(dims []int) (cuts []cut, err error) {
	var lists [4][]int
	for k, name := range []string{"starts", "ends", "axes", "steps"} {
		if lists[k], err = n.list(name, 1+k); err != nil {
			return nil, err
		}
	}
	for i, from := range lists[0] {
		axis := i
		if lists[2] != nil && i < len(lists[2]) {
			axis = lists[2][i]
		}
		if axis, err = axisOf(axis, len(dims)); err != nil {
			return nil, err
		}
		if i >= len(lists[1]) || i < len(lists[3]) && lists[3][i] != 1 {
			return nil, fmt.Errorf("starts %v, ends %v and steps %v; Caffe takes steps of 1", lists[0], lists[1], lists[3])
		}
		bound := func(v int) int {
			if v < 0 {
				v += dims[axis]
			}
			return max(0, min(v, dims[axis]))
		}
		c := cut{axis, bound(from), bound(lists[1][i])}
		if c.from >= c.to {
			return nil, fmt.Errorf("nothing is left of axis %d: %d to %d", axis, c.from, c.to)
		}
		cuts = append(cuts, c)
	}
	return cuts, nil
}

// slice adds a Slice layer for each axis that is cut, and a Silence layer for the parts that are not used.
func slice(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	cuts, err := n.cuts(v.shape)
	if err != nil {
		return err
	}
	cuts = slices.DeleteFunc(cuts, func(c cut) bool { return c.from == 0 && c.to == v.shape[c.axis] })
	for i, c := range cuts {
		p := &caffepb.SliceParameter{Axis: proto.Int32(int32(c.axis))}
		var tops []string
		kept, out := 0, n.GetOutput()[0]
		if i < len(cuts)-1 {
			out += "_cut"
		}
		if c.from > 0 {
			p.SlicePoint, tops, kept = append(p.SlicePoint, uint32(c.from)), append(tops, out+"_before"), 1
		}
		tops = append(tops, out)
		if c.to < v.shape[c.axis] {
			p.SlicePoint, tops = append(p.SlicePoint, uint32(c.to)), append(tops, out+"_behind")
		}
		parts, err := n.add("Slice", &caffepb.LayerParameter{SliceParam: p}, []*value{v}, nil, tops...)
		if err != nil {
			return err
		}
		v = parts[kept]
		if _, err := n.add("Silence", &caffepb.LayerParameter{}, slices.Delete(slices.Clone(parts), kept, kept+1), nil); err != nil {
			return err
		}
	}
	n.set(0, v)
	return nil
}

func tile(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	repeats, err := n.list("", 1)
	if err != nil {
		return err
	}
	if len(repeats) != len(v.shape) {
		return fmt.Errorf("repeats %v for a value of shape %v", repeats, v.shape)
	}
	for axis, r := range repeats {
		if r == 1 {
			continue
		}
		p := &caffepb.TileParameter{Axis: proto.Int32(int32(axis)), Tiles: proto.Int32(int32(r))}
		if err := n.one("Tile", &caffepb.LayerParameter{TileParam: p}, []*value{v}); err != nil {
			return err
		}
		v = n.values[n.GetOutput()[0]]
	}
	n.set(0, v)
	return nil
}

// gather is an Embed if a constant table is read, and a BatchReindex if items of a value are.
func gather(n *node) error {
	table, err := n.operand(0)
	if err != nil {
		return err
	}
	index, err := n.plain(1)
	if err != nil {
		return err
	}
	if n.int("axis", 0) != 0 {
		return fmt.Errorf("axis %d; Caffe's Embed and BatchReindex gather along axis 0", n.int("axis", 0))
	}
	if table.constant == nil {
		items, err := n.plain(0)
		if err != nil {
			return err
		}
		return n.one("BatchReindex", &caffepb.LayerParameter{}, []*value{items, index})
	}
	t := table.constant
	if len(t.Dims) != 2 || t.Floats == nil {
		return fmt.Errorf("a table of shape %v; Caffe's Embed has rows", t.Dims)
	}
	return n.one("Embed", &caffepb.LayerParameter{EmbedParam: &caffepb.EmbedParameter{
		InputDim: proto.Uint32(uint32(t.Dims[0])), NumOutput: proto.Uint32(uint32(t.Dims[1])), BiasTerm: proto.Bool(false),
	}}, []*value{index}, t)
}

// reduce is a Reduction over all axes from one on. A mean over an image is a global pooling.
func reduce(op caffepb.ReductionParameter_ReductionOp) rule {
	return func(n *node) error {
		v, err := n.input(0)
		if err != nil {
			return err
		}
		axes, err := n.list("axes", 1)
		if err != nil {
			return err
		}
		total := len(v.dims())
		if axes == nil {
			for i := range total {
				axes = append(axes, i)
			}
		}
		axes = slices.Clone(axes)
		for i := range axes {
			if axes[i], err = axisOf(axes[i], total); err != nil {
				return err
			}
			if v.perm != nil && v.flat == 0 && v.pad == nil {
				axes[i] = v.perm[axes[i]]
			}
		}
		perm := v.perm
		if v.perm == nil || v.flat > 0 || v.pad != nil {
			if v, err = n.settle(v); err != nil {
				return err
			}
			perm = nil
		}
		slices.Sort(axes)
		first := len(v.shape) - len(axes)
		for i, a := range axes {
			if a != first+i {
				return fmt.Errorf("axes %v of shape %v; Caffe's Reduction takes all axes from one on", axes, v.shape)
			}
		}
		p := &caffepb.ReductionParameter{Operation: op.Enum(), Axis: proto.Int32(int32(first))}
		if err := n.one("Reduction", &caffepb.LayerParameter{ReductionParam: p}, []*value{{blob: v.blob, shape: v.shape}}); err != nil {
			return err
		}
		out := n.values[n.GetOutput()[0]]
		if n.int("keepdims", 1) == 0 {
			return nil
		}
		dims := append(slices.Clone(v.shape[:first]), slices.Repeat([]int{1}, len(axes))...)
		if out, err = n.reshape(out, dims); err != nil {
			return err
		}
		out.perm = perm
		n.set(0, out)
		return nil
	}
}

// argMax keeps Caffe's rule for equal values, the last index, where the node asks for it; otherwise it says so.
func argMax(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	axis, err := axisOf(n.int("axis", 0), len(v.shape))
	if err != nil {
		return err
	}
	if n.int("select_last_index", 0) == 0 {
		n.notes = append(n.notes, fmt.Sprintf("Node %q takes the first of equal values, Caffe's ArgMax the last", n.GetName()))
	}
	if err := n.one("ArgMax", &caffepb.LayerParameter{ArgmaxParam: &caffepb.ArgMaxParameter{Axis: proto.Int32(int32(axis))}}, []*value{v}); err != nil {
		return err
	}
	if n.int("keepdims", 1) == 0 {
		out, err := n.reshape(n.values[n.GetOutput()[0]], slices.Delete(slices.Clone(v.shape), axis, axis+1))
		if err != nil {
			return err
		}
		n.set(0, out)
	}
	return nil
}

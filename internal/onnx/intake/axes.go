package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

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

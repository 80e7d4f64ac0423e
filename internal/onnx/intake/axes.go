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
	axis, sizes, err := n.splitSizes(v.shape)
	if err != nil {
		return err
	}
	parts := len(sizes)
	p := &caffepb.SliceParameter{}
	if axis != 1 {
		p.Axis = proto.Int32(int32(axis))
	}
	at := 0
	for _, size := range sizes {
		at += size
		p.SlicePoint = append(p.SlicePoint, uint32(at))
	}
	p.SlicePoint = p.SlicePoint[:parts-1]
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

// splitSizes returns the axis of a Split of a value of shape dims, and the extents of its outputs.
func (n *node) splitSizes(dims []int) (axis int, sizes []int, err error) {
	if axis, err = axisOf(n.int("axis", 0), len(dims)); err != nil {
		return 0, nil, err
	}
	if sizes, err = n.list("split", 1); err != nil {
		return 0, nil, err
	}
	parts, extent := len(n.GetOutput()), dims[axis]
	if sizes == nil { // the last part is smaller where they cannot be equal, since opset 18
		each := (extent + parts - 1) / parts
		if n.opset < 18 && extent%parts != 0 {
			return 0, nil, fmt.Errorf("%d equal parts of an axis of %d", parts, extent)
		}
		sizes = append(slices.Repeat([]int{each}, parts-1), extent-(parts-1)*each)
	}
	if len(sizes) != parts {
		return 0, nil, fmt.Errorf("split %v for %d outputs", sizes, parts)
	}
	at := 0
	for _, size := range sizes {
		if at += size; size < 1 || at > extent {
			return 0, nil, fmt.Errorf("split %v of an axis of %d", sizes, extent)
		}
	}
	if at != extent {
		return 0, nil, fmt.Errorf("split %v of an axis of %d", sizes, extent)
	}
	return axis, sizes, nil
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

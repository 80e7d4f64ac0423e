package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

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

package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// reduce is a Reduction over all axes from one on. Other axes come last by a Permute.
func reduce(op caffepb.ReductionParameter_ReductionOp) rule {
	return reduceBy(func(c chain, v *value, axis int) *value { return c.reduction(op, v, axis, 1) })
}

// reduceBy brings the reduced axes to the end, and the result into the shape that keepdims asks for.
func reduceBy(f reducer) rule {
	return func(n *node) error {
		v, err := n.input(0)
		if err != nil {
			return err
		}
		if v.flat > 0 || v.pad != nil {
			if v, err = n.settle(v); err != nil {
				return err
			}
		}
		gone, err := n.reducedAxes(v)
		if err != nil {
			return err
		}
		var kept, axes []int
		dims := slices.Clone(v.shape)
		for axis := range v.shape {
			if gone[axis] {
				axes = append(axes, axis)
				dims[axis] = 1
			} else {
				kept = append(kept, axis)
			}
		}
		x := &value{blob: v.blob, shape: v.shape, perm: append(slices.Clone(kept), axes...)}
		if !slices.IsSorted(x.perm) {
			if x, err = n.settle(x); err != nil {
				return err
			}
		}
		if err := composed(func(c chain) *value { return f(c, &value{blob: x.blob, shape: x.shape}, len(kept)) })(n); err != nil {
			return err
		}
		out := n.values[n.GetOutput()[0]]
		if n.int("keepdims", 1) == 0 {
			out.perm = without(v.perm, gone)
			return nil
		}
		if out, err = n.reshape(out, dims); err != nil {
			return err
		}
		out.perm = v.perm
		n.set(0, out)
		return nil
	}
}

// reducedAxes says which of the blob's axes a reduction takes away.
func (n *node) reducedAxes(v *value) ([]bool, error) {
	n.attr("noop_with_empty_axes") // with axes it has no effect
	axes, err := n.list("axes", 1)
	if err != nil {
		return nil, err
	}
	gone := make([]bool, len(v.shape))
	if len(axes) == 0 && n.int("noop_with_empty_axes", 0) != 0 {
		return nil, fmt.Errorf("noop_with_empty_axes without axes")
	}
	for i := range gone {
		gone[i] = len(axes) == 0
	}
	for _, axis := range axes {
		if axis, err = axisOf(axis, len(gone)); err != nil {
			return nil, err
		}
		if v.perm != nil {
			axis = v.perm[axis]
		}
		gone[axis] = true
	}
	return gone, nil
}

// without takes axes out of a transpose; nil is no transpose.
func without(perm []int, gone []bool) []int {
	var kept, out []int
	for axis := range gone {
		if !gone[axis] {
			kept = append(kept, axis)
		}
	}
	for _, p := range perm {
		if !gone[p] {
			out = append(out, slices.Index(kept, p))
		}
	}
	if slices.IsSorted(out) {
		return nil
	}
	return out
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

package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// value is what a name of the graph stands for: a constant, or a blob. perm, pad and flat are operators that wait for the reader of the value,
// which may be able to do without a layer for them.
type value struct {
	constant *onnx.Tensor
	blob     string
	shape    []int // of the blob
	// perm says that the value is the blob's transpose: axis i of the value is axis perm[i] of the blob. nil: it is not transposed.
	perm []int
	// pad has the extents before each axis and then those behind, fill what they hold. nil: none.
	pad  []int
	fill float32
	// flat says that the value has two axes, the blob's before flat-1 and the others. 0: it is not flattened.
	flat int
	// positive says that no element is negative.
	positive bool
	// rounded is the rounding to bytes that the value has passed, and steps that of a constant; nil: none.
	rounded *rounding
	steps   *steps
	// whole says that all elements are whole numbers: a cast to integers changes none.
	whole bool
}

// dims returns the value's own shape.
func (v *value) dims() []int {
	if v.constant != nil {
		return v.constant.Dims
	}
	dims := slices.Clone(v.shape)
	if v.perm != nil {
		for i, p := range v.perm {
			dims[i] = v.shape[p]
		}
	}
	for i := range dims {
		if v.pad != nil {
			dims[i] += v.pad[i] + v.pad[len(dims)+i]
		}
	}
	if v.flat > 0 {
		return []int{count(dims[:v.flat-1]), count(dims[v.flat-1:])}
	}
	return dims
}

func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// moves reports whether a permutation changes the order of elements in memory: whether axes longer than 1 change places.
func (v *value) moves() bool {
	last := -1
	for _, p := range v.perm {
		if v.shape[p] == 1 {
			continue
		}
		if p < last {
			return true
		}
		last = p
	}
	return false
}

// input returns an operand as a value of the net. A constant becomes a Parameter layer.
func (n *node) input(k int) (*value, error) {
	v, err := n.operand(k)
	if err == nil && v.constant != nil {
		return n.held(v.constant, n.GetOutput()[0]+"_constant")
	}
	return v, err
}

func (n *node) operand(k int) (*value, error) {
	if k >= len(n.GetInput()) || n.GetInput()[k] == "" {
		return nil, fmt.Errorf("input %d is missing", k)
	}
	v := n.values[n.GetInput()[k]]
	if v == nil {
		return nil, fmt.Errorf("input %q has no value", n.GetInput()[k])
	}
	return v, nil
}

// weight returns an operand that must be constant.
func (n *node) weight(k int) (*onnx.Tensor, error) {
	v, err := n.operand(k)
	if err == nil && v.constant == nil {
		how := "is computed"
		if by := n.unfolded(n.GetInput()[k], map[string]string{}); by != "" {
			how = "is computed from constants by " + by + ", which is not folded"
		}
		err = fmt.Errorf("input %d (%q) %s; Caffe needs a constant there", k, n.GetInput()[k], how)
	}
	if err != nil {
		return nil, err
	}
	return v.constant, nil
}

// optional returns a constant operand, nil if it is left out.
func (n *node) optional(k int) (*onnx.Tensor, error) {
	if k >= len(n.GetInput()) || n.GetInput()[k] == "" {
		return nil, nil
	}
	return n.weight(k)
}

// plain returns input k with nothing waiting: what waits becomes layers, or is refused.
func (n *node) plain(k int) (*value, error) {
	v, err := n.input(k)
	if err != nil {
		return nil, err
	}
	return n.settle(v)
}

// settle makes layers of a padding, a flattening and a transpose. A transpose that moves no elements is a Reshape, another one a Permute, the layer of
// Caffe's fork for SSD.
func (n *node) settle(v *value) (*value, error) {
	switch {
	case v.pad != nil:
		return n.bordered(v)
	case v.perm != nil && v.moves():
		return n.permuted(v)
	case v.perm != nil || v.flat > 0:
		return n.reshape(v, v.dims())
	}
	return v, nil
}

// image returns input k without transposes, for operators that read padding themselves.
func (n *node) image(k int) (*value, error) {
	v, err := n.input(k)
	if err != nil || v.perm == nil && v.flat == 0 {
		return v, err
	}
	return n.settle(v)
}

// permuted adds a Permute layer.
func (n *node) permuted(v *value) (*value, error) {
	p := &caffepb.PermuteParameter{Order: list32(v.perm)}
	tops, err := n.add("Permute", &caffepb.LayerParameter{PermuteParam: p}, []*value{{blob: v.blob, shape: v.shape}}, nil, v.blob+"_permuted")
	if err != nil {
		return nil, err
	}
	out := tops[0]
	out.positive, out.whole = v.positive, v.whole
	if v.flat > 0 {
		return n.reshape(out, v.dims())
	}
	return out, nil
}

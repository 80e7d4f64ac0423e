package intake

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// attr returns an attribute, nil if it is left out, and notes that the node's rule knows it.
func (n *node) attr(name string) *onnxpb.AttributeProto {
	if n.read != nil {
		n.read[name] = true
	}
	for _, a := range n.GetAttribute() {
		if a.GetName() == name {
			return a
		}
	}
	return nil
}

// checkAttributes refuses attributes that the node's rule has not asked for: they could change what the node computes.
func (n *node) checkAttributes() error {
	for _, a := range n.GetAttribute() {
		if name := a.GetName(); !n.read[name] && !slices.Contains(harmless[n.GetOpType()], name) {
			return fmt.Errorf("attribute %q is not translated", name)
		}
	}
	return nil
}

// harmless has the attributes without an effect on what a rule takes over.
var harmless = map[string][]string{
	"BatchNormalization": {"momentum", "is_test"},
	"Cast":               {"saturate"}, // for 8-bit floats
	"Dropout":            {"seed", "is_test"},
	"MaxPool":            {"storage_order"},                                                           // of the indices
	"Resize":             {"nearest_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value"}, // of other modes
	"Split":              {"num_outputs"},
}

func (n *node) int(name string, missing int) int {
	if a := n.attr(name); a != nil {
		return int(a.GetI())
	}
	return missing
}

func (n *node) float(name string, missing float32) float32 {
	if a := n.attr(name); a != nil {
		return a.GetF()
	}
	return missing
}

func (n *node) text(name, missing string) string {
	if a := n.attr(name); a != nil && len(a.GetS()) > 0 {
		return string(a.GetS())
	}
	return missing
}

// ints returns a list; extents beyond int32 become its bounds, as in Slice's ends.
func (n *node) ints(name string, missing []int) []int {
	a := n.attr(name)
	if a == nil {
		return missing
	}
	return whole(a.GetInts())
}

func whole(list []int64) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(max(math.MinInt32, min(math.MaxInt32, v)))
	}
	return out
}

// list returns the integers of an attribute (in old opsets) or of constant input k; nil if there is neither.
func (n *node) list(name string, k int) ([]int, error) {
	if n.attr(name) != nil {
		return n.ints(name, nil), nil
	}
	t, err := n.optional(k)
	if err != nil || t == nil {
		return nil, err
	}
	if t.Ints == nil {
		return nil, fmt.Errorf("input %d holds no integers", k)
	}
	return whole(t.Ints), nil
}

// axis converts a possibly negative axis.
func axisOf(axis, axes int) (int, error) {
	at := axis
	if at < 0 {
		at += axes
	}
	if at < 0 || at >= axes {
		return 0, fmt.Errorf("axis %d of a value with %d axes", axis, axes)
	}
	return at, nil
}

// floats makes a constant of float values.
func floats(values []float32, dims ...int) *onnx.Tensor {
	return &onnx.Tensor{Dims: dims, Floats: values}
}

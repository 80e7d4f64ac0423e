package onnxtest

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// Tensor is a value of a graph. Integers and booleans are whole numbers in Data.
type Tensor struct {
	Dims []int
	Data []float64
}

// New returns a tensor of zeros.
func New(dims ...int) *Tensor { return &Tensor{dims, make([]float64, count(dims))} }

func count(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Run computes a model's outputs from its inputs. It returns all values of the main graph.
func Run(m *onnxpb.ModelProto, inputs map[string]*Tensor) (values map[string]*Tensor, err error) {
	r := &runner{opset: 0}
	for _, o := range m.GetOpsetImport() {
		if o.GetDomain() == "" {
			r.opset = int(o.GetVersion())
		}
	}
	for _, in := range m.GetGraph().GetInput() {
		if inputs[in.GetName()] == nil && !isInitializer(m, in.GetName()) {
			return nil, fmt.Errorf("no input %q", in.GetName())
		}
	}
	return r.graph(m.GetGraph(), inputs)
}

func isInitializer(m *onnxpb.ModelProto, name string) bool {
	for _, t := range m.GetGraph().GetInitializer() {
		if t.GetName() == name {
			return true
		}
	}
	return false
}

type runner struct{ opset int }

func (r *runner) graph(g *onnxpb.GraphProto, outer map[string]*Tensor) (map[string]*Tensor, error) {
	values := map[string]*Tensor{}
	for name, v := range outer {
		values[name] = v
	}
	for _, t := range g.GetInitializer() {
		if values[t.GetName()] != nil {
			continue
		}
		v, err := FromProto(t)
		if err != nil {
			return nil, err
		}
		values[t.GetName()] = v
	}
	for _, n := range g.GetNode() {
		if err := r.node(n, values); err != nil {
			return nil, fmt.Errorf("node %q (%s): %w", n.GetName(), n.GetOpType(), err)
		}
	}
	return values, nil
}

// FromProto decodes a tensor.
func FromProto(t *onnxpb.TensorProto) (*Tensor, error) {
	c, err := onnx.Decode(t)
	if err != nil {
		return nil, err
	}
	v := &Tensor{Dims: c.Dims, Data: make([]float64, c.Count())}
	for i := range v.Data {
		if c.Ints != nil {
			v.Data[i] = float64(c.Ints[i])
		} else {
			v.Data[i] = float64(c.Floats[i])
		}
	}
	return v, nil
}

// call is a node being computed.
type call struct {
	*runner
	node   *onnxpb.NodeProto
	values map[string]*Tensor
	in     []*Tensor // nil for inputs that are left out
	out    []*Tensor
}

func (r *runner) node(n *onnxpb.NodeProto, values map[string]*Tensor) (err error) {
	c := &call{runner: r, node: n, values: values, out: make([]*Tensor, len(n.GetOutput()))}
	for _, name := range n.GetInput() {
		v := values[name]
		if v == nil && name != "" {
			return fmt.Errorf("no value %q", name)
		}
		c.in = append(c.in, v)
	}
	f := operators[n.GetOpType()]
	if f == nil {
		return fmt.Errorf("no such operator")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	f(c)
	for k, name := range n.GetOutput() {
		if name == "" {
			continue
		}
		if c.out[k] == nil {
			return fmt.Errorf("output %d is not computed", k)
		}
		if values[name] != nil {
			return fmt.Errorf("value %q is written twice", name)
		}
		values[name] = c.out[k]
	}
	return nil
}

func (c *call) attr(name string) *onnxpb.AttributeProto {
	for _, a := range c.node.GetAttribute() {
		if a.GetName() == name {
			return a
		}
	}
	return nil
}

func (c *call) int(name string, missing int) int {
	if a := c.attr(name); a != nil {
		return int(a.GetI())
	}
	return missing
}

func (c *call) float(name string, missing float64) float64 {
	if a := c.attr(name); a != nil {
		return float64(a.GetF())
	}
	return missing
}

func (c *call) list(name string, missing []int) []int {
	if a := c.attr(name); a != nil {
		return whole(a.GetInts())
	}
	return missing
}

func whole(is []int64) (out []int) {
	for _, i := range is {
		out = append(out, int(i))
	}
	return out
}

func (c *call) input(k int) *Tensor {
	if k < len(c.in) {
		return c.in[k]
	}
	return nil
}

// numbers returns an input that holds integers.
func (c *call) numbers(k int) (out []int) {
	for _, v := range c.in[k].Data {
		out = append(out, int(v))
	}
	return out
}

func axisOf(axis, axes int) int {
	if axis < 0 {
		axis += axes
	}
	if axis < 0 || axis >= axes {
		panic(fmt.Sprintf("axis %d of %d", axis, axes))
	}
	return axis
}

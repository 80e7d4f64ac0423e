package onnx

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// Check holds a model against the rules of ONNX's checker: versions, names that are written once, nodes in topological order, attributes whose
// type fits their value, types of inputs and outputs. It knows no operators' signatures.
func Check(m *onnxpb.ModelProto) error {
	switch {
	case m.GetIrVersion() < 1:
		return fmt.Errorf("ir_version is %d, it must be positive", m.GetIrVersion())
	case m.GetGraph() == nil:
		return fmt.Errorf("there is no graph")
	case len(m.GetOpsetImport()) == 0 && m.GetIrVersion() >= 3:
		return fmt.Errorf("opset_import is missing")
	}
	versions := map[string]bool{}
	for _, o := range m.GetOpsetImport() {
		if o.GetVersion() < 1 || versions[o.GetDomain()] {
			return fmt.Errorf("opset_import: domain %q has version %d", o.GetDomain(), o.GetVersion())
		}
		versions[o.GetDomain()] = true
	}
	return checkGraph(m.GetGraph(), map[string]string{}, true)
}

// checkGraph checks a graph or subgraph. outer has the values that it may read, and where each is written.
func checkGraph(g *onnxpb.GraphProto, outer map[string]string, whole bool) error {
	if g.GetName() == "" {
		return fmt.Errorf("the graph has no name")
	}
	written := map[string]string{}
	for name, by := range outer {
		written[name] = by
	}
	for _, in := range g.GetInput() {
		if err := checkInfo(in, "input", whole); err != nil {
			return err
		}
		if by := written[in.GetName()]; by != "" {
			return fmt.Errorf("input %q is already %s", in.GetName(), by)
		}
		written[in.GetName()] = "an input"
	}
	constants := map[string]bool{}
	for _, t := range g.GetInitializer() {
		if t.GetName() == "" || constants[t.GetName()] {
			return fmt.Errorf("initializer %q has no name, or another one has it", t.GetName())
		}
		constants[t.GetName()] = true
		written[t.GetName()] = "an initializer"
	}
	for i, n := range g.GetNode() {
		if err := checkNode(n, written); err != nil {
			return fmt.Errorf("node %d, %q (%s): %w", i, n.GetName(), n.GetOpType(), err)
		}
	}
	for _, out := range g.GetOutput() {
		if err := checkInfo(out, "output", whole); err != nil {
			return err
		}
		if written[out.GetName()] == "" {
			return fmt.Errorf("output %q is written by no node", out.GetName())
		}
	}
	for _, v := range g.GetValueInfo() {
		if err := checkInfo(v, "value_info", whole); err != nil {
			return err
		}
	}
	return nil
}

func checkNode(n *onnxpb.NodeProto, written map[string]string) error {
	if n.GetOpType() == "" {
		return fmt.Errorf("op_type is missing")
	}
	for _, in := range n.GetInput() {
		if in != "" && written[in] == "" {
			return fmt.Errorf("input %q is not written before the node", in)
		}
	}
	names := map[string]bool{}
	for _, a := range n.GetAttribute() {
		if a.GetName() == "" || names[a.GetName()] {
			return fmt.Errorf("attribute %q has no name, or comes twice", a.GetName())
		}
		names[a.GetName()] = true
		if a.GetType() == onnxpb.AttributeProto_UNDEFINED && a.GetRefAttrName() == "" {
			return fmt.Errorf("attribute %q has no type", a.GetName())
		}
		if a.GetG() != nil {
			if err := checkGraph(a.GetG(), written, false); err != nil {
				return fmt.Errorf("attribute %q: %w", a.GetName(), err)
			}
		}
	}
	for _, out := range n.GetOutput() {
		if out == "" {
			continue
		}
		if by := written[out]; by != "" {
			return fmt.Errorf("output %q is already %s", out, by)
		}
		written[out] = fmt.Sprintf("written by node %q", n.GetName())
	}
	return nil
}

func checkInfo(v *onnxpb.ValueInfoProto, what string, typed bool) error {
	if v.GetName() == "" {
		return fmt.Errorf("a value of %s has no name", what)
	}
	if typed && v.GetType().GetTensorType().GetElemType() == 0 {
		if v.GetType() != nil && v.GetType().GetTensorType() == nil {
			return fmt.Errorf("%s %q is %w", what, v.GetName(), errNoTensor)
		}
		return fmt.Errorf("%s %q has no tensor type", what, v.GetName())
	}
	return nil
}

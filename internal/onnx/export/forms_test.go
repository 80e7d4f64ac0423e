package export

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
)

// misreadForm says which program reads a node wrong without a word, "" if none is known to.
func misreadForm(g *onnxpb.GraphProto, node *onnxpb.NodeProto) string {
	ints := func(n *onnxpb.NodeProto, name string) []int64 {
		for _, a := range n.GetAttribute() {
			if a.GetName() == name {
				return append(slices.Clone(a.GetInts()), a.GetI())
			}
		}
		return nil
	}
	writer := func(value string) *onnxpb.NodeProto {
		for _, n := range g.Node {
			if slices.Contains(n.GetOutput(), value) {
				return n
			}
		}
		return nil
	}
	switch node.GetOpType() {
	case "Max", "Min", "Sum", "Mean":
		if len(node.GetInput()) > 2 {
			return "OpenCV 4.12 leaves out the third value"
		}
	case "Tile":
		return "OpenCV 4.8 to 4.12 repeat the first axis alone"
	case "ReduceMean", "ReduceSum", "ReduceL1", "ReduceSumSquare":
		axes := ints(node, "axes")
		for _, c := range g.Initializer {
			if len(node.GetInput()) > 1 && c.GetName() == node.GetInput()[1] {
				for i := 0; i+8 <= len(c.GetRawData()); i += 8 {
					axes = append(axes, int64(c.GetRawData()[i]))
				}
				axes = append(axes, c.GetInt64Data()...)
			}
		}
		if slices.Contains(axes, 1) && slices.Contains(axes, 2) && slices.Contains(axes, 3) {
			return "OpenCV 4.8 to 4.12 reduce axes 1, 2 and 3 together wrong"
		}
	case "BatchNormalization", "Mul", "Add":
		for _, in := range node.GetInput() {
			if w := writer(in); w != nil && w.GetOpType() == "ConvTranspose" && slices.Max(append(ints(w, "group"), 1)) > 1 {
				return "OpenCV 4.6 to 4.12 multiply the groups of a ConvTranspose by wrong factors"
			}
		}
	case "MaxPool":
		w := writer(node.GetInput()[0])
		for w != nil && w.GetOpType() == "Identity" {
			w = writer(w.GetInput()[0])
		}
		if w != nil && w.GetOpType() == "Pad" {
			return "ONNX Runtime 1.30 takes the zeros of a Pad for padding, which a MaxPool leaves out"
		}
	case "AveragePool":
		if slices.Max(append(ints(node, "pads"), 0)) > 0 && slices.Max(append(ints(node, "count_include_pad"), 0)) == 1 {
			return "OpenCV 4.6 to 4.12 ignore count_include_pad"
		}
	case "ConvTranspose":
		if w := ints(node, "kernel_shape"); slices.Max(append(ints(node, "dilations"), 1)) > 1 && slices.Max(append(w, 1)) > 1 {
			return "OpenCV 4.6 to 4.12 ignore the dilation of a ConvTranspose"
		}
	}
	return ""
}

// TestForms: no layer case, and none whose results a maximum pooling reads, is exported in a form that an OpenCV or ONNX Runtime is known to read wrong without a word.
func TestForms(t *testing.T) {
	cases, pooled := onnxtest.Cases(7), 0
	for _, c := range cases {
		if top := onnxtest.Build(t, onnxtest.Parse(t, c.Net)).Outputs()[0]; top.Blob.NumAxes() == 4 {
			pooled++
			c.Net += `layer { name: "behind" type: "Pooling" bottom: "` + top.Name + `" top: "behind" pooling_param { kernel_size: 1 } }`
			cases = append(cases, c)
		}
	}
	if pooled < 50 {
		t.Errorf("only %d cases have images as results", pooled)
	}
	for _, c := range cases {
		for _, opt := range []Options{{Opset: MinOpset}, {Opset: MaxOpset, Fold: true}} {
			n := onnxtest.Build(t, onnxtest.Parse(t, c.Net))
			r, err := Net(n, opt)
			if err != nil {
				t.Fatal(c.Name, err)
			}
			g := r.Model.GetGraph()
			for _, node := range g.Node {
				if why := misreadForm(g, node); why != "" {
					t.Errorf("%s, opset %d: %s %q: %s", c.Name, opt.Opset, node.GetOpType(), node.GetName(), why)
				}
			}
		}
	}
}

// scalesInput reports whether a node reads a graph's input and scales or shifts it by more than one constant.
func scalesInput(g *onnxpb.GraphProto, node *onnxpb.NodeProto) bool {
	constants := 0
	for _, c := range g.Initializer {
		if count := 1; slices.Contains(node.GetInput(), c.GetName()) {
			for _, d := range c.GetDims() {
				count *= int(d)
			}
			constants = max(constants, count)
		}
	}
	input := slices.ContainsFunc(g.Input, func(v *onnxpb.ValueInfoProto) bool { return slices.Contains(node.GetInput(), v.GetName()) })
	return input && constants > 1 && slices.Contains([]string{"BatchNormalization", "Mul", "Add", "Sub", "Div"}, node.GetOpType())
}

// TestScaling: the types in scaling are those of the layers that scale an input in a case.
func TestScaling(t *testing.T) {
	found := map[string]bool{}
	for _, c := range onnxtest.Cases(7) {
		n := onnxtest.Build(t, onnxtest.Parse(t, c.Net))
		onnxtest.FillWeights(n, 1)
		r, err := Net(n, Options{Opset: MinOpset})
		if err != nil {
			t.Fatal(c.Name, err)
		}
		for _, node := range r.Model.GetGraph().Node {
			if !scalesInput(r.Model.GetGraph(), node) {
				continue
			}
			layer, _, _ := strings.Cut(node.GetName(), "/")
			for i := range n.NumLayers() {
				if kind := n.LayerType(i); n.LayerName(i) == layer {
					found[kind] = true
					if !scaling[kind] {
						t.Errorf("%s: node %q scales the input; %s is not in scaling", c.Name, node.GetName(), kind)
					}
				}
			}
		}
	}
	for kind := range scaling {
		if !found[kind] {
			t.Errorf("no case of %s scales its input", kind)
		}
	}
}

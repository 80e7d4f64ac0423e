package export

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
)

// fixed lists the cases whose graph depends on the batch size.
var fixed = map[string]bool{"Slice/batch": true, "Reshape/fixed": true, "InnerProduct/axis0": true}

// TestCases exports every layer type and computes the model with package onnxtest, on the batch of the prototxt and on a larger one.
func TestCases(t *testing.T) {
	for _, c := range onnxtest.Cases(7) {
		for _, opt := range []Options{{Opset: MinOpset}, {Opset: MaxOpset, Fold: true}} {
			t.Run(fmt.Sprintf("%s/opset%d", c.Name, opt.Opset), func(t *testing.T) { checkCase(t, &c, opt) })
		}
	}
}

func checkCase(t *testing.T, c *onnxtest.Case, opt Options) {
	n := onnxtest.Build(t, onnxtest.Parse(t, c.Net))
	onnxtest.FillWeights(n, 1)
	r, err := Net(n, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := onnx.Check(r.Model); err != nil {
		t.Error(err)
	}
	compare(t, c, n, r.Model)
	if r.Fixed != "" {
		return
	}
	if fixed[c.Name] {
		t.Errorf("the batch is dynamic")
	}
	onnxtest.Resize(t, n, 5)
	compare(t, c, n, r.Model)
}

// compare runs both and compares all blobs that have kept their names.
func compare(t *testing.T, c *onnxtest.Case, n *swnet.Net, m *onnxpb.ModelProto) {
	t.Helper()
	inputs := onnxtest.FillInputs(n, c, 5)
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
	values, err := onnxtest.Run(m, inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range n.Outputs() {
		if values[out.Name] == nil && values[out.Name+"_2"] == nil {
			t.Errorf("the model has no value %q", out.Name)
		}
	}
	for _, out := range m.GetGraph().GetOutput() {
		if values[out.GetName()] == nil {
			t.Errorf("output %q is not computed", out.GetName())
		}
	}
	for _, info := range slices.Concat(m.GetGraph().GetValueInfo(), m.GetGraph().GetOutput()) {
		name := info.GetName()
		b := n.Blob(name)
		if b == nil || inputs[name] != nil {
			continue
		}
		if got := values[name]; !slices.Equal(got.Dims, b.Shape()) {
			t.Errorf("value %q has shape %v, the blob %v", name, got.Dims, b.Shape())
		} else if at := worst(got.Data, b.Data()); at >= 0 {
			t.Errorf("value %d of %q is %g, the blob's %g", at, name, got.Data[at], b.Data()[at])
		}
	}
}

// worst returns the index of a value that is off by more than float32 sums of some hundred terms are: 1e-5 of the blob's largest value. -1
// if there is none.
func worst(got []float64, want []float32) int {
	size := 0.0
	for _, v := range want {
		size = max(size, math.Abs(float64(v)))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-float64(v)) <= 1e-5*size+1e-7) {
			return i
		}
	}
	return -1
}

// TestEveryType requires of every registered layer type either a rule, which a case of onnxtest.Cases uses, or a reason against one. The data
// and loss layers need no case: their nets are not for inference.
func TestEveryType(t *testing.T) {
	used := map[string]bool{}
	for _, c := range onnxtest.Cases(7) {
		for _, l := range onnxtest.Parse(t, c.Net).GetLayer() {
			used[l.GetType()] = true
		}
	}
	for _, kind := range layers.Types() {
		_, exported := rules[kind.Name]
		reason, refused := refusals[kind.Name]
		switch {
		case exported == refused:
			t.Errorf("layer type %s: has a rule: %v, is refused: %v; it needs one of both", kind.Name, exported, refused)
		case refused && reason == "":
			t.Errorf("layer type %s is refused without a reason", kind.Name)
		case exported && !used[kind.Name]:
			t.Errorf("layer type %s: no case tests its rule", kind.Name)
		}
	}
	for _, names := range [][]string{slices.Collect(maps.Keys(rules)), slices.Collect(maps.Keys(refusals))} {
		for _, name := range names {
			if _, err := layers.Find(name); err != nil {
				t.Errorf("layer type %s is not registered", name)
			}
		}
	}
}

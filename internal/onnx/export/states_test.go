package export

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
)

// TestStates runs recurrent nets twice. The second run continues from the states of the first, which the model gets as inputs.
func TestStates(t *testing.T) {
	for _, c := range onnxtest.Cases(3) {
		if !slices.Contains([]string{"LSTM", "RNN", "Lstm/cont", "LSTM/static"}, c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			n := onnxtest.Build(t, onnxtest.Parse(t, c.Net))
			onnxtest.FillWeights(n, 1)
			r, err := Net(n, Options{Opset: MinOpset, States: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := onnx.Check(r.Model); err != nil {
				t.Error(err)
			}
			layer := n.LayerName(n.NumLayers() - 1)
			states := map[string]*onnxtest.Tensor{layer + "_h": onnxtest.New(3, 5), layer + "_c": onnxtest.New(3, 5)}
			for run := range 2 {
				inputs := onnxtest.FillInputs(n, &c, uint64(run))
				for i := range n.Blob("t").Data() {
					n.Blob("t").Data()[i], inputs["t"].Data[i] = 1, 1
				}
				for name, v := range states {
					inputs[name] = v
				}
				if _, err := n.Forward(); err != nil {
					t.Fatal(err)
				}
				values, err := onnxtest.Run(r.Model, inputs)
				if err != nil {
					t.Fatal(err)
				}
				if at := worst(values["y"].Data, n.Blob("y").Data()); at >= 0 {
					t.Errorf("run %d: value %d is %g, the blob's %g", run, at, values["y"].Data[at], n.Blob("y").Data()[at])
				}
				for name := range states {
					states[name] = values[name+"_next"]
				}
			}
		})
	}
}

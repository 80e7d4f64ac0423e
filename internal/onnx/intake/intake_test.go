package intake

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/export"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	swnet "github.com/swcaffe/swcaffe/net"
)

// exported builds a case's net and exports it.
func exported(t *testing.T, c *onnxtest.Case, opt export.Options) (*swnet.Net, *onnx.Model) {
	p := onnxtest.Parse(t, c.Net)
	n := onnxtest.Build(t, p)
	onnxtest.FillWeights(n, 1)
	opt.Net = p
	r, err := export.Net(n, opt)
	if err != nil {
		t.Fatal(err)
	}
	data, err := onnx.Marshal(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Unmarshal("test.onnx", data)
	if err != nil {
		t.Fatal(err)
	}
	return n, m
}

// build makes the imported net, with its weights.
func build(t *testing.T, r *Result) *swnet.Net {
	n := onnxtest.Build(t, r.Net)
	if err := n.CopyWeights(r.Weights); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRecorded imports what was exported. Layers are the same, and outputs have the same bits, up to rounding where BatchNorm's sums were
// divided.
func TestRecorded(t *testing.T) {
	for _, c := range onnxtest.Cases(11) {
		for _, opt := range []export.Options{{Opset: export.MinOpset}, {Opset: export.MaxOpset, Static: true}, {Opset: export.MinOpset, States: true}} {
			t.Run(c.Name, func(t *testing.T) {
				n, m := exported(t, &c, opt)
				r := recorded(m, onnxtest.Device(t))
				if r == nil {
					t.Fatal("the net is not taken from the record")
				}
				again := build(t, r)
				for i := range n.NumLayers() {
					if n.LayerName(i) != again.LayerName(i) || n.LayerType(i) != again.LayerType(i) {
						t.Errorf("layer %d is %q, it was %q", i, again.LayerName(i), n.LayerName(i))
					}
				}
				onnxtest.FillInputs(n, &c, 3)
				onnxtest.FillInputs(again, &c, 3)
				forward(t, n)
				forward(t, again)
				limit := 0.0
				if strings.Contains(c.Net, "BatchNorm") {
					limit = 1e-5
				}
				for _, out := range n.Outputs() {
					compare(t, out.Name, again.Blob(out.Name).Data(), toFloats(out.Blob.Data()), limit)
				}
			})
		}
	}
}

func forward(t *testing.T, n *swnet.Net) {
	t.Helper()
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
}

func toFloats(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// compare allows a difference of limit times the largest value.
func compare(t *testing.T, name string, got []float32, want []float64, limit float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d values, want %d", name, len(got), len(want))
		return
	}
	size := 0.0
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-v) <= limit*size) {
			t.Errorf("value %d of %s is %g, want %g", i, name, got[i], v)
			return
		}
	}
}

// inexpressible lists the cases whose operators no layer of Caffe computes, without the record: the reason is part of the error.
var inexpressible = map[string]string{
	"ArgMax/3": "(TopK)", "ArgMax/values": "(TopK)", "ArgMax/axis 2": "(TopK)", "ArgMax/axis values": "(TopK)", "ArgMax/ties": "(TopK)",
	"LSTM": "(Scan)", "LSTM/static": "(Scan)", "LSTM/states": "(Scan)", "RNN": "(Scan)", "RNN/static": "(Scan)", "RNN/states": "(Scan)",
	"Lstm": "(Scan)", "Lstm/cont": "(Scan)", "Lstm/axes": "(Scan)", "Pooling/places": "Caffe's layer does not compute it", "Pooling/global/STOCHASTIC": "(Where)",
	"Upsample/mask": "Caffe's layer does not compute it", "Unpooling/mask": "Caffe's layer does not compute it",
	"Proposal": "Proposal_y", "ROIPooling/proposed": "Proposal_y", "DetectionOutput": "(TopK)", "DetectionOutput/classes": "(TopK)", "DetectionOutput/all": "(TopK)", "DetectionOutput/clip": "(TopK)", "DetectionOutput/none": "(TopK)",
	"YoloDetectionOutput": "(TopK)", "YoloDetectionOutput/two": "(TopK)", "YoloDetectionOutput/all": "(TopK)", "YoloDetectionOutput/none": "(TopK)",
	"Yolov3DetectionOutput": "(TopK)", "Yolov3DetectionOutput/all": "(TopK)", "Yolov3DetectionOutput/best": "(TopK)",
	"PSROIPooling": "(CumSum)", "PSROIPooling/whole": "(CumSum)", "ROIAlign": "(RoiAlign)", "ROIAlign/samples": "(RoiAlign)",
}

// TestTranslated imports exported models without their record, operator by operator, and compares with the evaluator of ONNX's operators.
func TestTranslated(t *testing.T) {
	for _, c := range onnxtest.Cases(13) {
		t.Run(c.Name, func(t *testing.T) {
			_, m := exported(t, &c, export.Options{Opset: export.MinOpset})
			m.MetadataProps = nil
			_, folded := exported(t, &c, export.Options{Opset: 18, Fold: true})
			want := inexpressible[c.Name]
			if strings.Contains(c.Net, "STOCHASTIC") {
				want = `"Pooling_y` // its quotient of two averages
			}
			checkTranslation(t, &c, m, want)
			checkTranslation(t, &c, folded, want)
		})
	}
}

func checkTranslation(t *testing.T, c *onnxtest.Case, m *onnx.Model, want string) {
	t.Helper()
	r, err := Net(m, 2, onnxtest.Device(t))
	if want != "" || err != nil {
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		return
	}
	n := build(t, r)
	inputs := onnxtest.FillInputs(n, c, 3)
	forward(t, n)
	values, err := onnxtest.Run(m.ModelProto, inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range m.GetGraph().GetOutput() {
		b := n.Blob(out.GetName())
		if b == nil {
			if inputs[strings.TrimSuffix(out.GetName(), "_2")] == nil {
				t.Errorf("no blob %q", out.GetName())
			}
			continue
		}
		if v := values[out.GetName()]; !slices.Equal(v.Dims, b.Shape()) {
			t.Errorf("%s has shape %v, want %v", out.GetName(), b.Shape(), v.Dims)
		} else {
			compare(t, out.GetName(), b.Data(), v.Data, 1e-5)
		}
	}
}

// eachTorch visits the models that PyTorch's exporter wrote (scripts/onnx/torch_models.py), with the net made of each, its input and PyTorch's
// output.
func eachTorch(t *testing.T, visit func(t *testing.T, m *onnx.Model, n *swnet.Net, input string, output []float64)) {
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(strings.TrimSuffix(file, ".onnx") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want struct{ Input, Output []float64 }
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			m, err := onnx.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Net(m, 2, onnxtest.Device(t))
			if err != nil {
				t.Fatal(err)
			}
			n := build(t, r)
			input := r.Net.GetLayer()[0].GetTop()[0]
			in := n.Blob(input).Data()
			if len(in) != len(want.Input) {
				t.Fatalf("the input has %d values, want %d", len(in), len(want.Input))
			}
			for i, v := range want.Input {
				in[i] = float32(v)
			}
			forward(t, n)
			visit(t, m, n, input, want.Output)
		})
	}
}

// TestTorch compares imported models with PyTorch's outputs.
func TestTorch(t *testing.T) {
	eachTorch(t, func(t *testing.T, m *onnx.Model, n *swnet.Net, _ string, output []float64) {
		compare(t, "output", n.Blob(m.GetGraph().GetOutput()[0].GetName()).Data(), output, 1e-5)
	})
}

// TestTorchRuntime compares imported models with ONNX Runtime, and so does the export of the nets that they become.
func TestTorchRuntime(t *testing.T) {
	o := onnxtest.StartOracle(t, "SWCAFFE_ONNX_RUNTIME")
	eachTorch(t, func(t *testing.T, m *onnx.Model, n *swnet.Net, input string, _ []float64) {
		x := map[string]*onnxtest.Tensor{input: onnxtest.FromBlob(n.Blob(input).Shape(), n.Blob(input).Data())}
		again, err := export.Net(n, export.Options{Opset: export.MinOpset})
		if err != nil {
			t.Fatal(err)
		}
		for _, model := range []*onnxpb.ModelProto{m.ModelProto, again.Model} {
			values, err := o.Run(t, model, x)
			if err != nil {
				t.Fatal(err)
			}
			name := m.GetGraph().GetOutput()[0].GetName()
			if values[name] == nil {
				t.Fatalf("the model has no output %q", name)
			}
			compare(t, name, n.Blob(name).Data(), values[name].Data, 1e-5)
		}
	})
}

package export

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
)

const quantisedNet = `
	name: "quantised" precision: INT8
	layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 6 dim: 9 dim: 8 } } }
	layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 10 kernel_size: 3 pad: 1 weight_filler { type: "msra" } bias_filler { type: "gaussian" } }
		quantization_param { input_scale: 0.03 input_zero_point: 121 } }
	layer { name: "relu" type: "ReLU" bottom: "a" top: "a" }
	layer { name: "b" type: "Convolution" bottom: "a" top: "b" convolution_param { num_output: 8 group: 2 kernel_size: 2 stride: 2 weight_filler { type: "msra" } }
		quantization_param { input_scale: 0.02 weight_scale: 0.01 } }
	layer { name: "ip" type: "InnerProduct" bottom: "b" top: "ip" inner_product_param { num_output: 7 weight_filler { type: "msra" } }
		quantization_param { input_scale: 0.03 input_zero_point: 100 } }
	layer { name: "t" type: "InnerProduct" bottom: "ip" top: "t" inner_product_param { num_output: 5 transpose: true weight_filler { type: "msra" } }
		quantization_param { input_scale: 0.03 input_zero_point: 100 } }`

// largestNet has the largest sums of two products.
const largestNet = `
	name: "largest" precision: INT8
	layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 16 dim: 5 dim: 4 } } }
	layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 8 kernel_size: 1 weight_filler { type: "constant" value: 1 } }
		quantization_param { input_scale: 0.01 } }
	layer { name: "b" type: "Convolution" bottom: "a" top: "b" convolution_param { num_output: 8 kernel_size: 1 weight_filler { type: "constant" value: 1 } }
		quantization_param { input_scale: 0.2 } }`

// TestLargestSumsInRuntime: ONNX Runtime computes the largest sums as the net does, on processors too on which it adds pairs of products in 16 bits. Signed weights, where they
// are asked for, have no zero point.
func TestLargestSumsInRuntime(t *testing.T) {
	for _, signed := range []bool{true, false} {
		n := onnxtest.Build(t, onnxtest.Parse(t, largestNet))
		r, err := Net(n, Options{Opset: 13, Static: true, SignedWeights: signed})
		if err != nil {
			t.Fatal(err)
		}
		kind, at, zeros := onnxpb.TensorProto_UINT8, byte(128), 0
		if signed {
			kind, at = onnxpb.TensorProto_INT8, 0
		}
		for _, c := range r.Model.Graph.Initializer {
			switch name := c.GetName(); {
			case strings.HasSuffix(name, "/weight_zero_point"):
				zeros++
				if c.GetDataType() != int32(kind) || !bytes.Equal(c.GetRawData(), slices.Repeat([]byte{at}, 8)) {
					t.Errorf("%s is %v", name, c)
				}
			case strings.HasSuffix(name, "[0]"):
				if c.GetDataType() != int32(kind) || c.GetRawData()[0] != at+127 {
					t.Errorf("%s is %v", name, c)
				}
			}
		}
		if zeros != 2 {
			t.Fatalf("%d zero points, want 2", zeros)
		}
		if signed {
			continue // what it computes depends on the processor
		}
		o := onnxtest.StartOracle(t, "SWCAFFE_ONNX_RUNTIME")
		x := n.Blob("x").Data()
		for i := range x {
			x[i] = 2.55
		}
		if _, err := n.Forward(); err != nil {
			t.Fatal(err)
		}
		values := make([]float64, len(x))
		for i, v := range x {
			values[i] = float64(v)
		}
		got, err := o.Run(t, r.Model, map[string]*onnxtest.Tensor{"x": {Dims: n.Blob("x").Shape(), Data: values}})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got["b"].Data {
			if want := float64(n.Blob("b").Data()[i]); math.Abs(v-want) > 0.001*want {
				t.Fatalf("value %d is %g, want %g", i, v, want)
			}
		}
	}
}

// TestQuantisedInRuntime: layers in INT8 have their operators, and ONNX Runtime computes what the net does, within the steps of their inputs.
func TestQuantisedInRuntime(t *testing.T) {
	for _, opset := range []int{13, 21} {
		t.Run(fmt.Sprint(opset), func(t *testing.T) { checkQuantised(t, opset) })
	}
}

func checkQuantised(t *testing.T, opset int) {
	n := onnxtest.Build(t, onnxtest.Parse(t, quantisedNet))
	r, err := Net(n, Options{Opset: opset, Static: true})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, node := range r.Model.Graph.Node {
		count[node.GetOpType()]++
	}
	if count["QuantizeLinear"] != 4 || count["DequantizeLinear"] != 8 {
		t.Errorf("operators: %v", count)
	}
	o := onnxtest.StartOracle(t, "SWCAFFE_ONNX_RUNTIME")
	inputs := onnxtest.FillInputs(n, &onnxtest.Case{}, 4)
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
	got, err := o.Run(t, r.Model, inputs)
	if err != nil {
		t.Fatal(err)
	}
	want := n.Blob("t").Data()
	for i, v := range got["t"].Data {
		if math.Abs(v-float64(want[i])) > 0.03 {
			t.Errorf("value %d is %g, want %g", i, v, want[i])
		}
	}
}

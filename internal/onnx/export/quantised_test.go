package export

import (
	"fmt"
	"math"
	"testing"

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

// TestQuantised: layers in INT8 have their operators, and ONNX Runtime computes what the net does, within the steps of their inputs.
func TestQuantised(t *testing.T) {
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

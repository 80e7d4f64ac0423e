package intake

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/export"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"google.golang.org/protobuf/proto"
)

const quantisedNet = `
	name: "quantised" precision: INT8
	layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 6 dim: 9 dim: 8 } } }
	layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 10 kernel_size: 3 pad: 1 weight_filler { type: "msra" } bias_filler { type: "gaussian" } }
		quantization_param { input_scale: 0.03 input_zero_point: 121 } }
	layer { name: "relu" type: "ReLU" bottom: "a" top: "ra" }
	layer { name: "b" type: "Convolution" bottom: "ra" top: "b" convolution_param { num_output: 8 group: 2 kernel_size: 2 stride: 2 weight_filler { type: "msra" } }
		quantization_param { input_scale: 0.02 weight_scale: 0.01 } }
	layer { name: "ip" type: "InnerProduct" bottom: "b" top: "ip" inner_product_param { num_output: 7 weight_filler { type: "msra" } }
		quantization_param { input_scale: 0.03 input_zero_point: 100 } }
	layer { name: "t" type: "InnerProduct" bottom: "ip" top: "t" inner_product_param { num_output: 5 transpose: true weight_filler { type: "msra" } }
		quantization_param { input_scale: 0.03 input_zero_point: 100 } }`

// TestQuantised imports models in 8 bits, with unsigned bytes and with signed ones: layers have the scales that they were written from, and outputs the same bits.
func TestQuantised(t *testing.T) {
	for _, opset := range []int{13, 21} {
		for _, signed := range []bool{false, true} {
			t.Run(fmt.Sprintf("opset %d, signed %v", opset, signed), func(t *testing.T) {
				n := onnxtest.Build(t, onnxtest.Parse(t, quantisedNet))
				exported, err := export.Net(n, export.Options{Opset: opset, Static: true})
				if err != nil {
					t.Fatal(err)
				}
				if signed {
					signBytes(t, exported.Model)
				}
				r, err := Net(&onnx.Model{ModelProto: exported.Model, Path: "test.onnx"}, 1, onnxtest.Device(t))
				if err != nil {
					t.Fatal(err)
				}
				again := build(t, r)
				for i := range again.NumLayers() {
					for k := range n.NumLayers() {
						if n.LayerName(k) != again.LayerName(i) {
							continue
						}
						want, got := n.LayerParam(k).GetQuantizationParam(), again.LayerParam(i).GetQuantizationParam()
						if want.GetInputScale() != got.GetInputScale() || want.GetInputZeroPoint() != got.GetInputZeroPoint() || n.Precision(k) != again.Precision(i) {
							t.Errorf("layer %s: %v in %s, want %v in %s", n.LayerName(k), got, again.Precision(i), want, n.Precision(k))
						}
					}
				}
				onnxtest.FillInputs(n, &onnxtest.Case{}, 4)
				onnxtest.FillInputs(again, &onnxtest.Case{}, 4)
				forward(t, n)
				forward(t, again)
				compare(t, "t", again.Blob("t").Data(), toFloats(n.Blob("t").Data()), 0)
			})
		}
	}
}

// signBytes makes the bytes of inputs signed.
func signBytes(t *testing.T, m *onnxpb.ModelProto) {
	changed := 0
	for _, c := range m.Graph.Initializer {
		if strings.HasSuffix(c.GetName(), "input_zero_point") {
			v, err := onnx.Decode(c)
			if err != nil {
				t.Fatal(err)
			}
			c.DataType, c.RawData, c.Int32Data = proto.Int32(int32(int8s)), []byte{byte(v.Ints[0] + math.MinInt8)}, nil
			changed++
		}
	}
	if changed != 4 {
		t.Fatalf("%d zero points", changed)
	}
}

// TestQuantisedRefused: bytes that other nodes read, and scales that do not fit, are errors that name the node.
func TestQuantisedRefused(t *testing.T) {
	n := onnxtest.Build(t, onnxtest.Parse(t, quantisedNet))
	for want, change := range map[string]func(*onnxpb.GraphProto){
		"(Conv): it reads the bytes of": func(g *onnxpb.GraphProto) {
			for _, node := range g.Node {
				if node.GetOpType() == "Conv" {
					for _, q := range g.Node {
						if q.GetOpType() == "QuantizeLinear" {
							node.Input[0] = q.Output[0]
							return
						}
					}
				}
			}
		},
		"(DequantizeLinear): its scale 0.5": func(g *onnxpb.GraphProto) {
			for _, node := range g.Node {
				if node.GetOpType() == "DequantizeLinear" && len(node.Input) == 3 && strings.Contains(node.Input[1], "input_scale") {
					g.Initializer = append(g.Initializer, &onnxpb.TensorProto{Name: proto.String("other"), DataType: proto.Int32(int32(float32s)), FloatData: []float32{0.5}})
					node.Input[1] = "other"
					return
				}
			}
		},
	} {
		exported, err := export.Net(n, export.Options{Opset: 13, Static: true})
		if err != nil {
			t.Fatal(err)
		}
		change(exported.Model.Graph)
		if _, err = Net(&onnx.Model{ModelProto: exported.Model, Path: "test.onnx"}, 1, onnxtest.Device(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestQuantisedScales: a layer whose weights have a scale that no layer takes stays in fp32, and a note says so.
func TestQuantisedScales(t *testing.T) {
	n := onnxtest.Build(t, onnxtest.Parse(t, quantisedNet))
	exported, err := export.Net(n, export.Options{Opset: 13, Static: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range exported.Model.Graph.Initializer {
		if strings.HasSuffix(c.GetName(), "weight_scale") {
			v, err := onnx.Decode(c)
			if err != nil {
				t.Fatal(err)
			}
			v.Floats[1] = 0
			c.RawData, c.FloatData = nil, v.Floats
			break
		}
	}
	r, err := Net(&onnx.Model{ModelProto: exported.Model, Path: "test.onnx"}, 1, onnxtest.Device(t))
	if err != nil {
		t.Fatal(err)
	}
	again, precisions := build(t, r), map[string]string{}
	for i := range again.NumLayers() {
		precisions[again.LayerName(i)] = again.Precision(i)
	}
	if precisions["a"] != "fp32" || precisions["b"] != "int8" || !strings.Contains(strings.Join(r.Notes, "\n"), `Layer "a" stays in fp32: weight_scale 1 is 0`) {
		t.Errorf("layers in %s and %s, notes %q", precisions["a"], precisions["b"], r.Notes)
	}
}

// bytes adds a constant of bytes.
func (b *maker) bytes(name string, kind elementType, dims []int64, values ...int32) *maker {
	b.m.Graph.Initializer = append(b.m.Graph.Initializer, &onnxpb.TensorProto{Name: proto.String(name), DataType: proto.Int32(int32(kind)), Dims: dims, Int32Data: values})
	return b
}

// reals adds a constant of floats.
func (b *maker) reals(name string, dims []int64, values ...float32) *maker {
	b.m.Graph.Initializer = append(b.m.Graph.Initializer, &onnxpb.TensorProto{Name: proto.String(name), DataType: proto.Int32(int32(float32s)), Dims: dims, FloatData: values})
	return b
}

// pair adds a QuantizeLinear and a DequantizeLinear, whose output is called name.
func (b *maker) pair(name, input string, scale float32, kind elementType, zero int32) *maker {
	b.bound(name+"_scale", scale).bytes(name+"_zero", kind, nil, zero)
	operands := " " + name + "_scale " + name + "_zero"
	return b.node(name+"_bytes", "QuantizeLinear", input+operands).node(name, "DequantizeLinear", name+"_bytes"+operands)
}

// TestQuantisedEnds: values that pass bytes end at the least and the largest one, whoever reads them. Tools that quantise take out a ReLU there.
func TestQuantisedEnds(t *testing.T) {
	kernel := list("kernel_shape", 1, 1)
	begin := func(scale float32, kind elementType, zero int32) *maker { // the values -1, 1, -2 and 2, times 1
		b := newModel(13, 1, 1, 2, 2).bound("one", 0.01).bytes("weight", int8s, []int64{1, 1, 1, 1}, 100).node("w", "DequantizeLinear", "weight one").pair("d", "x", 0.02, uint8s, 128)
		return b.node("c", "Conv", "d w").pair("q", "c", scale, kind, zero)
	}
	relu := func() *maker { return begin(0.01, uint8s, 0) }
	for _, c := range []struct {
		name string
		b    *maker
		want [4]float64
		int8 int // layers
	}{
		{"pooling", relu().node("y", "MaxPool", "q", kernel), [4]float64{0, 1, 0, 2}, 1},
		{"signed bytes", begin(0.01, int8s, -128).node("y", "MaxPool", "q", kernel), [4]float64{0, 1, 0, 2}, 1},
		{"the largest byte", begin(0.005, uint8s, 0).node("y", "MaxPool", "q", kernel), [4]float64{0, 1, 0, 1.275}, 1},
		{"bytes around 0", begin(0.01, uint8s, 128).node("y", "Sigmoid", "q").node("z", "Sigmoid", "y"), [4]float64{}, 1},
		{"a sum", relu().node("y", "Add", "q d"), [4]float64{-1, 2, -2, 4}, 1},
		{"an output", relu(), [4]float64{0, 1, 0, 2}, 1},
		{"a product in bytes", relu().node("y", "Conv", "q w"), [4]float64{0, 1, 0, 2}, 2},
		{"a product in fp32", relu().reals("float", []int64{1, 1, 1, 1}, 3).node("y", "Conv", "q float", list("pads", 0, 0, 0, 0)), [4]float64{0, 3, 0, 6}, 1},
		{"a padded product in fp32", relu().reals("float", []int64{1, 1, 2, 1}, 0, 3).node("y", "Conv", "q float", list("pads", 0, 0, 1, 0)), [4]float64{0, 6, 0, 0}, 1},
		{"a matrix in fp32", relu().node("f", "Flatten", "q").reals("float", []int64{4, 4}, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1).node("y", "MatMul", "f float"), [4]float64{0, 1, 0, 2}, 1},
		{"a product with the value before", relu().node("y", "MatMul", "q c"), [4]float64{-2, 2, -4, 4}, 1},
		{"a sum with the value before", relu().node("f", "Flatten", "q").node("g", "Flatten", "c").reals("float", []int64{4, 4}, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1).
			node("y", "Gemm", "f float g"), [4]float64{-1, 2, -2, 4}, 1},
		{"two readers", relu().node("p", "Conv", "q w").node("m", "MaxPool", "q", kernel).node("y", "Add", "p m"), [4]float64{0, 2, 0, 4}, 2},
		{"transposed", relu().node("r", "Transpose", "q", list("perm", 0, 1, 3, 2)).node("s", "MaxPool", "r", kernel).node("y", "Transpose", "s", list("perm", 0, 1, 3, 2)), [4]float64{0, 1, 0, 2}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Net(&onnx.Model{ModelProto: c.b.m, Path: "test.onnx"}, 1, onnxtest.Device(t))
			if err != nil {
				t.Fatal(err)
			}
			n, layers := build(t, r), 0
			for i := range n.NumLayers() {
				if n.Precision(i) == "int8" {
					layers++
				}
			}
			if layers != c.int8 {
				t.Errorf("%d layers in INT8, want %d", layers, c.int8)
			}
			copy(n.Blob("x").Data(), []float32{-1, 1, -2, 2})
			forward(t, n)
			if c.want == [4]float64{} {
				for i, x := range []float64{-1, 1, -1.28, 1.27} { // bytes from -1.28 to 1.27
					c.want[i] = 1 / (1 + math.Exp(-1/(1+math.Exp(-x))))
				}
			}
			compare(t, "the output", n.Blob(c.b.m.Graph.Output[0].GetName()).Data(), c.want[:], 1e-5)
		})
	}
}

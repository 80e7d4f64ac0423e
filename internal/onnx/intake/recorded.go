package intake

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/export"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// recorded returns the net that a model was exported from, nil if the model records none or has been changed since.
func recorded(m *onnx.Model, device *layers.Device) *Result {
	text := ""
	for _, p := range m.GetMetadataProps() {
		if p.GetKey() == export.MetadataKey {
			text = p.GetValue()
		}
	}
	net := &caffepb.NetParameter{}
	if text == "" {
		return nil
	}
	if _, err := swproto.UnmarshalText(m.Path, []byte(text), net); err != nil {
		return nil
	}
	n, err := swnet.New(net, swnet.Options{State: &caffepb.NetState{Phase: caffepb.Phase_TEST.Enum()}, Device: device, ForwardOnly: true})
	if err != nil {
		return nil
	}
	defer n.Close()
	if !takeWeights(n, m) || !exportsTo(n, m) {
		return nil
	}
	return &Result{Net: net, Weights: n.ToProto(false)}
}

// takeWeights copies the initializers LAYER[i] into the net. A BatchNorm layer's third weight, the divisor of the other two, becomes 1.
func takeWeights(n *swnet.Net, m *onnx.Model) bool {
	tensors := map[string]*onnxpb.TensorProto{}
	for _, t := range m.GetGraph().GetInitializer() {
		tensors[t.GetName()] = t
	}
	for i := range n.NumLayers() {
		for k, w := range n.Layer(i).Params() {
			if n.LayerType(i) == "BatchNorm" && k == 2 {
				w.Data()[0] = 1
				continue
			}
			t := tensors[fmt.Sprintf("%s[%d]", n.LayerName(i), k)]
			if t == nil {
				continue // shared, or not used in inference; exportsTo decides
			}
			values, err := onnx.Decode(t)
			if err != nil {
				return false
			}
			if len(values.Floats) != w.Count() {
				values.Floats = export.Compact(n.LayerParam(i), w, values.Floats)
			}
			if values.Floats == nil {
				return false
			}
			copy(w.Data(), values.Floats)
		}
	}
	return true
}

// exportsTo reports whether the net's export is the model, with the model's opset and one of the choices of batch and states.
func exportsTo(n *swnet.Net, m *onnx.Model) bool {
	for choice := range 4 {
		r, err := export.Net(n, export.Options{Opset: opsetOf(m), Static: choice&1 == 1, States: choice&2 == 2})
		if err == nil && proto.Equal(r.Model.GetGraph(), m.GetGraph()) {
			return true
		}
	}
	return false
}

// opsetOf returns the version of ONNX's own operators.
func opsetOf(m *onnx.Model) int {
	for _, o := range m.GetOpsetImport() {
		if o.GetDomain() == "" || o.GetDomain() == "ai.onnx" {
			return int(o.GetVersion())
		}
	}
	return 0
}

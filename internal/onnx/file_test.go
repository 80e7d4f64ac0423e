package onnx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"google.golang.org/protobuf/proto"
)

// model makes y = x + w, with two values of w in a file.
func model(external ...string) *onnxpb.ModelProto {
	value := func(name string) *onnxpb.ValueInfoProto {
		return &onnxpb.ValueInfoProto{Name: proto.String(name), Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
			TensorType: &onnxpb.TypeProto_Tensor{ElemType: proto.Int32(1)},
		}}}
	}
	w := &onnxpb.TensorProto{Name: proto.String("w"), Dims: []int64{2}, DataType: proto.Int32(1), RawData: make([]byte, 8)}
	if external != nil {
		w.RawData, w.DataLocation = nil, onnxpb.TensorProto_EXTERNAL.Enum()
		for i := 0; i < len(external); i += 2 {
			w.ExternalData = append(w.ExternalData, &onnxpb.StringStringEntryProto{Key: proto.String(external[i]), Value: proto.String(external[i+1])})
		}
	}
	return &onnxpb.ModelProto{
		IrVersion: proto.Int64(7), OpsetImport: []*onnxpb.OperatorSetIdProto{{Version: proto.Int64(13)}},
		Graph: &onnxpb.GraphProto{
			Name: proto.String("g"), Input: []*onnxpb.ValueInfoProto{value("x")}, Output: []*onnxpb.ValueInfoProto{value("y")},
			Initializer: []*onnxpb.TensorProto{w},
			Node:        []*onnxpb.NodeProto{{Name: proto.String("n"), OpType: proto.String("Add"), Input: []string{"x", "w"}, Output: []string{"y"}}},
		},
	}
}

func save(t *testing.T, m *onnxpb.ModelProto) string {
	data, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net.onnx")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExternalData(t *testing.T) {
	path := save(t, model("location", "w.bin", "offset", "4", "length", "8"))
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "w.bin"), []byte{9, 9, 9, 9, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 9}, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Decode(m.GetGraph().GetInitializer()[0])
	if err != nil || w.Floats[0] != 1.5 || w.Floats[1] != -2 {
		t.Errorf("%v, %v", w, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		external   []string
	}{
		{"missing file", "none.bin", []string{"location", "none.bin"}},
		{"no location", "has no location", []string{"offset", "4"}},
		{"outside", `"../w.bin" is not below the model's folder`, []string{"location", "../w.bin"}},
		{"absolute", "is not below", []string{"location", "/etc/passwd"}},
		{"too short", "bytes 4 to 12 of", []string{"location", "w.bin", "offset", "4", "length", "8"}},
		{"bad number", `offset "-1" is no number`, []string{"location", "w.bin", "offset", "-1"}},
		{"overflow", "which has 8", []string{"location", "w.bin", "offset", "9223372036854775807", "length", "9223372036854775807"}},
	} {
		path := save(t, model(c.external...))
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "w.bin"), make([]byte, 8), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `net.onnx: initializer "w"`) {
			t.Errorf("%s: error %v, want one with %q, the file and the initializer", c.name, err, c.want)
		}
	}
}

// TestCheckRefuses breaks each rule of the checker.
func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(m *onnxpb.ModelProto)
	}{
		{"ir_version is 0", func(m *onnxpb.ModelProto) { m.IrVersion = nil }},
		{"there is no graph", func(m *onnxpb.ModelProto) { m.Graph = nil }},
		{"opset_import is missing", func(m *onnxpb.ModelProto) { m.OpsetImport = nil }},
		{"has version 13", func(m *onnxpb.ModelProto) { m.OpsetImport = append(m.OpsetImport, m.OpsetImport[0]) }},
		{"the graph has no name", func(m *onnxpb.ModelProto) { m.Graph.Name = nil }},
		{`input "z" is not written before the node`, func(m *onnxpb.ModelProto) { m.Graph.Node[0].Input[0] = "z" }},
		{`output "x" is already an input`, func(m *onnxpb.ModelProto) { m.Graph.Node[0].Output[0] = "x" }},
		{`output "y" is already written by node "n"`, func(m *onnxpb.ModelProto) { m.Graph.Node = append(m.Graph.Node, m.Graph.Node[0]) }},
		{`output "y" is written by no node`, func(m *onnxpb.ModelProto) { m.Graph.Node = nil }},
		{"op_type is missing", func(m *onnxpb.ModelProto) { m.Graph.Node[0].OpType = nil }},
		{`initializer "w"`, func(m *onnxpb.ModelProto) { m.Graph.Initializer = append(m.Graph.Initializer, m.Graph.Initializer[0]) }},
		{`input "x" has no tensor type`, func(m *onnxpb.ModelProto) { m.Graph.Input[0].Type = nil }},
		{`attribute "a" has no type`, func(m *onnxpb.ModelProto) {
			m.Graph.Node[0].Attribute = []*onnxpb.AttributeProto{{Name: proto.String("a")}}
		}},
		{`attribute "a": the graph has no name`, func(m *onnxpb.ModelProto) {
			m.Graph.Node[0].Attribute = []*onnxpb.AttributeProto{{Name: proto.String("a"), Type: onnxpb.AttributeProto_GRAPH.Enum(), G: &onnxpb.GraphProto{}}}
		}},
	} {
		m := model()
		if err := Check(m); err != nil {
			t.Fatal(err)
		}
		c.spoil(m)
		if err := Check(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, data := range []string{"", "layer { }", "\x08\x07\x3a\xff"} {
		if _, err := Unmarshal("bad.onnx", []byte(data)); err == nil || !strings.Contains(err.Error(), "bad.onnx is no ONNX file, or it is damaged") {
			t.Errorf("%q: error %v", data, err)
		}
	}
}

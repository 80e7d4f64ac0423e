package intake

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
)

// FuzzImport imports damaged models. It looks for panics; a model that is accepted must make a net that builds.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(files) == 0 {
		f.Fatalf("no models: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := onnx.Unmarshal("fuzz.onnx", data)
		if err != nil {
			return
		}
		for _, in := range m.GetGraph().GetInput() {
			size := int64(1)
			for _, d := range in.GetType().GetTensorType().GetShape().GetDim() {
				if size *= max(1, d.GetDimValue()); size < 0 || size > 1<<16 {
					return // large nets take time and memory, and find nothing that small ones do not
				}
			}
		}
		r, err := Net(m, 2, onnxtest.Device(t))
		if err != nil {
			return
		}
		onnxtest.Build(t, r.Net)
	})
}

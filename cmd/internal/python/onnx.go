package python

import (
	"os"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/intake"
	swproto "github.com/swcaffe/swcaffe/proto"
)

func init() { functions["import_onnx"] = with(importONNX) }

// onnxRequest asks for the net of an ONNX file.
type onnxRequest struct {
	File     string `json:"file"`
	Prototxt string `json:"prototxt"` // the files to write
	Weights  string `json:"weights"`
}

// importONNX writes prototxt and weights of an ONNX file, as the command import_onnx. Extents that the model leaves open are 1 in a batch, and a
// fault elsewhere.
func importONNX(r onnxRequest) (any, error) {
	if err := mustExist(r.File); err != nil {
		return nil, err
	}
	m, err := onnx.Read(r.File)
	if err != nil {
		return nil, err
	}
	d, err := newDevice()
	if err != nil {
		return nil, err
	}
	turns.Lock()
	defer turns.Unlock()
	result, err := intake.Net(m, 1, d)
	if err != nil {
		return nil, err
	}
	if err := swproto.WriteBinary(r.Weights, result.Weights); err != nil {
		return nil, err
	}
	return nil, os.WriteFile(r.Prototxt, swproto.MarshalText(result.Net), 0o600)
}

package intake

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
)

// TestOpenExtents: only the first extent, and others of its name, become the batch.
func TestOpenExtents(t *testing.T) {
	open := func(names ...string) *onnx.Model {
		b := newModel(13, 0, 3, 0, 0).node("y", "Relu", "x")
		for i, d := range b.m.Graph.Input[0].GetType().GetTensorType().GetShape().GetDim() {
			if names[i] != "" {
				d.Value = &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: names[i]}
			}
		}
		return &onnx.Model{ModelProto: b.m, Path: "test.onnx"}
	}
	shape := func(m *onnx.Model) ([]int64, error) {
		r, err := Net(m, 2, onnxtest.Device(t))
		if err != nil {
			return nil, err
		}
		return r.Net.GetLayer()[0].GetInputParam().GetShape()[0].GetDim(), nil
	}
	_, err := shape(open("N", "", "height", ""))
	wantError(t, err, `input "x": it has shape [N 3 height ?], and the model leaves extents [2 3] open; give them, as in -shape x=2,3,320,320`)
	m := open("N", "", "height", "")
	if err := SetShapes(m, map[string][]int{"x": {1, 3, 5, 6}}); err != nil {
		t.Fatal(err)
	}
	if got, err := shape(m); err != nil || !slices.Equal(got, []int64{1, 3, 5, 6}) {
		t.Errorf("shape %v, error %v", got, err)
	}
	if got, err := shape(open("N", "", "N", "N")); err != nil || !slices.Equal(got, []int64{2, 3, 2, 2}) {
		t.Errorf("shape %v, error %v", got, err)
	}
	wantError(t, SetShapes(open("N", "", "", ""), map[string][]int{"x": {1, 4, 5, 6}}), "has shape [N 3 ? ?], not [1 4 5 6]")
	wantError(t, SetShapes(open("N", "", "", ""), map[string][]int{"z": {1}}), `no input "z"; its inputs are ["x"]`)
}

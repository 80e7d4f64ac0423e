package intake

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// SetShapes gives inputs of a model the shapes named by them. It is an error if there is no such input, or if a shape contradicts the model's.
func SetShapes(m *onnx.Model, shapes map[string][]int) error {
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		dims := shapes[name]
		at := slices.IndexFunc(m.GetGraph().GetInput(), func(in *onnxpb.ValueInfoProto) bool { return in.GetName() == name })
		if at < 0 {
			var names []string
			for _, in := range m.GetGraph().GetInput() {
				names = append(names, in.GetName())
			}
			return fmt.Errorf("%s: it has no input %q; its inputs are %q", m.Path, name, names)
		}
		kind := m.GetGraph().GetInput()[at].GetType().GetTensorType()
		if kind == nil {
			return fmt.Errorf("%s: input %q is no tensor", m.Path, name)
		}
		if kind.Shape != nil && !agrees(kind.Shape, dims) {
			return fmt.Errorf("%s: input %q has shape %s, not %v", m.Path, name, shapeText(kind.Shape), dims)
		}
		kind.Shape = &onnxpb.TensorShapeProto{}
		for _, d := range dims {
			kind.Shape.Dim = append(kind.Shape.Dim, &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(d)}})
		}
	}
	return nil
}

func agrees(s *onnxpb.TensorShapeProto, dims []int) bool {
	if len(s.GetDim()) != len(dims) {
		return false
	}
	for i, d := range s.GetDim() {
		if v := d.GetDimValue(); v > 0 && v != int64(dims[i]) {
			return false
		}
	}
	return true
}

// shapeText writes a shape with ? or a name for extents that the model leaves open.
func shapeText(s *onnxpb.TensorShapeProto) string {
	var list []string
	for _, d := range s.GetDim() {
		switch {
		case d.GetDimValue() != 0:
			list = append(list, fmt.Sprint(d.GetDimValue()))
		case d.GetDimParam() != "":
			list = append(list, d.GetDimParam())
		default:
			list = append(list, "?")
		}
	}
	return "[" + strings.Join(list, " ") + "]"
}

// extents returns an input's shape. Its first extent, and others of the same name, may be open: they become batch.
func (t *translator) extents(in *onnxpb.ValueInfoProto, batch int) ([]int, error) {
	s := in.GetType().GetTensorType().GetShape()
	if s == nil {
		return nil, fmt.Errorf("its shape is not known; give it, as in -shape %s=1,3,320,320", in.GetName())
	}
	var dims []int
	var open []int
	for i, d := range s.GetDim() {
		n := d.GetDimValue()
		if n == 0 {
			n = int64(batch)
			if first := s.GetDim()[0].GetDimParam(); i > 0 && (d.GetDimParam() == "" || d.GetDimParam() != first) {
				open = append(open, i)
			}
		}
		if n < 1 || n > blob.MaxCount {
			return nil, fmt.Errorf("extent %d is %d", i, n)
		}
		dims = append(dims, int(n))
	}
	if len(open) == 0 {
		return dims, nil
	}
	example := make([]string, len(dims))
	for i, d := range dims {
		example[i] = fmt.Sprint(d)
		if slices.Contains(open, i) {
			example[i] = "320"
		}
	}
	return nil, fmt.Errorf("it has shape %s, and the model leaves extents %v open; give them, as in -shape %s=%s", shapeText(s), open, in.GetName(), strings.Join(example, ","))
}

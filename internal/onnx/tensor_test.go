package onnx

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"google.golang.org/protobuf/proto"
)

// tensor makes a tensor of two values.
func tensor(kind dataType, set func(t *onnxpb.TensorProto)) *onnxpb.TensorProto {
	t := &onnxpb.TensorProto{Name: proto.String("t"), Dims: []int64{2}, DataType: proto.Int32(int32(kind))}
	set(t)
	return t
}

func raw(bytes ...byte) func(t *onnxpb.TensorProto) {
	return func(t *onnxpb.TensorProto) { t.RawData = bytes }
}

// TestDecode reads each type from raw data and from its list. The bytes are written out, so that they do not depend on the decoder.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name string
		t    *onnxpb.TensorProto
		want []float64
	}{
		{"float raw", tensor(onnxpb.TensorProto_FLOAT, raw(0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0)), []float64{1.5, -2}},
		{"float", tensor(onnxpb.TensorProto_FLOAT, func(t *onnxpb.TensorProto) { t.FloatData = []float32{1.5, -2} }), []float64{1.5, -2}},
		{"double raw", tensor(onnxpb.TensorProto_DOUBLE, raw(0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0)), []float64{1.5, -2}},
		{"double", tensor(onnxpb.TensorProto_DOUBLE, func(t *onnxpb.TensorProto) { t.DoubleData = []float64{1.5, -2} }), []float64{1.5, -2}},
		{"half raw", tensor(onnxpb.TensorProto_FLOAT16, raw(0, 0x3e, 0, 0xc0)), []float64{1.5, -2}},
		{"half", tensor(onnxpb.TensorProto_FLOAT16, func(t *onnxpb.TensorProto) { t.Int32Data = []int32{0x0001, 0x7c00} }), []float64{math.Ldexp(1, -24), math.Inf(1)}},
		{"bfloat raw", tensor(onnxpb.TensorProto_BFLOAT16, raw(0xc0, 0x3f, 0, 0xc0)), []float64{1.5, -2}},
		{"bfloat", tensor(onnxpb.TensorProto_BFLOAT16, func(t *onnxpb.TensorProto) { t.Int32Data = []int32{0x3fc0, 0xc000} }), []float64{1.5, -2}},
		{"int64 raw", tensor(onnxpb.TensorProto_INT64, raw(slices.Concat([]byte{7}, make([]byte, 7), slices.Repeat([]byte{255}, 8))...)), []float64{7, -1}},
		{"int64", tensor(onnxpb.TensorProto_INT64, func(t *onnxpb.TensorProto) { t.Int64Data = []int64{7, -1} }), []float64{7, -1}},
		{"int32 raw", tensor(onnxpb.TensorProto_INT32, raw(7, 0, 0, 0, 255, 255, 255, 255)), []float64{7, -1}},
		{"uint32 raw", tensor(onnxpb.TensorProto_UINT32, raw(7, 0, 0, 0, 255, 255, 255, 255)), []float64{7, 1<<32 - 1}},
		{"uint64", tensor(onnxpb.TensorProto_UINT64, func(t *onnxpb.TensorProto) { t.Uint64Data = []uint64{7, 8} }), []float64{7, 8}},
		{"int16 raw", tensor(onnxpb.TensorProto_INT16, raw(7, 0, 255, 255)), []float64{7, -1}},
		{"uint16 raw", tensor(onnxpb.TensorProto_UINT16, raw(7, 0, 255, 255)), []float64{7, 65535}},
		{"int8 raw", tensor(onnxpb.TensorProto_INT8, raw(7, 255)), []float64{7, -1}},
		{"uint8 raw", tensor(onnxpb.TensorProto_UINT8, raw(7, 255)), []float64{7, 255}},
		{"bool", tensor(onnxpb.TensorProto_BOOL, func(t *onnxpb.TensorProto) { t.Int32Data = []int32{0, 1} }), []float64{0, 1}},
	} {
		got, err := Decode(c.t)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var values []float64
		for i := range got.Count() {
			if got.Ints != nil {
				values = append(values, float64(got.Ints[i]))
			} else {
				values = append(values, float64(got.Floats[i]))
			}
		}
		if !slices.Equal(values, c.want) || !slices.Equal(got.Dims, []int{2}) {
			t.Errorf("%s: shape %v, values %v, want %v", c.name, got.Dims, values, c.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		t          *onnxpb.TensorProto
	}{
		{"strings", "type STRING", tensor(onnxpb.TensorProto_STRING, raw())},
		{"too few", `has 1 values of type FLOAT, its extents [2] need 2`, tensor(onnxpb.TensorProto_FLOAT, raw(0, 0, 0, 0))},
		{"half a value", "has -1 values", tensor(onnxpb.TensorProto_FLOAT, raw(0, 0, 0, 0, 0))},
		{"negative", "has extents [-2]", tensor(onnxpb.TensorProto_FLOAT, func(t *onnxpb.TensorProto) { t.Dims[0] = -2 })},
		{"too large", "has extents", tensor(onnxpb.TensorProto_FLOAT, func(t *onnxpb.TensorProto) { t.Dims = []int64{1 << 20, 1 << 20} })},
		{"external", "in another file", tensor(onnxpb.TensorProto_FLOAT, func(t *onnxpb.TensorProto) { t.DataLocation = onnxpb.TensorProto_EXTERNAL.Enum() })},
	} {
		if _, err := Decode(c.t); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"t"`) {
			t.Errorf("%s: error %v, want one with %q and the name", c.name, err, c.want)
		}
	}
}

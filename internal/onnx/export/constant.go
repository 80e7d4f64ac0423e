package export

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"google.golang.org/protobuf/proto"
)

// constant is an initializer: floats, or integers, or bytes of a type.
type constant struct {
	name   string
	dims   []int
	floats []float32
	ints   []int64
	bytes  []byte
	kind   onnxpb.TensorProto_DataType // of bytes: UINT8 or INT8
}

// equal compares values; weights of one net are the same slice.
func (c *constant) equal(d *constant) bool {
	if c.name != d.name || !slices.Equal(c.dims, d.dims) || !slices.Equal(c.ints, d.ints) || !slices.Equal(c.bytes, d.bytes) || c.kind != d.kind || len(c.floats) != len(d.floats) {
		return false
	}
	if len(c.floats) > 0 && &c.floats[0] == &d.floats[0] {
		return true
	}
	return slices.EqualFunc(c.floats, d.floats, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// proto returns the tensor with its values as raw data.
func (c *constant) proto() *onnxpb.TensorProto {
	t := &onnxpb.TensorProto{Name: proto.String(c.name), DataType: proto.Int32(int32(onnxpb.TensorProto_FLOAT))}
	for _, d := range c.dims {
		t.Dims = append(t.Dims, int64(d))
	}
	if c.bytes != nil {
		t.DataType, t.RawData = proto.Int32(int32(c.kind)), c.bytes
		return t
	}
	if c.ints != nil {
		t.DataType = proto.Int32(int32(onnxpb.TensorProto_INT64))
		t.RawData = make([]byte, 0, 8*len(c.ints))
		for _, v := range c.ints {
			t.RawData = binary.LittleEndian.AppendUint64(t.RawData, uint64(v))
		}
		return t
	}
	t.RawData = make([]byte, 0, 4*len(c.floats))
	for _, v := range c.floats {
		t.RawData = binary.LittleEndian.AppendUint32(t.RawData, math.Float32bits(v))
	}
	return t
}

// add makes a constant, or returns the name of the one with the same storage and extents: layers may share weights.
func (e *exporter) add(c *constant) string {
	for _, known := range e.tensors {
		if len(c.floats) > 0 && len(known.floats) == len(c.floats) && &known.floats[0] == &c.floats[0] && slices.Equal(known.dims, c.dims) {
			return known.name
		}
	}
	c.name = e.unique(c.name)
	e.tensors = append(e.tensors, c)
	return c.name
}

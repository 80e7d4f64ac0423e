package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/internal/base/half"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// MaxCount bounds the number of values of a tensor, as Caffe bounds a blob's.
const MaxCount = math.MaxInt32

// Tensor is a constant. Floats holds its values if its type is a float type, else Ints.
type Tensor struct {
	Dims   []int
	Floats []float32
	Ints   []int64 // not nil for integer and boolean types
}

// Count returns the number of values.
func (t *Tensor) Count() int { return max(len(t.Floats), len(t.Ints)) }

type dataType = onnxpb.TensorProto_DataType

// widths has the bytes of a value in raw data.
var widths = map[dataType]int{
	onnxpb.TensorProto_FLOAT: 4, onnxpb.TensorProto_DOUBLE: 8, onnxpb.TensorProto_FLOAT16: 2, onnxpb.TensorProto_BFLOAT16: 2,
	onnxpb.TensorProto_INT8: 1, onnxpb.TensorProto_UINT8: 1, onnxpb.TensorProto_INT16: 2, onnxpb.TensorProto_UINT16: 2,
	onnxpb.TensorProto_INT32: 4, onnxpb.TensorProto_UINT32: 4, onnxpb.TensorProto_INT64: 8, onnxpb.TensorProto_UINT64: 8, onnxpb.TensorProto_BOOL: 1,
}

// Decode converts a tensor's values, which must be in the message (Read moves external ones there).
func Decode(t *onnxpb.TensorProto) (*Tensor, error) {
	kind := dataType(t.GetDataType())
	width, ok := widths[kind]
	if !ok {
		return nil, fmt.Errorf("tensor %q has type %v, which holds no numbers that a net of Caffe uses", t.GetName(), kind)
	}
	if t.GetDataLocation() == onnxpb.TensorProto_EXTERNAL {
		return nil, fmt.Errorf("tensor %q is in another file, and such tensors are read only among the initializers of a model", t.GetName())
	}
	out, n := &Tensor{Dims: []int{}}, 1
	for _, d := range t.GetDims() {
		if d < 0 || d > MaxCount || int64(n)*d > MaxCount {
			return nil, fmt.Errorf("tensor %q has extents %v", t.GetName(), t.GetDims())
		}
		out.Dims = append(out.Dims, int(d))
		n *= int(d)
	}
	if have := given(t, kind, width); have != n {
		return nil, fmt.Errorf("tensor %q has %d values of type %v, its extents %v need %d", t.GetName(), have, kind, t.GetDims(), n)
	}
	switch kind {
	case onnxpb.TensorProto_FLOAT, onnxpb.TensorProto_DOUBLE, onnxpb.TensorProto_FLOAT16, onnxpb.TensorProto_BFLOAT16:
		out.Floats = make([]float32, n)
		for i := range out.Floats {
			out.Floats[i] = floatAt(t, kind, i)
		}
	default:
		out.Ints = make([]int64, n)
		for i := range out.Ints {
			out.Ints[i] = intAt(t, kind, i)
		}
	}
	return out, nil
}

// given returns the number of values in the message, -1 if raw data does not hold whole values.
func given(t *onnxpb.TensorProto, kind dataType, width int) int {
	if raw := t.GetRawData(); t.RawData != nil {
		if len(raw)%width != 0 {
			return -1
		}
		return len(raw) / width
	}
	switch kind {
	case onnxpb.TensorProto_FLOAT:
		return len(t.GetFloatData())
	case onnxpb.TensorProto_DOUBLE:
		return len(t.GetDoubleData())
	case onnxpb.TensorProto_INT64:
		return len(t.GetInt64Data())
	case onnxpb.TensorProto_UINT32, onnxpb.TensorProto_UINT64:
		return len(t.GetUint64Data())
	}
	return len(t.GetInt32Data())
}

func floatAt(t *onnxpb.TensorProto, kind dataType, i int) float32 {
	raw := t.GetRawData()
	if raw == nil {
		switch kind {
		case onnxpb.TensorProto_FLOAT:
			return t.GetFloatData()[i]
		case onnxpb.TensorProto_DOUBLE:
			return float32(t.GetDoubleData()[i])
		case onnxpb.TensorProto_FLOAT16:
			return half.Float32(uint16(t.GetInt32Data()[i]))
		}
		return math.Float32frombits(uint32(t.GetInt32Data()[i]) << 16)
	}
	switch kind {
	case onnxpb.TensorProto_FLOAT:
		return math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	case onnxpb.TensorProto_DOUBLE:
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
	case onnxpb.TensorProto_FLOAT16:
		return half.Float32(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
}

func intAt(t *onnxpb.TensorProto, kind dataType, i int) int64 {
	raw := t.GetRawData()
	if raw == nil {
		switch kind {
		case onnxpb.TensorProto_INT64:
			return t.GetInt64Data()[i]
		case onnxpb.TensorProto_UINT32, onnxpb.TensorProto_UINT64:
			return int64(t.GetUint64Data()[i])
		}
		return int64(t.GetInt32Data()[i])
	}
	switch kind {
	case onnxpb.TensorProto_INT8:
		return int64(int8(raw[i]))
	case onnxpb.TensorProto_UINT8, onnxpb.TensorProto_BOOL:
		return int64(raw[i])
	case onnxpb.TensorProto_INT16:
		return int64(int16(binary.LittleEndian.Uint16(raw[2*i:])))
	case onnxpb.TensorProto_UINT16:
		return int64(binary.LittleEndian.Uint16(raw[2*i:]))
	case onnxpb.TensorProto_INT32:
		return int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
	case onnxpb.TensorProto_UINT32:
		return int64(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return int64(binary.LittleEndian.Uint64(raw[8*i:]))
}

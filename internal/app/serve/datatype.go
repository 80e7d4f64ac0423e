package serve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/base/half"
)

// datatype is a type of the protocol's tensors. Nets compute in float32: values of other types are rounded to it.
type datatype struct {
	name  string
	size  int                             // bytes of a value in binary; 0: each value has its length before it
	read  func(b []byte) float32          // a value from size bytes, little-endian
	text  func(s string) (float32, error) // a value from a number or a word of JSON
	typed                                 // values from gRPC's typed contents
}

var datatypes = []datatype{
	{"BOOL", 1, func(b []byte) float32 { return float32(min(b[0], 1)) }, parseBool, bools},
	{"UINT8", 1, func(b []byte) float32 { return float32(b[0]) }, parseUint(8), integers("uint_contents", (*contents).GetUintContents, 0, math.MaxUint8)},
	{"UINT16", 2, func(b []byte) float32 { return float32(binary.LittleEndian.Uint16(b)) }, parseUint(16), integers("uint_contents", (*contents).GetUintContents, 0, math.MaxUint16)},
	{"UINT32", 4, func(b []byte) float32 { return float32(binary.LittleEndian.Uint32(b)) }, parseUint(32), integers("uint_contents", (*contents).GetUintContents, 0, math.MaxUint32)},
	{"UINT64", 8, func(b []byte) float32 { return float32(binary.LittleEndian.Uint64(b)) }, parseUint(64), integers("uint64_contents", (*contents).GetUint64Contents, 0, math.MaxUint64)},
	{"INT8", 1, func(b []byte) float32 { return float32(int8(b[0])) }, parseInt(8), integers("int_contents", (*contents).GetIntContents, math.MinInt8, math.MaxInt8)},
	{"INT16", 2, func(b []byte) float32 { return float32(int16(binary.LittleEndian.Uint16(b))) }, parseInt(16), integers("int_contents", (*contents).GetIntContents, math.MinInt16, math.MaxInt16)},
	{"INT32", 4, func(b []byte) float32 { return float32(int32(binary.LittleEndian.Uint32(b))) }, parseInt(32), integers("int_contents", (*contents).GetIntContents, math.MinInt32, math.MaxInt32)},
	{"INT64", 8, func(b []byte) float32 { return float32(int64(binary.LittleEndian.Uint64(b))) }, parseInt(64), integers("int64_contents", (*contents).GetInt64Contents, math.MinInt64, math.MaxInt64)},
	{"FP16", 2, func(b []byte) float32 { return half.Float32(binary.LittleEndian.Uint16(b)) }, parseFloat(32), typed{}},
	{"BF16", 2, func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) }, parseFloat(32), typed{}},
	{"FP32", 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }, parseFloat(32), floats},
	{"FP64", 8, func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }, parseFloat(64), doubles},
	{"BYTES", 0, nil, nil, typed{}},
}

func findDatatype(name string) (*datatype, error) {
	k := slices.IndexFunc(datatypes, func(d datatype) bool { return d.name == name })
	if k < 0 {
		return nil, badf("datatype %q is none of the protocol's", name)
	}
	return &datatypes[k], nil
}

func parseBool(s string) (float32, error) {
	switch s {
	case "true", "1":
		return 1, nil
	case "false", "0":
		return 0, nil
	}
	return 0, badf("%s is neither true nor false", s)
}

func parseUint(bits int) func(string) (float32, error) {
	return func(s string) (float32, error) {
		n, err := strconv.ParseUint(s, 10, bits)
		if err != nil {
			return 0, badf("%s is no integer from 0 to 2^%d-1", s, bits)
		}
		return float32(n), nil
	}
}

func parseInt(bits int) func(string) (float32, error) {
	return func(s string) (float32, error) {
		n, err := strconv.ParseInt(s, 10, bits)
		if err != nil {
			return 0, badf("%s is no integer of %d bits", s, bits)
		}
		return float32(n), nil
	}
}

func parseFloat(bits int) func(string) (float32, error) {
	return func(s string) (float32, error) {
		f, err := strconv.ParseFloat(s, bits)
		if err != nil {
			return 0, badf("%s is no number of %d bits", s, bits)
		}
		return float32(f), nil
	}
}

// parseData reads the values of a tensor from JSON that is valid: a list, or lists in lists in C order, as the shape has them. count is the number of values.
func (d *datatype) parseData(data json.RawMessage, shape []int, count int) ([]float32, error) {
	if len(data) == 0 || data[0] != '[' {
		return nil, badf("the data is no list")
	}
	lists := nesting{shape: shape, flat: bytes.TrimLeft(data[1:], " \t\r\n")[0] != '['}
	values := make([]float32, 0, min(count, len(data)/2+1))
	err := eachWord(data, func(word string) error {
		switch word {
		case "[":
			return lists.open()
		case "]":
			return lists.close()
		}
		if len(values) == count {
			return badf("more than the %d values of its shape are given", count)
		}
		v, err := d.text(word)
		values = append(values, v)
		if err == nil {
			err = lists.add()
		}
		return err
	})
	if err == nil && len(values) != count {
		err = badf("%d values are given, its shape needs %d", len(values), count)
	}
	return values, err
}

// nesting compares lists in lists with a shape.
type nesting struct {
	shape  []int
	flat   bool  // a list of values, of whatever shape
	counts []int // of the elements of each list that is open
}

// depth is that of the lists that have values.
func (l *nesting) depth() int {
	if l.flat {
		return 1
	}
	return max(1, len(l.shape))
}

func (l *nesting) open() error {
	if len(l.counts) == l.depth() {
		return badf("the data has a list in lists %d deep; it is one list of values, or has lists %d deep, as shape %v", len(l.counts), len(l.shape), l.shape)
	}
	if n := len(l.counts); n > 0 {
		l.counts[n-1]++
	}
	l.counts = append(l.counts, 0)
	return nil
}

func (l *nesting) close() error {
	axis := len(l.counts) - 1
	n := l.counts[axis]
	l.counts = l.counts[:axis]
	if !l.flat && n != l.shape[axis] {
		return badf("a list of axis %d has %d elements, shape %v has %d there", axis, n, l.shape, l.shape[axis])
	}
	return nil
}

// add counts a value.
func (l *nesting) add() error {
	n := len(l.counts)
	if n != l.depth() {
		return badf("the data has a value in lists %d deep; it is one list of values, or has lists %d deep, as shape %v", n, len(l.shape), l.shape)
	}
	l.counts[n-1]++
	return nil
}

// eachWord visits the numbers, words and brackets in lists of valid JSON.
func eachWord(data json.RawMessage, visit func(word string) error) error {
	for i := 0; i < len(data); {
		end := i + 1
		switch data[i] {
		case ',', ' ', '\t', '\n', '\r':
			i++
			continue
		case '{', '"':
			return badf("the data has an object or a text where a number should be")
		case '[', ']':
		default:
			for end < len(data) && data[end] != ',' && data[end] != ']' && data[end] > ' ' {
				end++
			}
		}
		if err := visit(string(data[i:end])); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// readBinary reads the values of a tensor from its bytes. Those of FP32 stay where they are if they can.
func (d *datatype) readBinary(b []byte, count int) ([]float32, error) {
	if len(b)/d.size != count || len(b)%d.size != 0 {
		return nil, badf("%d bytes are given, its shape needs %d values of %d", len(b), count, d.size)
	}
	if d.name == "FP32" {
		if values := floatsOf(b); values != nil {
			return values, nil
		}
	}
	values := make([]float32, count)
	for i := range values {
		values[i] = d.read(b[i*d.size:])
	}
	return values, nil
}

// readElements cuts the bytes of a BYTES tensor into its elements: 4 bytes of length, little-endian, before each.
func readElements(b []byte, count int) (list [][]byte, err error) {
	for whole := len(b); len(b) > 0; {
		if len(b) < 4 {
			return nil, badf("%d bytes remain at offset %d, a length has 4", len(b), whole-len(b))
		}
		n := binary.LittleEndian.Uint32(b)
		if uint64(n) > uint64(len(b)-4) {
			return nil, badf("an element at offset %d has %d bytes, %d remain", whole-len(b), n, len(b)-4)
		}
		list, b = append(list, b[4:4+n]), b[4+n:]
		if len(list) > count {
			break
		}
	}
	if len(list) != count {
		return nil, badf("%d elements or more are given, its shape needs %d", len(list), count)
	}
	return list, nil
}

func appendElements(b []byte, list []string) []byte {
	for _, s := range list {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return b
}

func appendFloats(b []byte, values []float32) []byte {
	if littleEndian {
		return append(b, bytesOf(values)...)
	}
	b = slices.Grow(b, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

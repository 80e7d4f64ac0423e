package tensors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/swcaffe/swcaffe/internal/base/half"
)

// number is a type of floating-point numbers in a file.
type number struct {
	bytes int
	value func(raw []byte, order binary.ByteOrder) float32
}

// binary16 has IEEE 754's binary16: 5 bits of exponent, 10 of fraction.
var (
	short = number{2, func(raw []byte, order binary.ByteOrder) float32 { return half.Float32(order.Uint16(raw)) }}
	brain = number{2, func(raw []byte, order binary.ByteOrder) float32 {
		return math.Float32frombits(uint32(order.Uint16(raw)) << 16)
	}}
	single = number{4, func(raw []byte, order binary.ByteOrder) float32 { return math.Float32frombits(order.Uint32(raw)) }}
	double = number{8, func(raw []byte, order binary.ByteOrder) float32 {
		return float32(math.Float64frombits(order.Uint64(raw)))
	}}
)

// readValues reads count numbers. It takes memory as the values come, so that a file that claims more than it has takes no more than it has.
func (t number) readValues(r io.Reader, order binary.ByteOrder, count int) ([]float32, error) {
	const most = 1 << 18 // values at a time
	values := make([]float32, 0, min(count, most))
	piece := make([]byte, t.bytes*min(count, most))
	for len(values) < count {
		part := piece[:t.bytes*min(count-len(values), most)]
		if n, err := io.ReadFull(r, part); err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("it ends after %d of %d values", len(values)+n/t.bytes, count)
		} else if err != nil {
			return nil, err
		}
		for ; len(part) > 0; part = part[t.bytes:] {
			values = append(values, t.value(part, order))
		}
	}
	return values, nil
}

// writeValues writes float32s, little-endian.
func writeValues(w io.Writer, values []float32) error {
	piece := make([]byte, 0, 1<<16)
	for len(values) > 0 {
		piece = piece[:0]
		n := min(len(values), cap(piece)/4)
		for _, v := range values[:n] {
			piece = binary.LittleEndian.AppendUint32(piece, math.Float32bits(v))
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

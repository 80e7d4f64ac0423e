package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Datum is a record of a Caffe database: channels x height x width values, as bytes in Data or as floats in Floats, with a label.
// An encoded Datum holds a whole image file in Data. Unmarshal does not copy: Data is a slice of the serialised message.
type Datum struct {
	Channels, Height, Width int
	Data                    []byte
	Floats                  []float32
	Label                   int
	Encoded                 bool
	// Repaired names damage of an encoded image that its decoding has passed over.
	Repaired string
}

// Unmarshal reads a serialised caffe.Datum. Data aliases b; the storage of Floats is reused.
func (d *Datum) Unmarshal(b []byte) error {
	*d = Datum{Floats: d.Floats[:0]}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("not a Datum: %w", protowire.ParseError(n))
		}
		if num > protowire.MaxValidNumber {
			return fmt.Errorf("not a Datum: field number %d", num)
		}
		b = b[n:]
		n, err := d.field(num, typ, b)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// AppendHead appends the fields of a serialised Datum before n bytes of data, up to the data's length.
func (d *Datum) AppendHead(b []byte, n int) []byte {
	for num, v := range []int{1: d.Channels, 2: d.Height, 3: d.Width} {
		if num > 0 {
			b = protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(num), protowire.VarintType), uint64(v))
		}
	}
	return protowire.AppendVarint(protowire.AppendTag(b, 4, protowire.BytesType), uint64(n))
}

// AppendTail appends the fields behind the data. With AppendHead and the data it makes what proto.Marshal makes of a Datum without Floats, and a large image needs
// no memory but the record's.
func (d *Datum) AppendTail(b []byte) []byte {
	b = protowire.AppendVarint(protowire.AppendTag(b, 5, protowire.VarintType), uint64(d.Label))
	if d.Encoded {
		b = protowire.AppendVarint(protowire.AppendTag(b, 7, protowire.VarintType), 1)
	}
	return b
}

// field reads one field and returns the length of its value. As in protobuf, it skips unknown fields, and known fields with
// another wire type.
func (d *Datum) field(num protowire.Number, typ protowire.Type, b []byte) (int, error) {
	var n int
	switch {
	case typ == protowire.VarintType && (num == 1 || num == 2 || num == 3 || num == 5 || num == 7):
		var v uint64
		if v, n = protowire.ConsumeVarint(b); n >= 0 {
			d.setInt(num, int(int32(v)), v != 0)
		}
	case typ == protowire.BytesType && num == 4:
		d.Data, n = protowire.ConsumeBytes(b)
	case typ == protowire.Fixed32Type && num == 6:
		var v uint32
		if v, n = protowire.ConsumeFixed32(b); n >= 0 {
			d.Floats = append(d.Floats, math.Float32frombits(v))
		}
	case typ == protowire.BytesType && num == 6:
		var packed []byte
		packed, n = protowire.ConsumeBytes(b)
		if len(packed)%4 != 0 {
			return 0, errors.New("not a Datum: packed float_data is not a multiple of 4 bytes")
		}
		for ; len(packed) > 0; packed = packed[4:] {
			d.Floats = append(d.Floats, math.Float32frombits(binary.LittleEndian.Uint32(packed)))
		}
	default:
		n = protowire.ConsumeFieldValue(num, typ, b)
	}
	if n < 0 {
		return 0, fmt.Errorf("not a Datum: field %d: %w", num, protowire.ParseError(n))
	}
	return n, nil
}

func (d *Datum) setInt(num protowire.Number, v int, set bool) {
	switch num {
	case 1:
		d.Channels = v
	case 2:
		d.Height = v
	case 3:
		d.Width = v
	case 5:
		d.Label = v
	case 7:
		d.Encoded = set
	}
}

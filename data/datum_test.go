package data

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func TestDatumUnmarshal(t *testing.T) {
	full := &caffepb.Datum{
		Channels: proto.Int32(3), Height: proto.Int32(20), Width: proto.Int32(300), Data: []byte{1, 2, 255},
		Label: proto.Int32(-7), FloatData: []float32{1.5, -2e10}, Encoded: proto.Bool(true),
	}
	packed := protowire.AppendTag(nil, 6, protowire.BytesType)
	packed = protowire.AppendBytes(packed, []byte{0, 0, 128, 63, 0, 0, 0, 64})
	unknown := append(protowire.AppendString(protowire.AppendTag(nil, 99, protowire.BytesType), "x"), datum(t, 3, 1, 2, 2)...)
	for name, b := range map[string][]byte{
		"empty": nil, "full": marshal(t, full), "packed floats": packed, "unknown field": unknown,
		"field twice": append(datum(t, 1, 2, 2, 2), datum(t, 4, 3, 1, 1)...),
	} {
		t.Run(name, func(t *testing.T) { sameAsProtobuf(t, b) })
	}
	var d Datum
	for _, bad := range []string{"\x22\x7f", "\x08", "\xff\xff", "\x32\x03abc", "\xdd\xdd\xdd\xdd00000"} {
		if err := d.Unmarshal([]byte(bad)); err == nil || !strings.Contains(err.Error(), "not a Datum") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// sameAsProtobuf compares with the generated code's reading of b, and returns whether b is a Datum.
func sameAsProtobuf(t *testing.T, b []byte) bool {
	t.Helper()
	got := Datum{Floats: []float32{99, 98, 97}} // must not survive
	err := got.Unmarshal(b)
	var want caffepb.Datum
	wantErr := proto.Unmarshal(b, &want)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("error %v, protobuf has %v", err, wantErr)
	}
	if err != nil {
		return false
	}
	if got.Channels != int(want.GetChannels()) || got.Height != int(want.GetHeight()) || got.Width != int(want.GetWidth()) ||
		got.Label != int(want.GetLabel()) || got.Encoded != want.GetEncoded() || !bytes.Equal(got.Data, want.Data) {
		t.Fatalf("%+v, protobuf has %v", got, &want)
	}
	for i, v := range want.FloatData {
		if len(got.Floats) != len(want.FloatData) || got.Floats[i] != v && v == v {
			t.Fatalf("floats %v, protobuf has %v", got.Floats, want.FloatData)
		}
	}
	return true
}

func TestPixelsChecksTheCount(t *testing.T) {
	var d Datum
	for _, c := range []struct {
		d    Datum
		want string
	}{
		{Datum{Channels: 1, Height: 2, Width: 2, Data: make([]byte, 3)}, "1 x 2 x 2 values (channels x height x width) but holds 3"},
		{Datum{Channels: 1, Height: 2, Width: 2, Data: make([]byte, 5)}, "holds 5"},
		{Datum{Channels: 1, Height: 2, Width: 2}, "holds 0"},
		{Datum{Channels: 1 << (bits.UintSize/2 - 1), Height: 1 << (bits.UintSize/2 - 1), Width: 4, Data: make([]byte, 4)}, "holds 4"},
		{Datum{Height: 2, Width: 2, Data: make([]byte, 4)}, "0 x 2 x 2"},
		{Datum{Channels: 3, Height: 2, Width: 2, Data: []byte("\xff\xd8\xff\xe0 and so on")}, "holds 14; its data is an image file, for which the record needs encoded: true"},
		{Datum{Data: []byte("\x89PNG\r\n\x1a\n")}, "width); its data is an image file"},
		{Datum{Channels: -1, Height: 2, Width: -2, Data: make([]byte, 4)}, "-1 x 2 x -2"},
		{Datum{Encoded: true, Data: []byte("junk")}, "encoded datum: not a JPEG"},
	} {
		d = c.d
		if _, err := d.Pixels(imageio.Unchanged); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.d, err, c.want)
		}
	}
	d = Datum{Channels: 1, Height: 1, Width: 2, Floats: []float32{1, 2}}
	if p, err := d.Pixels(imageio.Unchanged); err != nil || !slices.Equal(p.Floats, d.Floats) || p.Bytes != nil {
		t.Errorf("float datum: %+v, %v", p, err)
	}
}

// FuzzDatum sends any bytes through all that a record goes through.
func FuzzDatum(f *testing.F) {
	f.Add([]byte{})
	f.Add(datum(f, 5, 3, 4, 5))
	f.Add(marshal(f, &caffepb.Datum{Encoded: proto.Bool(true), Data: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")}))
	f.Add([]byte("\x08\x01\x10\xff\xff\xff\xff\x07\x18\xff\xff\xff\xff\x07\x22\x01a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !sameAsProtobuf(t, b) {
			return
		}
		crop := uint32(2)
		tr, err := NewTransformer(&caffepb.TransformationParameter{CropSize: &crop, Mirror: proto.Bool(true)}, caffepb.Phase_TRAIN)
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := DatumDecoder{Transformer: tr}.Decode(&Record{Raw: b}, &Scratch{})
		if err != nil {
			return
		}
		shape, err := tr.Shape(p)
		if err != nil {
			return
		}
		if err := tr.Transform(make([]float32, shape[0]*shape[1]*shape[2]), shape, p, 1, 2); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAppendDatum: the head, the data and the tail are what protobuf's own code makes of the fields.
func TestAppendDatum(t *testing.T) {
	for i, d := range []Datum{{}, {Channels: 3, Height: 3000, Width: 4000, Label: 7}, {Channels: 1, Height: 1, Width: 200, Label: -1, Encoded: true}} {
		content := bytes.Repeat([]byte{9, 0, 255}, i*50)
		m := &caffepb.Datum{Channels: proto.Int32(int32(d.Channels)), Height: proto.Int32(int32(d.Height)), Width: proto.Int32(int32(d.Width)), Data: content, Label: proto.Int32(int32(d.Label))}
		if m.Data == nil {
			m.Data = []byte{}
		}
		if d.Encoded {
			m.Encoded = proto.Bool(true)
		}
		got := d.AppendTail(append(d.AppendHead([]byte("x"), len(content)), content...))
		if want := "x" + string(marshal(t, m)); string(got) != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
}
